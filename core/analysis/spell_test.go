package analysis

import (
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

func TestSpell(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		code []byte
		want string
	}{
		{cpu.ARM64, []byte{0x1f, 0x04, 0x40, 0xb1}, "cmn x0, #0x1, lsl #12"}, // after the svc of a system call
		{cpu.ARM64, []byte{0xe0, 0x03, 0x13, 0xaa, 0xff}, "mov x0, x19"},
		{cpu.ARM64, []byte{0, 0, 0, 0}, ""},
		{cpu.ARM64, []byte{0x1f, 0x04, 0x40}, ""},
		{cpu.AMD64, []byte{0x1f, 0x04, 0x40, 0xb1}, ""},
	} {
		if got := spell(c.arch, c.code); got != c.want {
			t.Errorf("% x: %q, want %q", c.code, got, c.want)
		}
	}
}

func FuzzSpell(f *testing.F) {
	f.Add([]byte{0x1f, 0x04, 0x40, 0xb1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, code []byte) { spell(cpu.ARM64, code) })
}
