package cpu

import (
	"encoding/binary"
	"testing"
)

// Each CPU's direct call and jump, at 0x1000, lead to 0x1040. The encodings are those that GNU as
// writes for "bl .+0x40" and its kin.
func TestBranches(t *testing.T) {
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	for name, tc := range map[string]struct {
		arch       *Arch
		order      binary.ByteOrder
		at         uint64
		call, jump []byte
		behind     int // bytes of the delay slot
	}{
		"amd64":       {AMD64, little, 0x1000, []byte{0xe8, 0x3b, 0, 0, 0}, []byte{0xe9, 0x3b, 0, 0, 0}, 0},
		"x86, short":  {X86, little, 0x1000, []byte{0xe8, 0x3b, 0, 0, 0}, []byte{0xeb, 0x3e}, 0},
		"jcc":         {AMD64, little, 0x1000, nil, []byte{0x0f, 0x85, 0x3a, 0, 0, 0}, 0},
		"arm64":       {ARM64, little, 0x1000, []byte{0x10, 0, 0, 0x94}, []byte{0x10, 0, 0, 0x14}, 0},
		"arm":         {ARM, little, 0x1000, []byte{0x0e, 0, 0, 0xeb}, []byte{0x0e, 0, 0, 0xea}, 0},
		"thumb":       {ARM, little, 0x1001, []byte{0x00, 0xf0, 0x1e, 0xf8}, []byte{0x00, 0xf0, 0x1e, 0xb8}, 0},
		"thumb, half": {ARM, little, 0x1001, nil, []byte{0x1e, 0xe0}, 0},
		"ppc":         {PPC, big, 0x1000, []byte{0x48, 0, 0, 0x41}, []byte{0x48, 0, 0, 0x40}, 0},
		"ppc64":       {PPC64, little, 0x1000, []byte{0x41, 0, 0, 0x48}, []byte{0x40, 0, 0, 0x48}, 0},
		"mips":        {MIPS, big, 0x1000, []byte{0x0c, 0, 0x04, 0x10}, []byte{0x08, 0, 0x04, 0x10}, 4},
		"mips, bal":   {MIPS64, little, 0x1000, []byte{0x0f, 0, 0x11, 0x04}, []byte{0x0f, 0, 0, 0x10}, 4},
		"riscv":       {RISCV64, little, 0x1000, []byte{0xef, 0, 0, 0x04}, []byte{0x6f, 0, 0, 0x04}, 0},
		"loongarch":   {LoongArch64, little, 0x1000, []byte{0, 0x40, 0, 0x54}, []byte{0, 0x40, 0, 0x50}, 0},
		"s390x":       {S390X, big, 0x1000, []byte{0xc0, 0xe5, 0, 0, 0, 0x20}, []byte{0xc0, 0xf4, 0, 0, 0, 0x20}, 0},
		"sparc":       {SPARC, big, 0x1000, []byte{0x40, 0, 0, 0x10}, nil, 4},
	} {
		if tc.call != nil {
			next := tc.at + uint64(len(tc.call)+tc.behind)
			b := append(make([]byte, MaxCallBytes), append(tc.call, make([]byte, tc.behind)...)...)
			to, ok := tc.arch.Target(b[len(b)-tc.arch.CallBytes:], next, tc.order)
			if !ok || tc.arch.CodeAddress(to) != 0x1040 {
				t.Errorf("%s: the call leads to %#x, %v", name, to, ok)
			}
			if !tc.arch.IsCall(b[len(b)-tc.arch.CallBytes:], next, tc.order) {
				t.Errorf("%s: it is no call", name)
			}
		}
		if tc.jump == nil {
			continue
		}
		to, ok := tc.arch.Jump(append(tc.jump, make([]byte, MaxJumpBytes)...), tc.at, tc.order)
		if !ok || to != tc.at+0x40 {
			t.Errorf("%s: the jump leads to %#x, %v", name, to, ok)
		}
		if _, ok := tc.arch.Jump(nil, tc.at, tc.order); ok {
			t.Errorf("%s: no code jumps", name)
		}
		if tc.call != nil {
			if _, ok := tc.arch.Jump(append(tc.call, make([]byte, MaxJumpBytes)...), tc.at, tc.order); ok {
				t.Errorf("%s: the call is taken for a jump", name)
			}
		}
	}
}
