package walker

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// A stack is called complete where something tells that its last frame has no caller, and nowhere
// else: for each thing that tells, a stack that ends by it, and one that looks like it and is cut
// off.
func TestCompleteStacks(t *testing.T) {
	// 8192 words of stackBase go on to a multiple of 64 KB, where stacks of Windows begin.
	stack := func(n int, words ...uint64) []uint64 { return append(words, make([]uint64, n-len(words))...) }
	at := func(i uint64) uint64 { return stackBase + 8*i }
	// If a test says so, parts of the module are two of Windows' instead.
	kernel := func(rva uint64) uint64 { return code(0x8000 + rva) }
	ntdll := func(rva uint64) uint64 { return code(0xc000 + rva) }
	windows := core.NewModuleMap([]core.ModuleMapping{{Start: codeBase, Size: 0x8000, Module: 0}, {Start: kernel(0), Size: 0x4000, Module: 1},
		{Start: ntdll(0), Size: 0x4000, Module: 2}}, core.OverlapTruncate)
	for _, tc := range []struct {
		name, shape, detail string
		os                  core.OS
		entry               uint64
		funcs               map[uint64]string
		rbp                 uint64
		shadow              []uint64
		words               []uint64
		ntdll               bool
	}{
		{name: "the program's entry point", os: core.OSLinux, entry: code(0x2000), words: []uint64{1, code(0x2021), 2, code(0x3030), 4},
			shape: "1010 context, 2021 scan, end", detail: "the program begins at 0x40002000 (AT_ENTRY), 33 bytes before this return address: nothing calls that code"},
		{name: "with a name", os: core.OSLinux, entry: code(0x2000), words: []uint64{1, code(0x2021), 2, code(0x3030), 4}, funcs: map[uint64]string{0x1000: "main", 0x2000: "begin", 0x3000: "g"},
			shape: "1010 context, 2021 scan, end", detail: "AT_ENTRY"},
		{name: "a function behind the entry point", os: core.OSLinux, entry: code(0x1ff0), words: []uint64{1, code(0x2021), 2, code(0x3030), 4}, funcs: map[uint64]string{0x1000: "main", 0x2000: "f", 0x3000: "g"},
			shape: "1010 context, 2021 scan, 3030 scan, nothing-found"},
		{name: "too far behind the entry point", os: core.OSLinux, entry: code(0x2000), words: []uint64{1, code(0x2041), 2, code(0x3030), 4},
			shape: "1010 context, 2041 scan, 3030 scan, nothing-found"},
		{name: "the entry point itself", os: core.OSLinux, entry: code(0x2000), words: []uint64{1, code(0x2000), 2, code(0x3030), 4},
			shape: "1010 context, 2000 scan, 3030 scan, nothing-found"},
		{name: "no auxiliary vector", os: core.OSLinux, words: []uint64{1, code(0x2021), 2, 3, 4},
			shape: "1010 context, 2021 scan, nothing-found"},

		{name: "the chain of frame pointers", os: core.MacOS, rbp: at(1), words: []uint64{1, at(4), code(0x2020), 3, 0, 5, code(0x3030), 7},
			shape: "1010 context, 2020 frame_pointer, end", detail: "the chain of frame pointers ends here: the word at rbp 0x7fff0020 is 0"},
		{name: "with a return address next to the 0", os: core.MacOS, rbp: at(1), words: []uint64{1, at(4), code(0x2020), 3, 0, code(0x3030), 6, 7},
			shape: "1010 context, 2020 frame_pointer, 3030 scan, nothing-found"},
		{name: "frame 0's register", os: core.MacOS, rbp: at(1), words: []uint64{1, 0, 2, code(0x2020), 3, 4, 5, 6},
			shape: "1010 context, 2020 scan, nothing-found"},
		{name: "another system's", os: core.OSLinux, rbp: at(1), words: []uint64{1, at(4), code(0x2020), 3, 0, 5, code(0x3030), 7},
			shape: "1010 context, 2020 frame_pointer, 3030 scan, nothing-found"},

		{name: "the shadow stack", os: core.Windows, shadow: []uint64{code(0x2020)}, words: []uint64{1, code(0x2020), 2, code(0x3030), 4},
			shape: "1010 context, 2020 prewalked, end", detail: "0x40002020 is the last return address on the shadow stack"},
		{name: "a shadow stack with more", os: core.Windows, shadow: []uint64{code(0x2020), code(0x4040)}, words: []uint64{1, code(0x2020), 2, 3, 4},
			shape: "1010 context, 2020 prewalked, nothing-found"},

		{name: "nothing left", os: core.Windows, words: stack(8192, 1, code(0x2020), 2),
			shape: "1010 context, 2020 leaf, end", detail: "no word between sp 0x7fff0010 and the stack's beginning, 0x80000000, points into a module"},
		{name: "a word left beyond the scan", os: core.Windows, words: append(stack(8191, 1, code(0x2020), 2), code(0x3030)),
			shape: "1010 context, 2020 leaf, nothing-found"},
		{name: "memory that was cut", os: core.Windows, words: stack(4096, 1, code(0x2020), 2),
			shape: "1010 context, 2020 leaf, nothing-found"},
		{name: "nothing but the registers", os: core.Windows, words: stack(8192),
			shape: "1010 context, nothing-found"},
		{name: "leftovers behind the thread's start", os: core.Windows, ntdll: true, words: stack(8192, 1, 2, code(0x3030), kernel(0x10), ntdll(0x20), 3, code(0x2020)),
			shape: "1010 context, 3030 scan, 8010 scan, c020 scan, end", detail: "every thread begins in ntdll.dll, which calls kernel32.dll: nothing calls this code. The address 0x40002020, found by a search of the stack (scan), is left from something else"},
		{name: "a thread's start on x86 is two functions", os: core.Windows, ntdll: true, words: stack(8192, 1, 2, code(0x3030), kernel(0x10), ntdll(0x20), ntdll(0x90)),
			shape: "1010 context, 3030 scan, 8010 scan, c020 scan, c090 scan, end", detail: "no word between"},
		{name: "a scan that did not find the thread's start", os: core.Windows, ntdll: true, words: stack(8192, 1, 2, code(0x3030), ntdll(0x20), 3, code(0x2020)),
			shape: "1010 context, 3030 scan, c020 scan, 2020 scan, nothing-found"},
		{name: "a scan, and neither module is known", os: core.Windows, words: stack(8192, 1, 2, code(0x3030), kernel(0x10), ntdll(0x20)),
			shape: "1010 context, 3030 scan, 8010 scan, c020 scan, nothing-found"},
		{name: "Linux has more above", os: core.OSLinux, words: stack(8192, 1, code(0x2020), 2),
			shape: "1010 context, 2020 scan, nothing-found"},
	} {
		syms := &fakeSymbols{loaded: tc.funcs != nil, funcs: tc.funcs}
		for _, p := range []Policy{Best, Breakpad, RustMinidump} {
			w := New(p, tc.os, oneModule(codeBase, codeSize), syms)
			w.Entry = tc.entry
			if tc.ntdll {
				w = New(p, tc.os, windows, syms)
				w.Kernel32, w.NTDLL = []int{1}, []int{2}
			}
			regs := cpu.Regs{Arch: cpu.AMD64}
			regs.Set(cpu.AMD64.PC, code(0x1010))
			regs.Set(cpu.AMD64.SP, stackBase)
			regs.Set(cpu.AMD64.FP, tc.rbp)
			s := w.WalkShadowed(regs, &fakeMemory{base: stackBase, word: 8, words: tc.words}, tc.shadow)
			if p.Name != "best" {
				if s.Stop.Kind == StopEnd && tc.os != core.MacOS {
					t.Errorf("%s, as %s: %s: %s", tc.name, p.Name, shape(s), s.Stop.Detail)
				}
				continue
			}
			if got := shape(s); got != tc.shape || !strings.Contains(s.Stop.Detail, tc.detail) {
				t.Errorf("%s:\nhave %s (%s)\nwant %s (%s)", tc.name, got, s.Stop.Detail, tc.shape, tc.detail)
			}
		}
	}
}

// A return address in the first page ends a stack where it is 0 and every frame was found by rules
// or a chain of frame pointers. Any other one says that the walk got lost.
func TestNullReturns(t *testing.T) {
	var (
		names = map[uint64]string{0x1000: "f", 0x2000: "g", 0x3000: "h"}
		rules = *cfaRow(cpu.AMD64, 2) // the return address is the second word
	)
	for _, tc := range []struct {
		name, shape, detail string
		rows                map[uint64]unwind.Row
		funcs               map[uint64]string
		words               []uint64
	}{
		{name: "0 by a rule", rows: map[uint64]unwind.Row{0x1000: rules, 0x2000: rules}, words: []uint64{1, code(0x2020), 2, 0, 4, 5},
			shape: "1010 context, 2020 cfi, end", detail: "by its unwind rules (CFI), the next return address is 0x0"},
		{name: "callers are left", rows: map[uint64]unwind.Row{0x1000: rules, 0x2000: rules}, words: []uint64{1, code(0x2020), 2, 0, 4, code(0x3030)},
			shape: "1010 context, 2020 cfi, lost", detail: "is 0x0, and above it, at 0x7fff0028, there is a return address 0x40003030: the stack may be cut"},
		{name: "callers are left at frame 0", rows: map[uint64]unwind.Row{0x1000: rules}, words: []uint64{1, 0, 2, code(0x3030)},
			shape: "1010 context, lost", detail: "the stack may be cut"},
		{name: "callers are left, but a name says that there are none", rows: map[uint64]unwind.Row{0x1000: rules, 0x2000: rules}, words: []uint64{1, code(0x2020), 2, 0, 4, code(0x3030)},
			funcs: map[uint64]string{0x1000: "f", 0x2000: "clone3", 0x3000: "h"}, shape: "1010 context, 2020 cfi, end", detail: "clone3 is where a stack begins"},
		{name: "no address of code", rows: map[uint64]unwind.Row{0x1000: rules, 0x2000: rules}, words: []uint64{1, code(0x2020), 2, 0x4c, 4, 5},
			shape: "1010 context, 2020 cfi, lost", detail: "is 0x4c, which is not an address of code"},
		{name: "0 behind a scanned frame", rows: map[uint64]unwind.Row{0x2000: rules}, words: []uint64{1, code(0x2020), 2, 0, 4, 5},
			shape: "1010 context, 2020 scan, lost", detail: "is 0x0, which proves nothing, because a frame before it is a guess"},
	} {
		if tc.funcs == nil {
			tc.funcs = names
		}
		s, _, _ := walkBy(Best, tc.rows, tc.funcs, tc.words, nil, nil)
		if got := shape(s); got != tc.shape || !strings.Contains(s.Stop.Detail, tc.detail) {
			t.Errorf("%s:\nhave %s (%s)\nwant %s (%s)", tc.name, got, s.Stop.Detail, tc.shape, tc.detail)
		}
		if s, _, _ := walkBy(Breakpad, tc.rows, tc.funcs, tc.words, nil, nil); s.Stop.Kind == StopLost {
			t.Errorf("%s, as Breakpad: %s", tc.name, shape(s))
		}
	}
}

// A chain of frame pointers ends where it has 0 twice, and where the register is known to be a frame
// pointer. What else leads to the first page is refused, and the stack is searched.
func TestNullInFrames(t *testing.T) {
	at := func(i uint64) uint64 { return stackBase + 4*i }
	for _, tc := range []struct {
		name, shape string
		words       []uint64
	}{
		{"the end of the chain", "1010 context, 2020 frame_pointer, end", []uint64{1, at(4), code(0x2020), 3, 0, 0, 6, code(0x3030)}},
		{"0 and no end", "1010 context, 2020 frame_pointer, 3030 scan, nothing-found", []uint64{1, at(4), code(0x2020), 3, at(6), 0, 6, code(0x3030)}},
		{"a small number", "1010 context, 2020 frame_pointer, 3030 scan, nothing-found", []uint64{1, at(4), code(0x2020), 3, 0, 7, 6, code(0x3030)}},
		{"frame 0's register points to zeros", "1010 context, 3030 scan, nothing-found", []uint64{1, 0, 0, 3, 4, code(0x3030)}},
	} {
		sc := scene{arch: cpu.X86, pc: code(0x1010), words: tc.words, regs: map[string]uint64{"ebp": at(1)}}
		if got := shape(sc.walk(t)); got != tc.shape {
			t.Errorf("%s: have %s, want %s", tc.name, got, tc.shape)
		}
	}
}
