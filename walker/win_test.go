package walker

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// winSymbols has a STACK WIN record for each function.
type winSymbols struct {
	fakeSymbols
	records map[uint64]unwind.FrameData
}

func (w *winSymbols) FrameData(_ int, rva uint64) (unwind.FrameData, symbol.Answer) {
	fd, ok := w.records[rva&^0xff]
	if !ok {
		return unwind.FrameData{}, symbol.No
	}
	return fd, symbol.Yes
}

const ebpProgram = "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + ="

func program(p string) unwind.FrameData {
	return unwind.FrameData{Type: 4, HasProgram: true, Program: p}
}

func TestStackWin(t *testing.T) {
	at := func(i uint64) uint64 { return stackBase + 4*i }
	fpo := unwind.FrameData{Type: 0, Locals: 8, SavedRegs: 4}
	withParams := fpo
	withParams.Params = 8
	usesBP := unwind.FrameData{Type: 0, Locals: 4, SavedRegs: 8, AllocatesBP: true}
	for name, tc := range map[string]struct {
		records map[uint64]unwind.FrameData
		regs    map[string]uint64
		words   []uint64
		policy  Policy
		want    string
	}{
		"program by ebp": {
			records: map[uint64]unwind.FrameData{0x1000: program(ebpProgram), 0x2000: program(ebpProgram)},
			regs:    map[string]uint64{"ebp": at(1)},
			words:   []uint64{0, at(4), code(0x2020), 9, 0, 0, 0},
			want:    "1010 context, 2020 cfi, end",
		},
		"FPO: return address above locals and saved registers": {
			records: map[uint64]unwind.FrameData{0x1000: fpo},
			words:   []uint64{1, 2, 3, code(0x2020), 0},
			want:    "1010 context, 2020 cfi, nothing-found",
		},
		"FPO below a function with parameters": {
			// Frame 1's esp points at the 8 bytes of parameters that its callee was given.
			records: map[uint64]unwind.FrameData{0x1000: withParams, 0x2000: fpo},
			words:   []uint64{1, 2, 3, code(0x2020), 0xa1, 0xa2, 1, 2, 3, code(0x3030), 0},
			want:    "1010 context, 2020 cfi, 3030 cfi, nothing-found",
		},
		"FPO that uses ebp finds its caller's in the saved area": {
			// ebp = [esp + params + saved − 8] = the first word
			records: map[uint64]unwind.FrameData{0x1000: usesBP, 0x2000: program(ebpProgram)},
			regs:    map[string]uint64{"ebp": 0x1234},
			words:   []uint64{at(5), 2, 3, code(0x2020), 0, 0, code(0x3030), 0, 0},
			want:    "1010 context, 2020 cfi, 3030 cfi, nothing-found",
		},
		"system call on its way out: its own address is still on the stack": {
			records: map[uint64]unwind.FrameData{0x1000: {Type: 0}},
			words:   []uint64{code(0x1010), code(0x2020), 0},
			want:    "1010 context, 2020 cfi, nothing-found",
		},
		"esp was aligned: up to three words above the computed place": {
			records: map[uint64]unwind.FrameData{0x1000: fpo},
			words:   []uint64{1, 2, 3, 4, 5, code(0x2020), 0},
			want:    "1010 context, 2020 cfi, nothing-found",
		},
		"return address outside of modules: searched further up": {
			records: map[uint64]unwind.FrameData{0x1000: fpo},
			words:   []uint64{1, 2, 3, 4, 5, 6, 7, 8, code(0x2020), 0},
			want:    "1010 context, 2020 cfi_scan, nothing-found",
		},
		"an aligned frame is found from ebp": {
			records: map[uint64]unwind.FrameData{0x1000: program("$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $T1 $esp 16 @ =")},
			regs:    map[string]uint64{"ebp": at(4)},
			words:   []uint64{1, 2, 3, 4, 5, code(0x2020), 0},
			// ebp stays as it was, and points below the caller.
			want: "1010 context, 2020 cfi, nothing-found",
		},
		"eip 0 and ebp 0 end the stack": {
			records: map[uint64]unwind.FrameData{0x1000: program(ebpProgram)},
			regs:    map[string]uint64{"ebp": at(1)},
			words:   []uint64{0, 0, 0, code(0x2020), 0},
			want:    "1010 context, end",
		},
		"a program that fails: Breakpad scans": {
			records: map[uint64]unwind.FrameData{0x1000: program("$eip $ebp 4 + ^ =")},
			regs:    map[string]uint64{"ebp": at(0)},
			words:   []uint64{0, 3, code(0x2020), 0},
			policy:  Breakpad,
			want:    "1010 context, 2020 scan, end",
		},
		"a program that fails: rust-minidump asks the next source": {
			records: map[uint64]unwind.FrameData{0x1000: program("$eip $ebp 4 + ^ =")},
			regs:    map[string]uint64{"ebp": at(0)},
			words:   []uint64{0, code(0x2020), 0},
			policy:  RustMinidump,
			want:    "1010 context, 2020 frame_pointer, nothing-found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			sc := &scene{arch: cpu.X86, os: core.Windows, pc: code(0x1010), regs: tc.regs, words: tc.words, policy: tc.policy}
			if sc.policy.Name == "" {
				sc.policy = Best
			}
			syms := &winSymbols{fakeSymbols{loaded: true, funcs: named}, tc.records}
			regs := cpu.Regs{Arch: cpu.X86}
			for i := range cpu.X86.Names {
				regs.Set(cpu.Reg(i), 0)
			}
			regs.Set(cpu.X86.PC, sc.pc)
			regs.Set(cpu.X86.SP, stackBase)
			regs.Set(cpu.X86.FP, tc.regs["ebp"])
			w := New(sc.policy, sc.os, oneModule(codeBase, codeSize), syms)
			expect(t, w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: tc.words}), tc.want)
		})
	}
}

// TestWinRegisters: programs restore registers, which Microsoft's compiler names by number. If a
// program restores as much as its record says was saved, the other registers are unchanged; else
// they are lost. To the peers a number is a temporary, and what is not assigned is lost.
func TestWinRegisters(t *testing.T) {
	record := func(saved uint32, p string) unwind.FrameData {
		fd := program(p)
		fd.SavedRegs = saved
		return fd
	}
	const numbered = "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $23 $T0 4 - ^ =  $20 $T0 8 - ^ ="
	for name, c := range map[string]struct {
		fd     unwind.FrameData
		policy Policy
		want   string
	}{
		"all that was saved is restored":  {record(8, numbered), Best, "esi 71 edi 3 ebx 70"},
		"more was saved":                  {record(12, numbered), Best, "esi 72 edi lost ebx 71"},
		"nothing was saved":               {record(0, "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + ="), Best, "esi 2 edi 3 ebx 1"},
		"Breakpad takes numbers for none": {record(8, numbered), Breakpad, "esi lost edi lost ebx lost"},
	} {
		regs := cpu.Regs{Arch: cpu.X86}
		for r, v := range map[string]uint64{"ebx": 1, "esi": 2, "edi": 3, "ebp": stackBase + 0x40} {
			n, _ := cpu.X86.Lookup(r)
			regs.Set(n, v)
		}
		regs.Set(cpu.X86.PC, code(0x1010))
		regs.Set(cpu.X86.SP, stackBase)
		words := []uint64{0x70, 0x71, 0x72, 0x73, 0, 0}
		words[c.fd.SavedRegs/4] = code(0x2020)
		syms := &winSymbols{fakeSymbols{loaded: true, funcs: named}, map[uint64]unwind.FrameData{0x1000: c.fd}}
		st := New(c.policy, core.Windows, oneModule(codeBase, codeSize), syms).Walk(regs, &fakeMemory{base: stackBase, word: 4, words: words})
		have := ""
		for _, r := range []string{"esi", "edi", "ebx"} {
			n, _ := cpu.X86.Lookup(r)
			v, ok := st.Frames[1].Regs.Get(n)
			if have += " " + r; ok {
				have += fmt.Sprintf(" %x", v)
			} else {
				have += " lost"
			}
		}
		if have[1:] != c.want {
			t.Errorf("%s:%s, want %s", name, have, c.want)
		}
	}
}
