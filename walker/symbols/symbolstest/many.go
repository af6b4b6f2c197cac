// Package symbolstest makes dumps of many modules, and many symbol files for them, to measure what
// it costs to find the files of a dump's modules.
package symbolstest

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/dumptest"
)

const (
	moduleSize = 0x10000
	stackStart = 0x7ffc_0000_0000
	// Depth is how many callers the thread of a Dump has.
	Depth = 40
)

func base(module int) uint64 { return 0x5500_0000_0000 + uint64(module)*moduleSize }

// buildID is the build id of a module in a build.
func buildID(module, build int) []byte {
	id := make([]byte, 20)
	binary.LittleEndian.PutUint32(id, uint32(module))
	binary.LittleEndian.PutUint32(id[4:], uint32(build))
	id[19] = 1
	return id
}

// Dump is a dump of modules. Its only thread is in the first of them, one after the other, and has
// Depth callers.
func Dump(modules int) []byte {
	d := dumptest.New(dumptest.LittleEndian)
	d.System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux, CSD: "Linux 6.1"})
	for m := range modules {
		d.Module(base(m), moduleSize, fmt.Sprintf("/usr/lib/lib%04d.so", m), dumptest.ELF(buildID(m, 0)))
	}
	stack := make([]byte, 0, (Depth+1)*16)
	for i := range Depth {
		stack = binary.LittleEndian.AppendUint64(stack, 0)
		stack = binary.LittleEndian.AppendUint64(stack, base((i+1)%modules)+0x1008)
	}
	stack = append(stack, make([]byte, 16)...)
	context := dumptest.AMD64(map[string]uint64{"rip": base(0) + 0x1004, "rsp": stackStart, "rbp": 0})
	d.Thread(1, context, stackStart, stack)
	d.Exception(1, 11, 1, 0, context)
	return d.Bytes()
}

// Symbols is the text of a module's symbol file in a build. The dump is of build 0.
func Symbols(module, build, functions int) string {
	id := buildID(module, build)
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %08X%04X%04X%X0 lib%04d.so\n", binary.LittleEndian.Uint32(id), binary.LittleEndian.Uint16(id[4:]),
		binary.LittleEndian.Uint16(id[6:]), id[8:16], module)
	fmt.Fprintf(&b, "INFO CODE_ID %X\nFILE 0 /src/lib%04d.cc\n", id, module)
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 100 0 lib%04d::function%d(int)\n", 0x1000+i*0x100, module, i)
		for k := range 4 {
			fmt.Fprintf(&b, "%x 40 %d 0\n", 0x1000+i*0x100+k*0x40, 10*i+k+1)
		}
	}
	for i := range functions {
		fmt.Fprintf(&b, "STACK CFI INIT %x 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n", 0x1000+i*0x100)
	}
	return b.String()
}
