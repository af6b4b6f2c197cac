package reason

import (
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// What LLDB says in the parameters of an exception is read as the system's own numbers are.
func TestLLDB(t *testing.T) {
	const pc = 0x401000
	for _, c := range []struct {
		platform, code uint32
		text           string
		kind           Kind
		has            bool
		address        uint64
		name           string
		sentence       string
	}{
		{dumptest.OSLinux, 11, "SIGSEGV: address not mapped to object (fault address=0x10)", Memory, true, 0x10, "SIGSEGV / SEGV_MAPERR", "tried to access memory"},
		{dumptest.OSLinux, 11, "signal SIGSEGV: invalid permissions for mapped object (fault address: 0x401000)", Memory, true, 0x401000, "SIGSEGV / SEGV_ACCERR", "tried to access memory"},
		{dumptest.OSLinux, 11, "SIGSEGV", Memory, false, pc, "SIGSEGV", "tried to access memory that it may not access"},
		{dumptest.OSLinux, 8, "SIGFPE: integer divide by zero", Arithmetic, false, 0, "SIGFPE / FPE_INTDIV", "divided an integer by zero"},
		{dumptest.OSLinux, 6, "SIGABRT: sent by tkill system call (sender pid=7, uid=0)", Abort, false, 0, "SIGABRT / SI_TKILL", "aborted itself"},
		{dumptest.OSMac, 1, "EXC_BAD_ACCESS (code=1, address=0x10)", Memory, true, 0x10, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", "tried to access memory"},
		{dumptest.OSLinux, 2, "breakpoint 1.1", NoCrash, false, pc, "unknown 0x00000002 / 0x4c4c4442", "was stopped in LLDB"},
	} {
		for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
			raw := make([]byte, 120)
			copy(raw, c.text)
			copy(raw[len(c.text):], "\x00rest") // LLDB copies what follows, too
			var params []uint64
			for i := 0; i < len(raw); i += 8 {
				params = append(params, order.(binary.ByteOrder).Uint64(raw[i:]))
			}
			b := dumptest.New(order).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: c.platform}).
				Exception(1, c.code, 0x4c4c4442, pc, nil, params...).Bytes()
			d, err := core.Open(input.FromBytes("lldb.dmp", b))
			if err != nil {
				t.Fatal(err)
			}
			if d.Exception.Text != c.text {
				t.Errorf("read %q, not %q", d.Exception.Text, c.text)
			}
			if r := Decode(d); r.Kind != c.kind || r.HasAddress != c.has || r.Address != c.address || r.Name != c.name || r.Text != c.sentence {
				t.Errorf("%s: %+v", c.text, r)
			}
		}
	}
}
