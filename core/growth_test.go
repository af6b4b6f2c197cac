package core_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
)

// TestGrowth: what a dump means costs in proportion to the dump.
func TestGrowth(t *testing.T) {
	le := binary.LittleEndian
	amd64 := dumptest.AMD64(map[string]uint64{"rip": 0x140001000, "rsp": 0x10000, "cs": 0x23})
	for _, c := range []struct {
		name  string
		build func(d *dumptest.Dump, n int)
		size  int
	}{
		{"threads and exceptions of a 32-bit process", func(d *dumptest.Dump, n int) {
			d.System(dumptest.System{Processor: 9, Platform: 2}).Module(0x77000000, 0x1000, `C:\Windows\System32\wow64.dll`, nil)
			at := d.Put(amd64)
			for i := range n {
				d.ThreadAt(uint32(i), at, len(amd64), 0x10000, at, 16)
				d.Exception(uint32(n-i), 0xc0000005, 0, 0x140001000, amd64)
			}
		}, 500},
		{"exceptions of threads that no list has", func(d *dumptest.Dump, n int) {
			d.System(dumptest.System{Processor: 9, Platform: 0x8201})
			for i := range n {
				d.Exception(uint32(i), 11, 1, 0x140001000, amd64)
			}
		}, 1000},
		{"modules that share one program header", func(d *dumptest.Dump, n int) {
			// Every module has an ELF header of its own, that names the same program headers.
			d.System(dumptest.System{Processor: 9, Platform: 0x8201}).Stream(uint32(core.StreamLLDB), nil)
			elf := make([]byte, 64*n)
			for i := range n {
				h := elf[64*i:]
				copy(h, "\x7fELF\x02")
				le.PutUint64(h[32:], uint64(64*(n-i)))
				le.PutUint16(h[54:], 56)
				le.PutUint16(h[56:], uint16(min(n, 0xffff)))
				d.Module(0x10000+uint64(64*i), 64, "m", nil)
			}
			d.Memory(0x10000, append(elf, bytes.Repeat([]byte{1}, 56*n)...))
		}, 2000},
		{"modules of other names in one file", func(d *dumptest.Dump, n int) {
			// The file's lines follow each other, and none begins at its first byte.
			d.System(dumptest.System{Processor: 9, Platform: 0x8201})
			maps := []byte{}
			for i := range n {
				at := uint64(0x10000 + 0x1000*i)
				d.Module(at, 0x1000, fmt.Sprint("m", i), dumptest.ELF([]byte("0123456789abcdef")))
				maps = fmt.Appendf(maps, "%x-%x r-xp %x 08:01 1 /x\n", at, at+0x1000, at)
			}
			d.Stream(uint32(core.StreamLinuxMaps), maps)
		}, 3000},
		{"contiguous memory", func(d *dumptest.Dump, n int) {
			d.System(dumptest.System{Processor: 9, Platform: 0x8201})
			at := d.Put(make([]byte, 16))
			for i := range n {
				d.MemoryAt(0x10000+16*uint64(i), at, 16)
			}
			d.ThreadAt(1, d.Put(amd64), len(amd64), 0x10000, at, 16)
		}, 40000},
	} {
		t.Run(c.name, func(t *testing.T) {
			testfile.Growth(t, c.size, func(n int) func() {
				b := dumptest.New(le)
				c.build(b, n)
				dump := b.Bytes()
				return func() {
					d, err := core.Open(input.FromBytes("a.dmp", dump))
					if err != nil {
						t.Fatal(err)
					}
					d = d.Normalized()
					d.ModuleMappings(true)
					for i := range d.Threads {
						d.ExceptionOf(i)
					}
				}
			})
		})
	}
}
