package core

import (
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// FuzzNormalized: whatever a dump says, what it means is found without a panic.
func FuzzNormalized(f *testing.F) {
	wow := wowDump(dumptest.CPUAMD64)
	for id := range uint64(2) {
		wowThread(wow, wow.Memory, id, wowRegs(id))
	}
	f.Add(wow.Exception(1, 0xc0000005, 0, layerPC, wowRegs(1), 0, 0xffffffff80000010).Exception(7, 0x4000001f, 0, 0x401000, wowRegs(7)).Bytes())
	signed := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Platform: dumptest.OSWindows}).Module(0xffffffff80400000, 0x1000, "a.exe", nil)
	f.Add(signed.Thread(1, wowSaved(1), 0xffffffff8019f000, make([]byte, 64)).Bytes())
	lldb := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).Stream(uint32(StreamLLDB), nil)
	header := make([]byte, 512)
	copy(header, "\x7fELF\x02\x01\x01")
	header[32], header[54], header[56], header[64] = 64, 56, 2, 1
	f.Add(lldb.Module(0x400000, 64, "a", nil).Memory(0x400000, header).Exception(1, 11, lldbFlags, 0x400010, wowRegs(1), 0x56474553474953).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Open(input.FromBytes("x.dmp", data))
		if err != nil {
			return
		}
		d = d.Normalized()
		d.ModuleMappings(true)
		for i := range d.Threads {
			d.ThreadContext(i)
			if e := d.ExceptionOf(i); e != nil {
				d.ContextOf(e)
			}
			d.ThreadByID(d.Threads[i].ID)
		}
	})
}
