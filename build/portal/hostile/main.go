// Hostile writes files for the tests of embedded viewers. hostile.dmp and hostile.sym have names
// that a careless viewer would not show as text: HTML elements that run scripts, control characters
// that change the direction of writing, names of a megabyte. private.dmp has a secret in every part
// of a dump that can contain private data, such as the command line, the environment and the stack.
//
//	go run ./build/portal/hostile FOLDER
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crashpane/crashpane/core/dumptest"
)

const (
	element = `<img src=x onerror="window.attacked=1"><script>window.attacked=2</script>`
	image   = `<img src=x onerror="window.attacked=4">` // no slash in it: the base of a path is all of it
	turned  = "safe\u202etxt.exe\u2066\u200f\u0007\x1b[31m"
	base    = 0x7f0000400000
	stack   = 0x7ffc00000000
	id      = "00112233445566778899AABBCCDDEEFF0"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hostile FOLDER")
		os.Exit(2)
	}
	for name, content := range map[string][]byte{"hostile.dmp": dump(), "private.dmp": private(), "hostile.sym": []byte(symbols())} {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "hostile:", err)
			os.Exit(1)
		}
	}
}

// dump returns hostile.dmp.
func dump() []byte {
	// core reads strings of up to 128 KiB in UTF-16. The first name is shorter, the second much
	// longer.
	long, longest := strings.Repeat("long name ", 6_000), strings.Repeat("longest name ", 100_000)
	d := dumptest.New(binary.LittleEndian)
	d.System(dumptest.System{Processor: 9, CPUs: 1, Platform: 0x8201, CSD: element})
	context := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": stack, "rbp": stack + 8})
	words := make([]byte, 256)
	for i := 0; i < len(words); i += 8 {
		binary.LittleEndian.PutUint64(words[i:], base+0x1000+uint64(i))
	}
	for thread, name := range []string{element, turned, long, longest} {
		d.Thread(uint32(thread+1), context, stack, words)
		d.ThreadName(uint32(thread+1), name)
	}
	d.Exception(1, 11, 1, 0x10, context)
	debug := [8]byte{0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}
	d.Module(base, 0x10000, "/opt/"+element, dumptest.RSDS(0x00112233, 0x4455, 0x6677, debug, 0, element))
	d.Module(base+0x20000, 0x1000, turned, nil)
	d.Module(base+0x30000, 0x1000, long, nil)
	d.Module(base+0x40000, 0x1000, longest, nil)
	d.Module(base+0x50000, 0x1000, image, nil)
	d.Crashpad([16]byte{1}, [16]byte{2}, 0, [][2]string{{element, element}, {turned, turned}, {long, long}, {longest, image}, {image, longest}},
		dumptest.CrashpadModule{Index: 0, List: []string{element}, Simple: [][2]string{{element, turned}}})
	return d.Bytes()
}

// secret is in every part of private.dmp that can contain private data.
const secret = "hunter2"

// private returns private.dmp. The raw streams are Breakpad's LinuxCmdLine, LinuxEnviron and
// LinuxMaps.
func private() []byte {
	home := "/" + "home/" + secret
	memory := make([]byte, 256)
	copy(memory[128:], secret)
	context := dumptest.AMD64(map[string]uint64{"rip": base + 0x10, "rsp": stack})
	return dumptest.New(binary.LittleEndian).
		System(dumptest.System{Processor: 9, CPUs: 1, Platform: 0x8201}).
		Thread(1, context, stack, memory).
		Exception(1, 11, 1, 0x10, context).
		Module(base, 0x1000, home+"/bin/app", nil).
		Stream(0x47670006, []byte("app\x00--password="+secret+"\x00")).
		Stream(0x47670007, []byte("HOME="+home+"\x00TOKEN="+secret+"\x00")).
		Stream(0x47670009, fmt.Appendf(nil, "%x-%x r-xp 00000000 08:01 1 %s/bin/app\n", base, base+0x1000, home)).
		Handles(true, dumptest.Handle{Handle: 4, Type: "File", Name: "/srv/" + secret + ".ods"}).
		Crashpad([16]byte{1}, [16]byte{2}, 0, [][2]string{{"switch-1", "--token=" + secret}},
			dumptest.CrashpadModule{Index: 0, List: []string{secret}, Simple: [][2]string{{"url", "https://example.com/" + secret}}}).
		Bytes()
}

// symbols returns hostile.sym.
func symbols() string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nFILE 0 /src/%s.cc\nFILE 1 %s\n", id, element, element, turned)
	for i, name := range []string{element, turned, strings.Repeat("f", 1<<20)} {
		at := 0x1000 + 0x40*i
		fmt.Fprintf(&b, "FUNC %x 40 0 %s\n%x 40 %d %d\n", at, name, at, i+1, i%2)
	}
	return b.String()
}
