// Kinds writes small dumps and symbol files for the tests of the page: each shows one thing that is
// rare in real dumps.
//
//	go run ./build/kinds FOLDER
//
//	wow64.dmp                 a 32-bit process that a 64-bit tool dumped: thread 0 in the 64-bit layer, thread 1 in 32-bit code
//	app.dmp, tail.sym         a caller whose function jumped on to the one that crashed
//	app.dmp, public.sym       public names alone
//	old/app.sym               symbols of another build
//	code.dmp                  a dump that does not say where its program begins
//	two.dmp                   two exceptions
//	guesses.dmp               40 words that look like return addresses, in a program without symbols
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crashpane/crashpane/core/dumptest"
)

// id is the program's id in the dumps, buildID the same as its bytes are.
const id = "00112233445566778899AABBCCDDEEFF0"

var buildID = []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: kinds FOLDER")
		os.Exit(2)
	}
	const functions = "FUNC 1000 20 0 main\nFUNC 2000 8 0 handle_request\nFUNC 3000 20 0 parse_body\n"
	sym := func(id, records string) []byte { return []byte("MODULE Linux x86_64 " + id + " app\n" + records) }
	for name, content := range map[string][]byte{
		"wow64.dmp":   wow64(),
		"app.dmp":     app(),
		"tail.sym":    sym(id, functions),
		"public.sym":  sym(id, "PUBLIC 1000 0 main\nPUBLIC 2f3a 0 parse_body\n"),
		"old/app.sym": sym("FF112233445566778899AABBCCDDEEFF0", functions),
		"code.dmp":    dumptest.Sentry{Release: 132, Mode: "stack", CPU: "amd64", ID: buildID}.Bytes(),
		"two.dmp":     two(),
		"guesses.dmp": guesses(),
	} {
		path := filepath.Join(os.Args[1], name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kinds:", err)
			os.Exit(1)
		}
	}
}

// words64 and words32 are words of memory.
func words64(words ...uint64) (b []byte) {
	for _, v := range words {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func words32(words ...uint32) (b []byte) {
	for _, v := range words {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// wow64 has a stack of the program and one of the layer for each thread. The threads' ids are so far
// apart that their TEBs do not overlap.
func wow64() []byte {
	const program, program2, layer, layer2 = 0x19f000, 0x29f000, 0x8e000, 0x9e000
	const saved, teb32, gate = 0x8fd20, 0x7fe00000, 0x77406000
	inLayer := dumptest.AMD64(map[string]uint64{"rip": 0x77401cfc, "rsp": layer, "cs": 0x33, "rax": 0x1122334455667788})
	own := dumptest.X86(map[string]uint64{"eip": 0x401010, "esp": program, "ebp": program + 8, "cs": 0x23})
	inProgram := dumptest.AMD64(map[string]uint64{"rip": 0x403010, "rsp": program2, "rbp": program2 + 8, "cs": 0x23, "r12": dumptest.ThreadTEB(5), "r14": layer2})
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2, Level: 6}).
		Module(0x400000, 0x10000, `C:\app.exe`, nil).
		Module(0x77400000, 0x10000, `C:\Windows\System32\wow64cpu.dll`, nil).
		Module(0x7ffb10000000, 0x10000, `C:\Windows\System32\wow64.dll`, nil).
		Thread(1, inLayer, layer, words64(0x7ffb10001234, 0, 0, 0)).ThreadName(1, "worker").
		Thread(5, inProgram, program2, words32(0, 0, program2+16, 0x404020, 0, 0))
	one, second := dumptest.ThreadTEB(1), dumptest.ThreadTEB(5)
	d.Memory(one, dumptest.TEB64(one, 0, saved)).Memory(saved, dumptest.Reserved(0x14c, 4, own)).
		Memory(program, words32(0, 0, program+16, 0x402020, 0, 0)).
		Memory(second, dumptest.KeepStack(dumptest.TEB64(second, teb32, 0), layer2, layer2+0x1000, 0)).
		Memory(teb32, dumptest.Enter(dumptest.TEB32(teb32, 0), gate)).Memory(gate, dumptest.FarJump(0x77401782, 0x33)).
		Memory(layer2, words64(0, 0, 0x7ffb10002345, 0, 0))
	return d.Exception(1, 0xc0000005, 0, 0x401010, inLayer, 0, 0x10).Bytes()
}

// app has the code of main, which calls handle_request, and of handle_request, which jumps on to
// parse_body.
func app() []byte {
	code := make([]byte, 0x3000)
	direct := func(opcode byte, at, to int) {
		code[at] = opcode
		binary.LittleEndian.PutUint32(code[at+1:], uint32(to-at-5))
	}
	direct(0xe8, 0x1010, 0x2000)
	copy(code[0x2000:], []byte{0x48, 0x89, 0xfe}) // mov %rdi, %rsi
	direct(0xe9, 0x2003, 0x3000)
	return linux().Memory(0x400000, code).Thread(7, crashed, stack, words64(0, 0, 0, 0, 0, 0x401015, 0, 0)).
		Exception(7, 11, 1, 0, crashed).Bytes()
}

const stack = 0x7ffe0000

var crashed = dumptest.AMD64(map[string]uint64{"rip": 0x403010, "rsp": stack})

func linux() *dumptest.Dump {
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", dumptest.ELF(buildID))
}

func two() []byte {
	return linux().Thread(7, crashed, stack, words64(0, 0)).Thread(8, crashed, stack, words64(0, 0)).
		Exception(7, 11, 1, 0x45, crashed).Exception(8, 8, 1, 0x403010, crashed).Bytes()
}

func guesses() []byte {
	var words []uint64
	for i := range 40 {
		words = append(words, uint64(0x401000+0x10*i))
	}
	return linux().Thread(7, crashed, stack, words64(words...)).Exception(7, 11, 1, 0x45, crashed).Bytes()
}
