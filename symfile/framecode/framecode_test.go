package framecode_test

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/framecode"
	"github.com/crashpane/crashpane/symfile/unwind"
)

func code(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// steps are more than any of these needs.
func steps() *int { n := 1 << 16; return &n }

// TestSteps: no more instructions are followed than there are steps.
func TestSteps(t *testing.T) {
	for n, want := range map[int]bool{3: false, 4: true} {
		if _, ok := framecode.Body(cpu.AMD64, binary.LittleEndian, &framecode.Function{Code: code(t, "90 90 90 90 c3"), Start: 0, Sized: true}, 4, false, &n); ok != want || n != 0 {
			t.Errorf("found %v, want %v; %d steps are left", ok, want, n)
		}
	}
}

func say(a *cpu.Arch, row unwind.Row, ok bool) string {
	if !ok {
		return "none"
	}
	return row.Describe(a)
}

// TestBody: the rules at an instruction, by the code before it. The walker's oracles have each
// instruction of whole programs; these are forms that they do not have.
func TestBody(t *testing.T) {
	const at = 0x1000
	for _, c := range []struct {
		name   string
		arch   *cpu.Arch
		code   string
		offset uint64
		thumb  bool
		want   string
	}{
		// push rbp; mov rbp, rsp; sub rsp, rax: the stack's size is not known, the frame pointer is.
		{"alloca", cpu.AMD64, "55 4889e5 4829c4 90", 7, false, "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16]"},
		// push rbp; mov rbp, rsp; push rbx; je 1f; sub rsp, rax; jmp 1f; 1: nop: on one of two ways memory
		// was allocated
		{"alloca on one way", cpu.AMD64, "55 4889e5 53 7405 4829c4 eb00 90", 12, false, "cfa = $rbp + 16, ra = [cfa − 8], $rbx = [cfa − 24], $rbp = [cfa − 16]"},
		// lea r10, [rsp + 8]; and rsp, -32; push [r10 - 8]; push rbp; mov rbp, rsp; push r10: rbp points
		// into an aligned stack, where the cfa is stored.
		{"aligned by gcc", cpu.AMD64, "4c8d542408 4883e4e0 41ff72f8 55 4889e5 4152 90", 19, false, "cfa = [$rbp − 8], ra = [cfa − 8], $rbp = [$rbp]"},
		// The same with r10 overwritten before the cfa is stored.
		{"aligned and lost", cpu.AMD64, "4c8d542408 4883e4e0 4531d2 90", 12, false, "none"},
		// push rbp; mov rbp, rsp; and rsp, -64
		{"aligned by clang", cpu.AMD64, "55 4889e5 4883e4c0 90", 8, false, "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16]"},
		// test edi, edi; jne 1f; ret; 1: push rbx; nop
		{"branch around a return", cpu.AMD64, "85ff 7501 c3 53 90", 6, false, "cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16]"},
		// ret; nop: nothing leads here
		{"behind the return", cpu.AMD64, "c3 90", 1, false, "none"},
		// call; add esp, 8: the callee may have taken its arguments
		{"call on x86", cpu.X86, "55 89e5 e800000010 90", 8, false, "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8]"},
		{"frameless call on x86", cpu.X86, "e800000010 90", 5, false, "none"},
		// call 1f; 1: pop ebx
		{"pc on x86", cpu.X86, "53 e800000000 5b 90", 7, false, "cfa = $esp + 8, ra = [cfa − 4], $ebx = [cfa − 8]"},
		// paciasp; stp x29, x30, [sp, -32]!; mov x29, sp; stp x19, x20, [sp, 16]; bl; nop
		{"signed", cpu.ARM64, "3f2303d5 fd7bbea9 fd030091 f35301a9 40000094 1f2003d5", 20, false, "cfa = $sp + 32, ra = [cfa − 24], $x19 = [cfa − 16], $x20 = [cfa − 8], $fp = [cfa − 32] (signed with key A)"},
		// stp x29, x30, [sp, -16]!; mov x29, sp; sub x9, sp, 256; and sp, x9, -64
		{"aligned on arm64", cpu.ARM64, "fd7bbfa9 fd030091 e90304d1 3fe57a92 1f2003d5", 16, false, "cfa = $fp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		// push {r4, lr}; movs r4, #0; sub sp, #8 (qsort of glibc)
		{"thumb", cpu.ARM, "10b5 0024 82b0 0094", 2, true, "cfa = $sp + 8, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{"thumb, later", cpu.ARM, "10b5 0024 82b0 0094", 6, true, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{"thumb, entry", cpu.ARM, "10b5 0024 82b0 0094", 0, true, "cfa = $sp, ra = $lr (topmost frame only)"},
		// push {r4, fp, lr}; add fp, sp, #8; sub sp, sp, #12
		{"arm", cpu.ARM, "10482de9 08b08de2 0cd04de2 0000a0e1", 12, false, "cfa = $sp + 24, ra = [cfa − 4], $r4 = [cfa − 12], $fp = [cfa − 8]"},
		// stmdb sp!, {r4-r8, lr}; vpush {d8}; bl
		{"thumb, wide", cpu.ARM, "2de9f041 2ded028b 00f000f8 00bf", 12, true, "cfa = $sp + 32, ra = [cfa − 4], $r4 = [cfa − 24], $r5 = [cfa − 20], $r6 = [cfa − 16], $r7 = [cfa − 12], $r8 = [cfa − 8]"},
		// push {fp, lr}; mov fp, sp; cmp r0, #0; beq 1f; bl; 1: mov sp, fp; pop {fp, pc}: the way without
		// the call is followed, and lr is only where all ways have it.
		{"a call on another way", cpu.ARM, "00482de9 0db0a0e1 000050e3 0000000a fefffeeb 0bd0a0e1 0088bde8", 20, false, "cfa = $sp + 8, ra = [cfa − 4], $fp = [cfa − 8]"},
		// stp x29, x30, [sp, -16]!; cbz w0, 1f; bl; 1: ldp x29, x30, [sp], 16; ret: before and after it is loaded
		{"a call on another way, arm64", cpu.ARM64, "fd7bbfa9 40000034 00000094 fd7bc1a8 c0035fd6", 12, false, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		{"loaded again", cpu.ARM64, "fd7bbfa9 40000034 00000094 fd7bc1a8 c0035fd6", 16, false, "cfa = $sp, ra = $lr (topmost frame only)"},
		// push {r4, r7, lr}; add r7, sp, #4; sub.w r1, sp, r1; mov sp, r1: the stack's size is not known
		{"alloca in thumb", cpu.ARM, "90b5 01af adeb0101 8d46 0122", 10, true, "cfa = $r7 + 8, ra = [cfa − 4], $r4 = [cfa − 12], $r7 = [cfa − 8]"},
		// addi.d sp, sp, -96; st.d ra, sp, 88; st.d fp, sp, 80; addi.d fp, sp, 96; bstrins.d sp, zero, 4, 0
		{"aligned on loongarch64", cpu.LoongArch64, "6380fe02 6160c129 7640c129 7680c102 03008400 00004003", 20, false, "cfa = $fp, ra = [cfa − 8], $fp = [cfa − 16]"},
		// addi.d sp, sp, -2032; st.d ra, sp, 2024; st.d s0, sp, 2016; addu16i.d sp, sp, -16; movfr2gr.d a0, fa3;
		// movgr2fr.d fa3, a0; vld vr3, a0, 0; vadd.d vr3, vr3, vr3; bl
		{"a large frame on loongarch64", cpu.LoongArch64, "6340e002 61a0df29 7780df29 63c0ff13 64b81401 83a81401 8300002c 638c0b70 ffcbff57 00004003", 36, false,
			"cfa = $sp + 1050608, ra = [cfa − 8], $s0 = [cfa − 16]"},
		// beqz a0, 1f; addi.d sp, sp, -16; stptr.d ra, sp, 8; bne a0, a1, …; ret; 1: break; nop
		{"loongarch64, on", cpu.LoongArch64, "80140040 63c0ff02 61080027 85b4ff5f 2000004c 00002a00 00004003", 16, false, "cfa = $sp + 16, ra = [cfa − 8]"},
		{"loongarch64, branch", cpu.LoongArch64, "80140040 63c0ff02 61080027 85b4ff5f 2000004c 00002a00 00004003", 20, false, "cfa = $sp, ra = $ra (topmost frame only)"},
		{"loongarch64, behind a stop", cpu.LoongArch64, "80140040 63c0ff02 61080027 85b4ff5f 2000004c 00002a00 00004003", 24, false, "none"},
		// add rsp, 8; pushfq; sub rsp, 32; nop: the return address is gone
		{"return address taken off", cpu.AMD64, "4883c408 9c 4883ec20 90", 9, false, "none"},
		// daddi sp, sp, -184; sd ra, 112(sp); nop: Go's assembler has the form that traps
		{"mips64", cpu.MIPS64, "48ffbd63 7000bfff 00000000", 8, false, "cfa = $sp + 184, ra = [cfa − 72]"},
		// mflr r0; std r0, 16(r1); stdu r1, -544(r1); li r0, 352; stvx v20, r1, r0; nop
		{"vectors on ppc64", cpu.PPC64, "a602087c 100001f8 e1fd21f8 60010038 ce01817e 00000060", 20, false, "cfa = $r1 + 544, ra = [cfa + 16]"},
		// push {r4, lr}; cmp r0, #1; addls pc, pc, r0, lsl #2; b 1f; b 2f; b 1f; 1: mvn r0, #0; pop {r4, pc};
		// 2: pop {r4, lr}; mov r0, #9; b …
		{"a switch of arm", cpu.ARM, "10402de9 010050e3 00f18f90 010000ea 020000ea ffffffea 0000e0e3 1080bde8 1040bde8 0900a0e3 500000ea", 36, false, "cfa = $sp, ra = $lr (topmost frame only)"},
		// shlx rbx, rcx, rsi; mulx r12, r13, rax; vmovq r14, xmm0; blsr r15, rax; nop
		{"bit manipulation and vectors", cpu.AMD64, "c4e2c9f7d9 c46293f6e0 c4c1f97ec6 c4e280f3c8 90", 20, false, "cfa = $rsp + 8, ra = [cfa − 8], $rbx = lost, $r12 = lost, $r13 = lost, $r14 = lost, $r15 = lost"},
		// mov rax, rsp; movd xmm5, [rsp + 8]; sub rsp, r11; nop: OpenSSL's
		{"the entry's stack pointer in another register", cpu.AMD64, "4889e0 660f6e6c2408 4c29dc 90", 12, false, "cfa = $rax + 8, ra = [cfa − 8]"},
		// stp x29, x30, [sp, #-16]!; cntd x16; fmov d22, xzr; fcvtzs x21, d0; mov x29, sp
		{"arm64, scalable vectors", cpu.ARM64, "fd7bbfa9 f0e3e004 f603679e 1500789e fd030091", 16, false, "cfa = $sp + 16, ra = [cfa − 8], $x21 = lost, $fp = [cfa − 16]"},
		// mov x1, x30; bl; mov x30, x1
		{"arm64, outlined code", cpu.ARM64, "e1031eaa 00000094 fe0301aa", 8, false, "cfa = $sp, ra = $x1"},
		{"arm64, behind outlined code", cpu.ARM64, "e1031eaa 00000094 fe0301aa c0035fd6", 12, false, "cfa = $sp, ra = $lr (topmost frame only)"},
		// stp x29, x30, [sp, #-16]!; mov x1, x30; bl; ldp x29, x30, [sp], #16; mov x1, x0
		{"arm64, a saved return address", cpu.ARM64, "fd7bbfa9 e1031eaa 00000094 fd7bc1a8", 12, false, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		// bts rbp, 60; push rbp; lea rbp, [rsp]; nop
		{"a mark of Swift's", cpu.AMD64, "480fbaed3c 55 488d2c24 90", 10, false, "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]"},
		// pacib x30, sp; orr x29, x29, 1 << 60; stp x29, x30, [sp, #-16]!; mov x29, sp
		{"arm64, a signature and a mark of Swift's", cpu.ARM64, "fe07c1da bd0344b2 fd7bbfa9 fd030091", 12, false, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		// addvl sp, sp, #-1; nop
		{"arm64, a scalable frame", cpu.ARM64, "ff573f04 1f2003d5", 4, false, "none"},
		// vpickve2gr.d sp, vr1, 0
		{"loongarch64, from a vector", cpu.LoongArch64, "23f0ef72 00004003", 4, false, "none"},
	} {
		b := code(t, c.code)
		row, ok := framecode.Body(c.arch, binary.LittleEndian, &framecode.Function{Code: b, Start: at, Sized: true, Thumb: c.thumb}, at+c.offset, false, steps())
		if got := say(c.arch, row, ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCalls: what is known about the stack pointer behind calls that may take their arguments from the
// stack. The callee is at 0x2000.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name, code string
		offset     uint64
		callee     string
		returned   bool
		want       string
	}{
		// sub esp, 12; call; add esp, 12; ret
		{"balanced", "83ec0c e8f80f0000 83c40c c3", 8, "", false, "cfa = $esp + 16, ra = [cfa − 4]"},
		{"balanced, return", "83ec0c e8f80f0000 83c40c c3", 11, "", false, "cfa = $esp + 4, ra = [cfa − 4]"},
		// sub esp, 12; call; add esp, 8; ret
		{"4 bytes were taken", "83ec0c e8f80f0000 83c408 c3", 8, "", false, "none"},
		{"the callee takes them", "83ec0c e8f80f0000 83c408 c3", 8, "85c0 7403 c20400 c20400", false, "cfa = $esp + 12, ra = [cfa − 4]"},
		{"with a prefix", "83ec0c e8f80f0000 83c408 c3", 8, "f2c20400", false, "cfa = $esp + 12, ra = [cfa − 4]"},
		{"the caller's frame", "83ec0c e8f80f0000 83c408 c3", 8, "c20400", true, "cfa = $esp + 16, ra = [cfa − 4]"},
		// sub esp, 12; call; 1: jmp 1b
		{"without return", "83ec0c e8f80f0000 ebfe", 8, "", false, "none"},
		{"without return, the callee", "83ec0c e8f80f0000 ebfe", 8, "8b0424 c3", false, "cfa = $esp + 16, ra = [cfa − 4]"},
		// push ebp; mov ebp, esp; push eax; call; je 1f; xor ebp, ebp; 2: jmp 2b; 1: leave; ret: leave brings
		// esp back, whatever was taken
		{"leave", "55 89e5 50 e8f70f0000 7404 31ed ebfe c9 c3", 13, "", false, "none"},
		// test eax, eax; je 1f; call; nop; 1: jmp 1b
		{"joined", "85c0 7406 e8f70f0000 90 ebfe", 9, "", false, "cfa = $esp + 4, ra = [cfa − 4]"},
		// test eax, eax; je 1f; sub esp, 8; call; 1: ret
		{"a call that never returns", "85c0 7408 83ec08 e8f40f0000 c3", 12, "", true, "cfa = $esp + 12, ra = [cfa − 4]"},
		{"another way leads behind it", "85c0 7408 83ec08 e8f40f0000 c3", 12, "", false, "cfa = $esp + 4, ra = [cfa − 4]"},
		// lea ecx, [esp + 4]; and esp, -64; push [ecx - 4]
		{"an aligned stack", "8d4c2404 83e4c0 ff71fc", 7, "", false, "cfa = $ecx, ra = [cfa − 4]"},
		// lea ecx, [esp + 4]; and esp, -64; push [ecx - 4]; push ebp; mov ebp, esp; call; push ecx; of GCC's
		// thunk for ebx, and of another function
		{"an aligned stack and a thunk", "8d4c2404 83e4c0 ff71fc 55 89e5 e8ee0f0000 51 90", 19, "8b1c24 c3", false, "cfa = [$ebp − 4], ra = [cfa − 4], $ebp = [$ebp], $ebx = lost"},
		{"an aligned stack and a call", "8d4c2404 83e4c0 ff71fc 55 89e5 e8ee0f0000 51 90", 19, "8b0c24 41 c3", false, "none"},
		// push ebx; jmp eax; pop ebx; ret; pop ebx; ret
		{"a switch", "53 ffe0 5b c3 5b c3", 5, "", false, "cfa = $esp + 8, ra = [cfa − 4], $ebx = [cfa − 8]"},
		// push ebx; jne 1f; push esi; jmp eax; 1: jmp eax; nop; ret; nop: from which of both?
		{"two switches", "53 7503 56 ffe0 ffe0 90 c3 90", 10, "", false, "none"},
		// push ebx; jne 1f; pop ebx; jmp eax; 1: jmp eax; nop; ret; nop
		{"a switch and a call that returns in its place", "53 7503 5b ffe0 ffe0 90 c3 90", 10, "", false, "cfa = $esp + 8, ra = [cfa − 4], $ebx = [cfa − 8]"},
	} {
		f := framecode.Function{Code: code(t, c.code), Start: 0x1000, Sized: true}
		f.Callee = func(at uint64) (framecode.Function, bool) {
			return framecode.Function{Code: code(t, c.callee), Start: at, Sized: true}, at == 0x2000 && c.callee != ""
		}
		row, ok := framecode.Body(cpu.X86, binary.LittleEndian, &f, 0x1000+c.offset, c.returned, steps())
		if got := say(cpu.X86, row, ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestOutlined: a part of a prologue that the compiler has made a function of, at 0x2000.
func TestOutlined(t *testing.T) {
	for _, c := range []struct {
		code, callee string
		offset       uint64
		returned     bool
		want         string
	}{
		// mov x8, x30; bl; mov x30, x8; stp x29, x30, [sp, #16]; callee: sub sp, sp, #32; stp x20, x19, [sp]; ret
		{"e8031eaa ff030094 fe0308aa fd7b01a9", "ff8300d1 f44f00a9 c0035fd6", 8, false, "cfa = $sp + 32, ra = $x8, $x19 = [cfa − 24], $x20 = [cfa − 32]"},
		{"e8031eaa ff030094 fe0308aa fd7b01a9", "ff8300d1 f44f00a9 c0035fd6", 8, true, "cfa = $sp, ra = $x8"},
		{"e8031eaa ff030094 fe0308aa fd7b01a9", "ff8300d1 f44f00a9 c0035fd6", 16, false, "cfa = $sp + 32, ra = [cfa − 8], $x19 = [cfa − 24], $x20 = [cfa − 32], $fp = [cfa − 16]"},
		// one that calls itself
		{"e8031eaa ff030094 fe0308aa fd7b01a9", "ff8300d1 ffffff97 c0035fd6", 8, false, "cfa = $sp, ra = $x8"},
	} {
		f := framecode.Function{Code: code(t, c.code), Start: 0x1000, Sized: true}
		f.Callee = func(at uint64) (framecode.Function, bool) {
			return framecode.Function{Code: code(t, c.callee), Start: at, Sized: true}, at == 0x2000
		}
		row, ok := framecode.Body(cpu.ARM64, binary.LittleEndian, &f, 0x1000+c.offset, c.returned, steps())
		if got := say(cpu.ARM64, row, ok); got != c.want {
			t.Errorf("%d, %v: %s, want %s", c.offset, c.returned, got, c.want)
		}
	}
}

// TestCutOff: an instruction whose end is missing is not read. "c4 c3 65 4b db 10" is vblendvpd; its
// second byte alone is a return.
func TestCutOff(t *testing.T) {
	if row, ok := framecode.Epilogue(cpu.AMD64, binary.LittleEndian, code(t, "90 c4 c3 65 4b db"), 0x1000, false); ok {
		t.Error(row.Describe(cpu.AMD64))
	}
}

// TestEpilogue: the rules at an instruction, by the code up to the return.
func TestEpilogue(t *testing.T) {
	for _, c := range []struct {
		name  string
		arch  *cpu.Arch
		code  string
		thumb bool
		want  string
	}{
		{"ret", cpu.AMD64, "c3", false, "cfa = $rsp + 8, ra = [$rsp]"},
		{"leave", cpu.AMD64, "c9 c3", false, "cfa = $rbp + 16, ra = [$rbp + 8], $rbp = [$rbp]"},
		// mov eax, ebx; add rsp, 40; pop rbx; pop rbp; ret
		{"pops", cpu.AMD64, "89d8 4883c428 5b 5d c3", false, "cfa = $rsp + 64, ra = [$rsp + 56], $rbx = [$rsp + 40], $rbp = [$rsp + 48]"},
		// movups xmm15, [rsp] 24 times; add rsp, 224; popfq; ret
		{"vectors and flags", cpu.AMD64, strings.Repeat("440f103c24", 24) + "4881c4e0000000 9d c3", false, "cfa = $rsp + 240, ra = [$rsp + 232]"},
		{"ret 12 on x86", cpu.X86, "c20c00", false, "cfa = $esp + 16, ra = [$esp]"},
		// test eax, eax; jl; je; ret: a clone's return in the C library
		{"branches", cpu.AMD64, "85c0 7cfe 7401 c3", false, "cfa = $rsp + 8, ra = [$rsp]"},
		// add rsp, 8; jne 1f; 1: pop rbx; ret
		{"a branch between", cpu.AMD64, "4883c408 7500 5b c3", false, "cfa = $rsp + 24, ra = [$rsp + 16], $rbx = [$rsp + 8]"},
		{"a branch that leads to a call", cpu.AMD64, "7506 e800000010 c3", false, "none"},
		{"a call", cpu.AMD64, "e800000010 c3", false, "none"},
		{"cut off", cpu.AMD64, "4883c428", false, "none"},
		// ldp x19, x20, [sp, 16]; ldp x29, x30, [sp], 32; retaa
		{"arm64", cpu.ARM64, "f35341a9 fd7bc2a8 ff0b5fd6", false, "cfa = $sp + 32, ra = [$sp + 8], $x19 = [$sp + 16], $x20 = [$sp + 24], $fp = [$sp]"},
		{"leaf of arm64", cpu.ARM64, "00040091 c0035fd6", false, "cfa = $sp, ra = $lr (topmost frame only)"},
		{"thumb", cpu.ARM, "02b0 10bd", true, "cfa = $sp + 16, ra = [$sp + 12], $r4 = [$sp + 8]"},
		{"arm", cpu.ARM, "08d04be2 1088bde8", false, "cfa = $fp + 4, ra = [$fp], $r4 = [$fp − 8], $fp = [$fp − 4]"},
		// ldptr.d s0, sp, 16; ld.d ra, sp, 24; addi.d sp, sp, 32; ret
		{"loongarch64", cpu.LoongArch64, "77100026 6160c028 6380c002 2000004c", false, "cfa = $sp + 32, ra = [$sp + 24], $s0 = [$sp + 16]"},
		{"leaf of loongarch64", cpu.LoongArch64, "a4001500 2000004c", false, "cfa = $sp, ra = $ra (topmost frame only)"},
		{"a branch of loongarch64", cpu.LoongArch64, "80140040 2000004c", false, "cfa = $sp, ra = $ra (topmost frame only)"},
	} {
		row, ok := framecode.Epilogue(c.arch, binary.LittleEndian, code(t, c.code), 0x1000, c.thumb)
		if got := say(c.arch, row, ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAnyBytes: whatever the bytes are, the time is bounded.
func TestAnyBytes(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	begin := time.Now()
	for _, a := range []*cpu.Arch{cpu.AMD64, cpu.X86, cpu.ARM64, cpu.ARM, cpu.LoongArch64} {
		for i := range 200 {
			b := make([]byte, 1+rnd.Intn(400))
			rnd.Read(b)
			if i%4 == 0 { // push; jne, over and over
				for j := range b {
					b[j] = [...]byte{0x55, 0x75, 0x01}[j%3]
				}
			}
			at := rnd.Uint64()
			framecode.Body(a, binary.LittleEndian, &framecode.Function{Code: b, Start: at, Sized: true, Thumb: i%2 == 0}, at+uint64(rnd.Intn(len(b))), false, steps())
			framecode.Epilogue(a, binary.LittleEndian, b, at, i%2 == 0)
		}
		b := make([]byte, framecode.MaxBody)
		for j := range b {
			b[j] = [...]byte{0x55, 0x75, 0x01}[j%3]
		}
		framecode.Body(a, binary.LittleEndian, &framecode.Function{Code: b, Start: 0, Sized: true, Thumb: true}, framecode.MaxBody-1, false, steps())
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("%s", d)
	}
}
