package disasm

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// TestDecode: instructions of each processor. Their lengths are those that objdump has.
func TestDecode(t *testing.T) {
	f, err := os.Open("testdata/instructions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	covered := map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		col := strings.Split(s.Text(), "\t")
		if len(col) != 3 {
			t.Fatalf("%q", s.Text())
		}
		arch := cpu.ByName(col[0])
		code, err := hex.DecodeString(col[1])
		if err != nil || arch == nil {
			t.Fatalf("%q", s.Text())
		}
		covered[col[0]] = true
		order := binary.ByteOrder(binary.LittleEndian)
		if strings.HasPrefix(col[0], "ppc") {
			order = binary.BigEndian
		}
		in := Decode(arch, append(code, 0x90, 0x90, 0x90, 0x90), 0x10000, order, false)
		if in.Text != col[2] || in.Len != len(code) {
			t.Errorf("%s %s: %q of %d bytes, want %q of %d", col[0], col[1], in.Text, in.Len, col[2], len(code))
		}
		if in.HasTarget && !strings.Contains(col[2], hexOf(in.Target)) {
			t.Errorf("%s %s: it goes to %s, not in %q", col[0], col[1], hexOf(in.Target), col[2])
		}
		for cut := 1; cut < len(code); cut++ {
			if in := Decode(arch, code[:cut], 0x10000, order, false); in.Len > cut || in.Len < 1 {
				t.Errorf("%s %s cut to %d bytes: length %d", col[0], col[1], cut, in.Len)
			}
		}
	}
	for _, arch := range cpu.All() {
		if Knows(arch, false) != covered[arch.Name] {
			t.Errorf("%s: decoded %t, rows %t", arch.Name, Knows(arch, false), covered[arch.Name])
		}
	}
}

func hexOf(n uint64) string {
	return "0x" + strings.TrimLeft(hex.EncodeToString(binary.BigEndian.AppendUint64(nil, n)), "0")
}

// TestTargets: where jumps and calls go.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		arch   *cpu.Arch
		code   string
		target uint64
		call   bool
	}{
		{cpu.AMD64, "e8fb0f0000", 0x11000, true},
		{cpu.AMD64, "81bde8fefffffeffffff", 0, false}, // a cmp whose last bytes look like a call
		{cpu.AMD64, "74fe", 0x10000, false},
		{cpu.AMD64, "ffd0", 0, true},
		{cpu.ARM64, "00040094", 0x11000, true},
		{cpu.ARM64, "40000054", 0x10008, false},
		{cpu.ARM, "fe0300eb", 0x11000, true},
		{cpu.RISCV64, "63840700", 0x10008, false},
	} {
		code, _ := hex.DecodeString(c.code)
		in := Decode(c.arch, code, 0x10000, binary.LittleEndian, false)
		if in.HasTarget != (c.target != 0) || in.Target != c.target || in.Call != c.call || in.Text == "" {
			t.Errorf("%s: %q goes to 0x%x, a call: %t; want 0x%x, %t", c.code, in.Text, in.Target, in.Call, c.target, c.call)
		}
	}
}

// TestUnknown: what no decoder reads has the length of the smallest instruction.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		arch  *cpu.Arch
		thumb bool
		code  string
		want  int
	}{{cpu.AMD64, false, "06", 1}, {cpu.ARM64, false, "ffffffff", 4}, {cpu.ARM, true, "704700bf", 2}, {cpu.MIPS, false, "0800e003", 4}, {cpu.ARM64, false, "ff", 1}} {
		code, _ := hex.DecodeString(c.code)
		if in := Decode(c.arch, code, 0, binary.LittleEndian, c.thumb); in.Text != "" || in.Len != c.want {
			t.Errorf("%s %s: %q of %d bytes, want %d", c.arch.Name, c.code, in.Text, in.Len, c.want)
		}
	}
	if Knows(cpu.MIPS, false) || Knows(cpu.ARM, true) || !Knows(cpu.ARM, false) {
		t.Error("Knows")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xc4\xe2\x7d\x59\x67\x60"), uint64(0x401000))
	f.Add([]byte("\x8f\xe8\x78\xc2\xc0\x07"), uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, at uint64) {
		if len(code) == 0 {
			return
		}
		for _, arch := range cpu.All() {
			for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
				if in := Decode(arch, code, at, order, false); in.Len < 1 || in.Len > len(code) {
					t.Fatalf("%s: length %d of %d", arch.Name, in.Len, len(code))
				}
			}
		}
	})
}

// TestData: the addresses of operands that instructions say, and none where a register or a segment has a part of it.
func TestData(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		code string
		want uint64
	}{
		{cpu.AMD64, "488d3dc10e0000", 0x10000 + 7 + 0xec1}, {cpu.AMD64, "8b05f0ffffff", 0x10000 + 6 - 0x10}, {cpu.AMD64, "8b4508", 0}, {cpu.AMD64, "64488b042528000000", 0}, {cpu.AMD64, "e800000000", 0},
		{cpu.X86, "ff2500a00408", 0x804a000}, {cpu.X86, "8b048500a00408", 0}, {cpu.X86, "a100a00408", 0x804a000},
		{cpu.ARM64, "100000d0", 0x12000}, {cpu.ARM64, "40000058", 0x10008}, {cpu.ARM64, "00010010", 0x10020}, {cpu.ARM64, "02000014", 0}, {cpu.ARM64, "110240f9", 0},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if in := Decode(c.arch, append(code, make([]byte, Longest)...), 0x10000, binary.LittleEndian, false); in.Data != c.want {
			t.Errorf("%s %s, %q: 0x%x, want 0x%x", c.arch.Name, c.code, in.Text, in.Data, c.want)
		}
	}
}
