package analysis

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
)

// TestX86Text: instructions as compilers make them, their lengths and their text in Intel's
// assembler.
func TestX86Text(t *testing.T) {
	f, err := os.Open("testdata/x86.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		col := strings.Split(sc.Text(), "\t")
		code, err := hex.DecodeString(col[0])
		if err != nil || len(col) != 3 {
			t.Fatalf("line %d: %q", n, sc.Text())
		}
		x := decodeX86(code, 64)
		if x == nil {
			t.Errorf("%s: not decoded, want %q", col[0], col[2])
			continue
		}
		if got := x.Text(0); got != col[2] || strconv.Itoa(x.Len) != col[1] {
			t.Errorf("%s: %q of %d bytes, want %q of %s", col[0], got, x.Len, col[2], col[1])
		}
		for cut := range x.Len {
			if y := decodeX86(code[:cut], 64); y != nil && y.Len > cut {
				t.Errorf("%s cut to %d bytes has %d", col[0], cut, y.Len)
			}
		}
	}
}

// TestX86Known: what is not decoded, and what looks as if it were not.
func TestX86Known(t *testing.T) {
	for code, want := range map[string]string{
		"c0f005":       "", // sal in its second encoding: no compiler makes it
		"0f38c8c1":     "sha1nexte xmm0, xmm1",
		"c4e2fbf61c24": "mulx rbx, rax, qword ptr [rsp]",
		"":             "", // nothing to read
		"0fc8":         "bswap eax",
		"f0ffc0":       "", // lock without memory
		"0f01d0":       "xgetbv",
	} {
		raw, _ := hex.DecodeString(code)
		got := ""
		if x := decodeX86(raw, 64); x != nil {
			got = x.Text(0)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestX86Plain: a status code in a move is what a reader looks for.
func TestX86Plain(t *testing.T) {
	for code, want := range map[string]string{
		"c74424200d0000c0": "mov dword ptr [rsp+0x20], 0xc000000d",
		"b80d0000c0":       "mov eax, 0xc000000d",
		"c744242005000000": "mov dword ptr [rsp+0x20], 0x5",
		"48c7c0ffffffff":   "mov rax, -0x1",
		"83c8ff":           "or eax, -0x1",
	} {
		raw, _ := hex.DecodeString(code)
		if got := decodeX86(raw, 64).Text(0); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestX86Access: kinds, sizes and addresses. Registers: rax 0x1000, rbx 0x2000, rcx 4, rsp 0x7000,
// rbp 0x7100, rip 0x400010.
func TestX86Access(t *testing.T) {
	cases := []struct {
		mode  int
		code  string
		wants string // "kind size address" each, "; " between
	}{
		{64, "8b00", "read 4 0x1000"},
		{64, "8900", "write 4 0x1000"},
		{64, "0100", "readwrite 4 0x1000"},
		{64, "3900", "read 4 0x1000"},
		{64, "0300", "read 4 0x1000"},
		{64, "488b448b10", "read 8 0x2020"},
		{64, "488b0500010000", "read 8 0x400117"}, // from the end of the instruction
		{64, "488d4010", ""},
		{64, "0f1f4000", ""},
		{64, "0f1808", ""},
		{64, "50", "write 8 0x6ff8"},
		{64, "58", "read 8 0x7000"},
		{64, "e800000000", "write 8 0x6ff8"},
		{64, "ff10", "read 8 0x1000; write 8 0x6ff8"},
		{64, "c3", "read 8 0x7000"},
		{64, "c9", "read 8 0x7100"},
		{64, "48f730", "read 8 0x1000"},
		{64, "f00fb108", "readwrite 4 0x1000"},
		{64, "0f9400", "write 1 0x1000"},
		{64, "0f2800", "read 16 0x1000"},
		{64, "0f2900", "write 16 0x1000"},
		{64, "c5fe6f00", "read 32 0x1000"},
		{64, "c5fe7f00", "write 32 0x1000"},
		{64, "62f1fe486f4001", "read 64 0x1040"},
		{64, "dd18", "write 8 0x1000"},
		{64, "dd00", "read 8 0x1000"},
		{64, "678b4010", "read 4 0x1010"},
		{64, "64488b042528000000", "read 8 ?"},      // fs is not in a dump of Linux
		{64, "65488b042530000000", "read 8 0x5030"}, // gs is the TEB on Windows
		{64, "c7042545000000050000", "write 4 0x45"},
		{64, "90", ""},
		{32, "8b00", "read 4 0x1000"},
		{32, "50", "write 4 0x6ffc"},
		{32, "a145000000", "read 4 0x45"},
		{32, "c4e27d5800", "read 4 0x1000"},
	}
	for _, c := range cases {
		raw, _ := hex.DecodeString(c.code)
		d := x86Machine(c.mode).x86(append(raw, make([]byte, 16)...), c.mode)
		if d == nil {
			t.Errorf("%s is not decoded", c.code)
			continue
		}
		var got []string
		for _, a := range d.accesses {
			addr := "?"
			if a.AddressKnown {
				addr = hexWord(a.Address)
			}
			got = append(got, a.Kind.String()+" "+strconv.Itoa(a.Size)+" "+addr)
		}
		if s := strings.Join(got, "; "); s != c.wants {
			t.Errorf("%d-bit %s (%s): %s, want %s", c.mode, c.code, d.text, s, c.wants)
		}
	}
}

// x86Machine has the registers that TestX86Access names.
func x86Machine(mode int) *machine {
	arch, names := cpu.AMD64, map[string]uint64{"rax": 0x1000, "rbx": 0x2000, "rcx": 4, "rsp": 0x7000, "rbp": 0x7100, "rip": 0x400010}
	if mode == 32 {
		arch, names = cpu.X86, map[string]uint64{"eax": 0x1000, "ebx": 0x2000, "ecx": 4, "esp": 0x7000, "ebp": 0x7100, "eip": 0x400010}
	}
	regs := &cpu.Regs{Arch: arch}
	for i := range arch.Names {
		regs.Set(cpu.Reg(i), names[arch.Names[i]])
	}
	return &machine{d: openBytes(dumptest.New(dumptest.LittleEndian).Bytes()), arch: arch, regs: regs, pc: 0x400010, teb: 0x5000}
}
