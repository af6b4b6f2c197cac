package main

import (
	"debug/macho"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/crashpane/crashpane/core/dumptest"
)

// The newest of the tools, whose names have their version on Debian.
const llvm = "-22"

func makeMachO(dir string, units int) error {
	return inFolder(dir, func(at func(string) string) error {
		if err := os.WriteFile(at("unit.c"), unit("__attribute__((used)) static "), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(at("main.c"), []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
			return err
		}
		for _, name := range []string{"unit", "main"} {
			if err := tool("clang"+llvm, "--target=x86_64-apple-macos13", "-g", "-O2", "-fno-omit-frame-pointer", "-ffile-prefix-map="+filepath.Dir(at("unit.c"))+"=.",
				"-c", at(name+".c"), "-o", at(name+".o")); err != nil {
				return err
			}
		}
		program := filepath.Join(dir, "big")
		link := []string{"-arch", "x86_64", "-platform_version", "macos", "13", "13", "-e", "_main", "-undefined", "dynamic_lookup", "-o", program, at("main.o")}
		object, err := os.ReadFile(at("unit.o"))
		if err != nil {
			return err
		}
		for i := range units {
			copied := at(fmt.Sprintf("u%d.o", i))
			if err := os.WriteFile(copied, object, 0o644); err != nil {
				return err
			}
			link = append(link, copied)
		}
		if err := tool("ld64.lld"+llvm, link...); err != nil {
			return err
		}
		if err := tool("dsymutil"+llvm, program); err != nil {
			return err
		}
		dump, err := dumpOfMachO(program)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "big.dmp"), dump, 0o644)
	})
}

// dumpOfMachO returns a dump of threads that are at the first instruction of a function. Their
// callers keep the frame pointer and have called out: the stack is a chain of frame pointers and
// return addresses.
// All frames are in some fifty functions, anywhere in the program.
func dumpOfMachO(program string) ([]byte, error) {
	const threads, frames, distinct = 8, 60, 50
	f, err := macho.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := f.Section("__text")
	segment := f.Segment("__TEXT")
	if text == nil || segment == nil || f.Symtab == nil {
		return nil, fmt.Errorf("%s has no code or no symbols", program)
	}
	code, err := text.Data()
	if err != nil {
		return nil, err
	}
	var uuid []byte
	for _, l := range f.Loads {
		const uuidCommand = 0x1b
		if raw := l.Raw(); len(raw) >= 24 && binary.LittleEndian.Uint32(raw) == uuidCommand {
			uuid = raw[8:24]
		}
	}
	if uuid == nil {
		return nil, fmt.Errorf("%s has no UUID", program)
	}
	outs := map[uint64]bool{}
	var starts []uint64
	for _, s := range f.Symtab.Syms {
		switch {
		case s.Name == "_out":
			outs[s.Value] = true
		case strings.HasPrefix(s.Name, "_fn"):
			starts = append(starts, s.Value)
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	rng.Shuffle(len(starts), func(i, j int) { starts[i], starts[j] = starts[j], starts[i] })
	var returns []uint64
	for _, start := range starts {
		if len(returns) == distinct {
			break
		}
		for at := start - text.Addr; at+5 < uint64(len(code)) && at < start-text.Addr+0x400; at++ {
			end := text.Addr + at + 5
			if code[at] == 0xe8 && outs[end+uint64(int64(int32(binary.LittleEndian.Uint32(code[at+1:]))))] {
				returns = append(returns, end)
				break
			}
		}
	}
	if len(returns) < distinct {
		return nil, fmt.Errorf("%s: %d functions call out", program, len(returns))
	}
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSMac}).
		Module(segment.Addr, uint32(segment.Memsz), "/opt/big/big",
			dumptest.RSDS(binary.BigEndian.Uint32(uuid), binary.BigEndian.Uint16(uuid[4:]), binary.BigEndian.Uint16(uuid[6:]), [8]byte(uuid[8:]), 0, "big"))
	for t := range threads {
		sp := uint64(0x7f0000000000) + uint64(t)<<24
		stack := binary.LittleEndian.AppendUint64(nil, returns[rng.IntN(distinct)])
		stack = append(stack, make([]byte, 24)...)
		for i := range uint64(frames - 2) {
			next := sp + 32*(i+2)
			if i == frames-3 {
				next = 0
			}
			stack = binary.LittleEndian.AppendUint64(stack, next)
			stack = binary.LittleEndian.AppendUint64(stack, returns[rng.IntN(distinct)])
			stack = append(stack, make([]byte, 16)...)
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": starts[t], "rsp": sp, "rbp": sp + 32})
		d.Thread(uint32(100+t), ctx, sp, stack)
		if t == 0 {
			d.Exception(100, 1, 1, 0x10, ctx)
		}
	}
	return d.Bytes(), nil
}
