package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/crashpane/crashpane/core/dumptest"
)

func makeELF(dir string, units int, clang, gdbIndex bool) error {
	return inFolder(dir, func(at func(string) string) error {
		if err := os.WriteFile(at("unit.c"), unit(""), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(at("main.c"), []byte(mainUnit(units)), 0o644); err != nil {
			return err
		}
		// Without -ffile-prefix-map the debug information would contain the temporary folder, and the
		// file would differ from run to run.
		compile := []string{"-g", "-O2", "-fno-pie", "-pg", "-mfentry", "-fcf-protection=none", "-ffile-prefix-map=" + filepath.Dir(at("unit.c")) + "=.", "-c"}
		cc, link := "gcc", []string{"-no-pie", "-Wl,--build-id=sha1", "-o", filepath.Join(dir, "big"), at("main.o")}
		if clang {
			cc, link = "clang", append(link, "-fuse-ld=lld")
		} else {
			compile = append(compile, "-fno-ipa-ra")
		}
		if gdbIndex {
			link = append(link, "-Wl,--gdb-index")
		}
		for _, name := range []string{"unit", "main"} {
			if err := tool(cc, append(compile, at(name+".c"), "-o", at(name+".o"))...); err != nil {
				return err
			}
		}
		for i := range units {
			copied := at(fmt.Sprintf("u%d.o", i))
			if err := tool("objcopy", fmt.Sprintf("--prefix-symbols=u%d_", i), at("unit.o"), copied); err != nil {
				return err
			}
			link = append(link, copied)
		}
		if err := tool(cc, link...); err != nil {
			return err
		}
		dump, err := dumpOf(filepath.Join(dir, "big"))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "big.dmp"), dump, 0o644)
	})
}

const (
	structs, inlines, functions = 300, 200, 1000
)

// unit is a C source of structures, inlined functions and functions that call them. class is that of
// the functions: none, or static, so that copies of the object file can be linked; then each calls
// the function out.
func unit(class string) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	call := "r"
	b.WriteString("typedef unsigned long u;\n")
	if class == "" {
		b.WriteString("extern volatile u sink;\n")
	} else {
		call = "out(r)"
		b.WriteString("static volatile u sink;\n__attribute__((noinline)) static u out(u a) { return sink += a; }\n")
	}
	for i := range structs {
		fmt.Fprintf(&b, "struct s%d {", i)
		for j := range 4 + rng.IntN(8) {
			fmt.Fprintf(&b, " u f%d_%d; struct s%d *p%d;", i, j, max(0, i-1), j)
		}
		b.WriteString(" };\n")
	}
	for i := range inlines {
		fmt.Fprintf(&b, "static inline u in%d(struct s%d *p, u a) { u x = a * %d; if (x & 1) x += p->f%d_0; return x ^ (sink >> %d); }\n", i, i, i+3, i, i%31)
	}
	for i := range functions {
		a, c := rng.IntN(inlines), rng.IntN(inlines)
		fmt.Fprintf(&b, class+"u fn%d(struct s%d *p, struct s%d *q, u a) {\n u r = in%d(p, a);\n for (u k = 0; k < a; k++) {\n  u t = in%d(q, r + k);\n  r += t * sink;\n }\n sink = %s;\n return r + in%d(p, r);\n}\n",
			i, a, c, a, c, call, a)
	}
	return b.Bytes()
}

func mainUnit(units int) string {
	var b strings.Builder
	b.WriteString("typedef unsigned long u;\n")
	for i := range units {
		fmt.Fprintf(&b, "volatile u u%d_sink;\n__attribute__((no_instrument_function)) void u%d___fentry__(void) {}\n", i, i)
	}
	b.WriteString("__attribute__((no_instrument_function)) int main(void) { return 0; }\n")
	return b.String()
}

// afterCall is how far into a function the call that -mfentry puts first returns to.
const afterCall = 5

// dumpOf returns a dump of threads whose stacks contain return addresses only. Each is that of the
// call with which a function begins, where by the call frame information the next return address is
// at the stack pointer (CFA = rsp+8). As in real dumps, where threads have most functions in common, all frames
// are in some fifty functions, anywhere in the program.
func dumpOf(program string) ([]byte, error) {
	const threads, frames, distinct = 8, 60, 50
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	var starts []uint64
	end := uint64(0)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && strings.Contains(s.Name, "_fn") {
			starts = append(starts, s.Value)
		}
	}
	base := ^uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			base, end = min(base, p.Vaddr), max(end, p.Vaddr+p.Memsz)
		}
	}
	note := f.Section(".note.gnu.build-id")
	if note == nil || len(starts) == 0 {
		return nil, fmt.Errorf("%s has no build id or no functions", program)
	}
	id, err := note.Data()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(2, 2))
	rng.Shuffle(len(starts), func(i, j int) { starts[i], starts[j] = starts[j], starts[i] })
	starts = starts[:min(distinct, len(starts))]
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(base, uint32(end-base+0xfff)&^0xfff, "/opt/big/big", dumptest.ELF(id[16:]))
	for t := range threads {
		sp := uint64(0x7f0000000000) + uint64(t)<<24
		var stack []byte
		for range frames - 1 {
			stack = binary.LittleEndian.AppendUint64(stack, starts[rng.IntN(len(starts))]+afterCall)
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": starts[rng.IntN(len(starts))], "rsp": sp})
		d.Thread(uint32(100+t), ctx, sp, append(stack, make([]byte, 64)...))
		if t == 0 {
			d.Exception(100, 11, 1, 0x10, ctx)
		}
	}
	return d.Bytes(), nil
}
