package pdata_test

import (
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// arm64Record is a record of a function of 0x100 bytes with one epilogue at its end, whose codes
// begin at an index.
func arm64Record(epilogue int, codes ...byte) []byte {
	for len(codes)%4 != 0 {
		codes = append(codes, 0xe3)
	}
	w := uint32(0x100/4) | 1<<21 | uint32(epilogue)<<22 | uint32(len(codes)/4)<<27
	return append([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)}, codes...)
}

func TestARM64Codes(t *testing.T) {
	const body = codeAt + 0x80
	for _, c := range []struct {
		what  string
		codes []byte
		says  string
	}{
		{"alloc_s", []byte{0x02, 0xe4}, "cfa = $sp + 32, ra = $lr (topmost frame only)"},
		{"alloc_m", []byte{0xc1, 0x02, 0xe4}, "cfa = $sp + 4128, ra = $lr (topmost frame only)"},
		{"alloc_l", []byte{0xe0, 0x01, 0x00, 0x01, 0xe4}, "cfa = $sp + 1048592, ra = $lr (topmost frame only)"},
		{"save_r19r20_x", []byte{0x24, 0xe4}, "cfa = $sp + 32, ra = $lr, $x19 = [cfa − 32], $x20 = [cfa − 24] (topmost frame only)"},
		{"save_fplr, alloc", []byte{0x42, 0x04, 0xe4}, "cfa = $sp + 64, ra = [cfa − 40], $fp = [cfa − 48]"},
		{"save_fplr_x", []byte{0x83, 0xe4}, "cfa = $sp + 32, ra = [cfa − 24], $fp = [cfa − 32]"},
		{"save_regp", []byte{0xc8, 0x82, 0x04, 0xe4}, "cfa = $sp + 64, ra = $lr, $x21 = [cfa − 48], $x22 = [cfa − 40] (topmost frame only)"},
		{"save_regp_x", []byte{0xcc, 0x83, 0xe4}, "cfa = $sp + 32, ra = $lr, $x21 = [cfa − 32], $x22 = [cfa − 24] (topmost frame only)"},
		{"save_reg", []byte{0xd2, 0x41, 0x02, 0xe4}, "cfa = $sp + 32, ra = $lr, $x28 = [cfa − 24] (topmost frame only)"},
		{"save_reg_x", []byte{0xd4, 0x23, 0xe4}, "cfa = $sp + 32, ra = $lr, $x20 = [cfa − 32] (topmost frame only)"},
		{"save_lrpair", []byte{0xd6, 0x42, 0x02, 0xe4}, "cfa = $sp + 32, ra = [cfa − 8], $x21 = [cfa − 16]"},
		{"vector registers", []byte{0xd8, 0x02, 0xdc, 0x04, 0xde, 0x01, 0xda, 0x03, 0xe4}, "cfa = $sp + 48, ra = $lr (topmost frame only)"},
		{"save_next", []byte{0xe6, 0xe6, 0xcc, 0x05, 0xe4}, "cfa = $sp + 48, ra = $lr, $x23 = [cfa − 16], $x24 = [cfa − 8], $x21 = [cfa − 32], $x22 = [cfa − 24], $x19 = [cfa − 48], $x20 = [cfa − 40] (topmost frame only)"},
		{"save_next after x28", []byte{0xe6, 0xca, 0x02, 0x04, 0xe4}, "cfa = $sp + 64, ra = $lr, $x27 = [cfa − 48], $x28 = [cfa − 40] (topmost frame only)"},
		{"save_any_reg x", []byte{0xe7, 0x14, 0x02, 0x02, 0xe4}, "cfa = $sp + 32, ra = $lr, $x20 = [cfa − 16] (topmost frame only)"},
		{"save_any_reg pair, moving", []byte{0xe7, 0x73, 0x01, 0xe4}, "cfa = $sp + 32, ra = $lr, $x19 = [cfa − 32], $x20 = [cfa − 24] (topmost frame only)"},
		{"save_any_reg q, moving", []byte{0xe7, 0x26, 0x80, 0xe4}, "cfa = $sp + 16, ra = $lr (topmost frame only)"},
		{"set_fp", []byte{0xe1, 0x83, 0xe4}, "cfa = $fp + 32, ra = [cfa − 24], $fp = [cfa − 32]"},
		{"add_fp", []byte{0xe2, 0x02, 0x42, 0x04, 0xe4}, "cfa = $fp + 48, ra = [cfa − 40], $fp = [cfa − 48]"},
		{"pac_sign_lr", []byte{0x81, 0xfc, 0xe4}, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16] (signed with key B)"},
		{"alloc_z", []byte{0xdf, 0x01, 0x81, 0xe4}, "none: the frame's size depends on the length of the processor's vector registers, which is not known"},
		{"alloc_z below a frame pointer", []byte{0xdf, 0x01, 0xe1, 0x81, 0xe4}, "cfa = $fp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		{"end_c", []byte{0xe5, 0x81, 0xe4}, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16]"},
		{"machine frame", []byte{0x01, 0xe9, 0xe4}, "cfa = [$sp + 16], ra = [$sp + 24] (signal frame)"},
		{"clear_unwound_to_call", []byte{0xec, 0xe4}, "cfa = $sp, ra = $lr (signal frame) (topmost frame only)"},
		{"trap frame", []byte{0xe8, 0xe4}, "none: the function uses an unwind code for frames whose layout is the system's own"},
		{"reserved for what need not be undone", []byte{0xf9, 0x01, 0x01, 0xff, 0x02, 0xe4}, "cfa = $sp + 32, ra = $lr (topmost frame only)"},
		{"reserved", []byte{0xf1, 0xe4}, "none: the function uses an unwind code for frames whose layout is the system's own"},
		{"cut off", []byte{0xe3, 0xe3, 0xe3, 0xc8}, "error: a.dll: unwind record in .xdata at offset 0x0: expected an unwind code that is known, found 0xc8, cut off, at index 3 of the codes"},
	} {
		m := image(cpu.ARM64).put(records, arm64Record(31, c.codes...)...).entry(codeAt, records)
		if have := says(m.open(t), cpu.ARM64, body); have != c.says {
			t.Errorf("%s:\n\t%s\nnot\t%s", c.what, have, c.says)
		}
	}
	m := image(cpu.ARM64).put(records, arm64Record(31, 0xea, 0xe4)...).entry(codeAt, records)
	m.check(t, "context", want{body, "cfa = [$sp + 256], ra = [$sp + 264], $x0 = [$sp + 8], $x1 = [$sp + 16]…"})
	m = image(cpu.ARM64).words(records, 1<<18|1<<27).entry(codeAt, records)
	m.check(t, "version", want{codeAt, "error: a.dll: unwind record in .xdata at offset 0x0: expected version 0 of an unwind record, found 1"})
}

// At each instruction of a prologue and an epilogue.
func TestARM64Positions(t *testing.T) {
	fp := "cfa = $fp + 32, ra = [cfa − 24], $x19 = [cfa − 16], $fp = [cfa − 32]"
	saved, pushed, none := "cfa = $sp + 32, ra = [cfa − 24], $x19 = [cfa − 16], $fp = [cfa − 32]", "cfa = $sp + 32, ra = [cfa − 24], $fp = [cfa − 32]", "cfa = $sp, ra = $lr (topmost frame only)"
	// stp fp, lr, [sp, -32]!; str x19, [sp, 16]; mov fp, sp … ldr x19; ldp fp, lr; ret
	codes := []byte{0xe1, 0xd0, 0x02, 0x83, 0xe4}
	image(cpu.ARM64).put(records, arm64Record(1, codes...)...).entry(codeAt, records).check(t, "one epilogue",
		want{codeAt, none}, want{codeAt + 3, none}, want{codeAt + 4, pushed}, want{codeAt + 8, saved}, want{codeAt + 12, fp}, want{codeAt + 0xf0, fp},
		want{codeAt + 0xf4, saved}, want{codeAt + 0xf8, pushed}, want{codeAt + 0xfc, none}, want{codeAt + 0x100, "none"})
	// Two epilogues in a list, with the longer header.
	m := image(cpu.ARM64).words(records, 0x100/4, 2|2<<16, 0x40/4|1<<22, 0x80/4|1<<22).put(records+16, codes...).entry(codeAt, records)
	m.check(t, "two epilogues", want{codeAt + 0x3c, fp}, want{codeAt + 0x40, saved}, want{codeAt + 0x44, pushed}, want{codeAt + 0x48, none}, want{codeAt + 0x4c, fp},
		want{codeAt + 0x80, saved}, want{codeAt + 0xfc, fp})
	// A part whose prologue was done elsewhere.
	image(cpu.ARM64).put(records, arm64Record(31, append([]byte{0xe5}, codes...)...)...).entry(codeAt, records).check(t, "part of a function", want{codeAt, fp})
	// A part that alone stores registers, in the frame that another part has allocated: stp x19, x20,
	// [sp]; str lr, [sp, 16] … ldr lr; ldp x19, x20.
	allocated, pair := "cfa = $sp + 32, ra = $lr (topmost frame only)", "cfa = $sp + 32, ra = $lr, $x19 = [cfa − 32], $x20 = [cfa − 24] (topmost frame only)"
	all := "cfa = $sp + 32, ra = [cfa − 16], $x19 = [cfa − 32], $x20 = [cfa − 24]"
	image(cpu.ARM64).words(records, 0x40/4|1<<22|2<<27, 0x20/4).put(records+8, 0xd2, 0xc2, 0xc8, 0x00, 0xe5, 0x02, 0xe4, 0xe3).entry(codeAt, records).check(t, "part that stores registers",
		want{codeAt, allocated}, want{codeAt + 4, pair}, want{codeAt + 8, all}, want{codeAt + 0x20, all}, want{codeAt + 0x24, pair}, want{codeAt + 0x28, allocated}, want{codeAt + 0x2c, all})
}

func TestARM64Packed(t *testing.T) {
	none := "cfa = $sp, ra = $lr (topmost frame only)"
	pack := func(flag, length, regF, regI, h, cr, frame uint32) uint32 {
		return flag | length/4<<2 | regF<<13 | regI<<16 | h<<20 | cr<<21 | frame/16<<23
	}
	one := func(w uint32) *made { return image(cpu.ARM64).entry(codeAt, w) }
	// stp x19, x20, [sp, -32]!; stp x21, lr, [sp, 16]; sub sp, sp, 16
	three := "cfa = $sp + 48, ra = [cfa − 8], $x21 = [cfa − 16], $x19 = [cfa − 32], $x20 = [cfa − 24]"
	one(pack(1, 0x40, 0, 3, 0, 1, 48)).check(t, "three registers and lr", want{codeAt, none}, want{codeAt + 4, "cfa = $sp + 32, ra = $lr, $x19 = [cfa − 32], $x20 = [cfa − 24] (topmost frame only)"},
		want{codeAt + 8, "cfa = $sp + 32, ra = [cfa − 8], $x21 = [cfa − 16], $x19 = [cfa − 32], $x20 = [cfa − 24]"}, want{codeAt + 12, three}, want{codeAt + 0x2c, three},
		want{codeAt + 0x30, three}, want{codeAt + 0x34, "cfa = $sp + 32, ra = [cfa − 8], $x21 = [cfa − 16], $x19 = [cfa − 32], $x20 = [cfa − 24]"}, want{codeAt + 0x3c, none})
	// sub sp, sp, 16; stp x19, lr, [sp] … ldp; add; ret
	allocated, body := "cfa = $sp + 16, ra = $lr (topmost frame only)", "cfa = $sp + 16, ra = [cfa − 8], $x19 = [cfa − 16]"
	one(pack(1, 0x40, 0, 1, 0, 1, 16)).check(t, "one register and lr", want{codeAt, none}, want{codeAt + 4, allocated}, want{codeAt + 8, body}, want{codeAt + 0x34, body}, want{codeAt + 0x38, allocated}, want{codeAt + 0x3c, none})
	// sub sp, sp, 96; the body stores x0 to x7.
	locals := "cfa = $sp + 96, ra = $lr (topmost frame only)"
	one(pack(1, 0x40, 0, 0, 1, 0, 96)).check(t, "parameters alone", want{codeAt, none}, want{codeAt + 4, locals}, want{codeAt + 0x38, locals}, want{codeAt + 0x3c, none})
	// stp x19, x20, [sp, -96]!; d8, d9; x0 to x7; stp fp, lr, [sp, -32]!; mov fp, sp
	framed := "cfa = $fp + 128, ra = [cfa − 120], $fp = [cfa − 128], $x19 = [cfa − 96], $x20 = [cfa − 88]"
	m := one(pack(1, 0x60, 1, 2, 1, 3, 128))
	m.check(t, "all kinds", want{codeAt + 0x1c, "cfa = $sp + 128, ra = [cfa − 120], $fp = [cfa − 128], $x19 = [cfa − 96], $x20 = [cfa − 88]"}, want{codeAt + 0x20, framed}, want{codeAt + 0x4c, framed},
		want{codeAt + 0x50, "cfa = $sp + 128, ra = [cfa − 120], $fp = [cfa − 128], $x19 = [cfa − 96], $x20 = [cfa − 88]"}, want{codeAt + 0x54, "cfa = $sp + 96, ra = $lr, $x19 = [cfa − 96], $x20 = [cfa − 88] (topmost frame only)"},
		want{codeAt + 0x5c, none})
	one(pack(1, 0x40, 0, 0, 0, 2, 16)).check(t, "signed", want{codeAt, none}, want{codeAt + 4, "cfa = $sp, ra = $lr (signed with key B) (topmost frame only)"},
		want{codeAt + 8, "cfa = $sp + 16, ra = [cfa − 8], $fp = [cfa − 16] (signed with key B)"}, want{codeAt + 0x38, "cfa = $sp, ra = $lr (signed with key B) (topmost frame only)"}, want{codeAt + 0x3c, none})
	one(pack(1, 0x40, 0, 0, 0, 3, 4096)).check(t, "large", want{codeAt + 4, "cfa = $sp + 4080, ra = $lr (topmost frame only)"}, want{codeAt + 8, "cfa = $sp + 4096, ra = $lr (topmost frame only)"},
		want{codeAt + 12, "cfa = $sp + 4096, ra = [cfa − 4088], $fp = [cfa − 4096]"})
	one(pack(2, 0x40, 0, 1, 0, 0, 16)).check(t, "part of a function", want{codeAt, "cfa = $sp + 16, ra = $lr, $x19 = [cfa − 16] (topmost frame only)"})
	one(pack(1, 0x40, 0, 11, 0, 0, 96)).check(t, "too many registers", want{codeAt, "error: a.dll: .pdata at offset 0x0: expected packed unwind data that is known, found 11 saved registers"})
	one(pack(1, 0x40, 0, 4, 0, 0, 16)).check(t, "too small", want{codeAt, "error…"})
	m = image(cpu.ARM64).entry(codeAt, 0x200|3).words(0x200, codeAt, pack(1, 0x40, 0, 0, 0, 1, 16))
	m.check(t, "an entry that stands for another", want{codeAt + 4, "cfa = $sp + 16, ra = [cfa − 16]"})
	image(cpu.ARM64).entry(codeAt, 0x200|3).words(0x200, codeAt, 0x200|3).check(t, "circle", want{codeAt, "error…"})
}

func TestThumb(t *testing.T) {
	none := "cfa = $sp, ra = $lr (topmost frame only)"
	rec := func(epilogue int, fragment uint32, codes ...byte) []byte {
		for len(codes)%4 != 0 {
			codes = append(codes, 0xff)
		}
		w := uint32(0x100/2) | 1<<21 | fragment<<22 | uint32(epilogue)<<23 | uint32(len(codes)/4)<<28
		return append([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)}, codes...)
	}
	for _, c := range []struct {
		what  string
		codes []byte
		says  string
	}{
		{"add sp", []byte{0x04, 0xff}, "cfa = $sp + 16, ra = $lr (topmost frame only)"},
		{"pop {r4, r11, lr}", []byte{0xa8, 0x10, 0xff}, "cfa = $sp + 12, ra = [cfa − 4], $r4 = [cfa − 12], $fp = [cfa − 8]"},
		{"mov sp, r11", []byte{0xcb, 0xa8, 0x00, 0xff}, "cfa = $fp + 8, ra = [cfa − 4], $fp = [cfa − 8]"},
		{"pop {r4-r6, lr}", []byte{0xd6, 0xff}, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 16], $r5 = [cfa − 12], $r6 = [cfa − 8]"},
		{"pop {r4-r9}", []byte{0xd9, 0xff}, "cfa = $sp + 24, ra = $lr, $r4 = [cfa − 24]…"},
		{"vpop", []byte{0xe1, 0xf5, 0x89, 0xf6, 0x01, 0xff}, "cfa = $sp + 48, ra = $lr (topmost frame only)"},
		{"addw", []byte{0xe9, 0x01, 0xff}, "cfa = $sp + 1028, ra = $lr (topmost frame only)"},
		{"pop {r7, lr}", []byte{0xed, 0x80, 0xff}, "cfa = $sp + 8, ra = [cfa − 4], $r7 = [cfa − 8]"},
		{"machine frame", []byte{0xee, 0x01, 0xff}, "cfa = [$sp], ra = [$sp + 4] (signal frame)"},
		{"context", []byte{0xee, 0x02, 0xff}, "cfa = [$sp + 56], ra = [$sp + 64], $r0 = [$sp + 4]…"},
		{"unknown frame", []byte{0xee, 0x03, 0xff}, "none: the function uses…"},
		{"ldr lr", []byte{0xef, 0x02, 0xff}, "cfa = $sp + 8, ra = [cfa − 8]"},
		{"large", []byte{0xf7, 0x01, 0x00, 0xf9, 0x00, 0x01, 0xf8, 0x00, 0x00, 0x01, 0xfa, 0x00, 0x00, 0x01, 0xff}, "cfa = $sp + 1036, ra = $lr (topmost frame only)"},
		{"reserved", []byte{0xf0, 0xff}, "error…"},
		{"down", []byte{0xf5, 0x98, 0xff}, "error…"},
	} {
		image(cpu.ARM).put(records, rec(31, 0, c.codes...)...).entry(codeAt|1, records).check(t, c.what, want{codeAt + 0x80, c.says})
	}
	// push.w {r4-r8, lr} (4 bytes); sub sp, #8 (2) … add sp, #8 (2); pop.w {r4-r8, pc} (4)
	pushed := "cfa = $sp + 24, ra = [cfa − 4], $r4 = [cfa − 24], $r5 = [cfa − 20], $r6 = [cfa − 16], $r7 = [cfa − 12], $r8 = [cfa − 8]"
	body := "cfa = $sp + 32, ra = [cfa − 4], $r4 = [cfa − 24], $r5 = [cfa − 20], $r6 = [cfa − 16], $r7 = [cfa − 12], $r8 = [cfa − 8]"
	image(cpu.ARM).put(records, rec(0, 0, 0x02, 0xdc, 0xff)...).entry(codeAt|1, records).check(t, "widths", want{codeAt, none}, want{codeAt + 2, none}, want{codeAt + 4, pushed},
		want{codeAt + 6, body}, want{codeAt + 0xf8, body}, want{codeAt + 0xfa, body}, want{codeAt + 0xfc, pushed}, want{codeAt + 0xfe, pushed})
	image(cpu.ARM).put(records, rec(31, 1, 0x02, 0xdc, 0xff)...).entry(codeAt|1, records).check(t, "part of a function", want{codeAt, body})
	// add sp; pop.w {r4-r8, lr}; b.w
	image(cpu.ARM).put(records, rec(0, 0, 0x02, 0xdc, 0xfe)...).entry(codeAt|1, records).check(t, "tail call", want{codeAt + 0xf6, body}, want{codeAt + 0xf8, pushed}, want{codeAt + 0xfc, none})

	pack := func(flag, length, ret, h, reg, r, l, c, adjust uint32) uint32 {
		return flag | length/2<<2 | ret<<13 | h<<15 | reg<<16 | r<<19 | l<<20 | c<<21 | adjust<<22
	}
	one := func(w uint32) *made { return image(cpu.ARM).entry(codeAt|1, w) }
	// push {r4, r5, r7-…}: push {r4-r5, r11, lr} (4); add r11, sp, #8 (4); sub sp, #16 (2) … add
	// sp, #16 (2); pop.w {r4-r5, r11, pc} (4)
	in := "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 16], $r5 = [cfa − 12], $fp = [cfa − 8]"
	all := "cfa = $sp + 32, ra = [cfa − 4], $r4 = [cfa − 16], $r5 = [cfa − 12], $fp = [cfa − 8]"
	one(pack(1, 0x40, 0, 0, 1, 0, 1, 1, 4)).check(t, "frame chain", want{codeAt, none}, want{codeAt + 4, in}, want{codeAt + 8, in}, want{codeAt + 10, all},
		want{codeAt + 0x38, all}, want{codeAt + 0x3a, all}, want{codeAt + 0x3c, in})
	// push {r0-r3} (2); push {lr} (2); sub sp, #8 (2) … add sp, #8 (2); ldr pc, [sp], #20 (4)
	one(pack(1, 0x40, 0, 1, 7, 1, 1, 0, 2)).check(t, "homes its parameters", want{codeAt + 2, "cfa = $sp + 16, ra = $lr (topmost frame only)"}, want{codeAt + 4, "cfa = $sp + 20, ra = [cfa − 20]"},
		want{codeAt + 6, "cfa = $sp + 28, ra = [cfa − 20]"}, want{codeAt + 0x38, "cfa = $sp + 28, ra = [cfa − 20]"}, want{codeAt + 0x3a, "cfa = $sp + 28, ra = [cfa − 20]"}, want{codeAt + 0x3c, "cfa = $sp + 20, ra = [cfa − 20]"})
	// The adjustment is a part of the push and of the pop: push {r2-r4, lr} … pop {r2-r4, pc}
	one(pack(1, 0x40, 0, 0, 0, 0, 1, 0, 0x3f4|1|4|8)).check(t, "folded", want{codeAt + 2, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 8]"}, want{codeAt + 0x3c, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 8]"},
		want{codeAt + 0x3e, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 8]"})
	// push {r4, lr}; vpush {d8-d9} … vpop; pop.w {r4, lr}; b.w
	one(pack(1, 0x40, 2, 0, 1, 1, 1, 0, 0)).check(t, "doubles and a tail call", want{codeAt + 2, "cfa = $sp + 4, ra = [cfa − 4]"}, want{codeAt + 6, "cfa = $sp + 20, ra = [cfa − 4]"},
		want{codeAt + 0x34, "cfa = $sp + 20, ra = [cfa − 4]"}, want{codeAt + 0x38, "cfa = $sp + 4, ra = [cfa − 4]"}, want{codeAt + 0x3c, none})
	one(pack(2, 0x40, 3, 0, 0, 0, 1, 0, 0)).check(t, "packed part", want{codeAt, "cfa = $sp + 8, ra = [cfa − 4], $r4 = [cfa − 8]"}, want{codeAt + 0x3e, "cfa = $sp + 8, ra = [cfa − 4], $r4 = [cfa − 8]"})
}
