package framecode

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// TestRows: the rules of a prologue, a body and an epilogue, by address. Known rules stay in the body.
func TestRows(t *testing.T) {
	rbp := unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.FP, Offset: 16}
	body := unwind.Row{CFA: rbp, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}, WholeFunction: true,
		Saved: []unwind.RegRule{{Reg: cpu.AMD64.FP, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -16}}}}
	perhaps := body
	perhaps.WholeFunction = false
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3, 0xcc} // push rbp, mov rbp rsp, xor eax eax, pop rbp, ret, int3
	for _, c := range []struct {
		what  string
		known *unwind.Row
		want  string
	}{
		{"nothing known", nil, "0-1 cfa = $rsp + 8, ra = [cfa − 8]; 1-4 cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]; " +
			"4-7 cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]; 7-8 cfa = $rsp + 8, ra = [cfa − 8]"},
		{"of the body", &body, "0-1 cfa = $rsp + 8, ra = [cfa − 8]; 1-4 cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]; " +
			"4-7 cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16]; 7-8 cfa = $rsp + 8, ra = [cfa − 8]"},
		{"by address", &perhaps, "0-1 cfa = $rsp + 8, ra = [cfa − 8]; 1-4 cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]; 7-8 cfa = $rsp + 8, ra = [cfa − 8]"},
	} {
		steps := 1000
		got := rowsText(cpu.AMD64, NewReader(cpu.AMD64, binary.LittleEndian).Rows(&Function{Code: code, Start: 0x1000, Sized: true}, func(uint64) *unwind.Row { return c.known }, &steps))
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// TestRowsOutlined: over the call of outlined code the return address is in a scratch register, also
// where rules say that it is in lr.
func TestRowsOutlined(t *testing.T) {
	leaf := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM64.SP}, RA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM64.LR}, Topmost: true, WholeFunction: true}
	var code []byte
	for _, w := range []uint32{0xd503201f, 0xaa1e03e1, 0x94000100, 0xaa0103fe, 0xd65f03c0} { // nop, mov x1 lr, bl, mov lr x1, ret
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	steps := 1000
	f := Function{Code: code, Start: 0x1000, Sized: true}
	got := rowsText(cpu.ARM64, NewReader(cpu.ARM64, binary.LittleEndian).Rows(&f, func(uint64) *unwind.Row { return &leaf }, &steps))
	if want := "0-8 cfa = $sp, ra = $lr (topmost frame only); 8-c cfa = $sp, ra = $x1; c-10 cfa = $sp, ra = $x1; 10-14 cfa = $sp, ra = $x1"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func rowsText(arch *cpu.Arch, rows []Range) string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%x-%x %s", r.Start-0x1000, r.End-0x1000, r.Row.Describe(arch)))
	}
	return strings.Join(out, "; ")
}

// TestRowsCost: code that stores much and moves the stack pointer with each instruction takes no more
// time than other code.
func TestRowsCost(t *testing.T) {
	var code []byte
	for range 200 {
		code = append(code, 0x53) // push rbx
	}
	for len(code) < MaxSized-4 {
		code = append(code, 0x48, 0x83, 0xec, 0x08) // sub rsp, 8
	}
	began, steps := time.Now(), 16*len(code)
	NewReader(cpu.AMD64, binary.LittleEndian).Rows(&Function{Code: code, Start: 0x1000, Sized: true}, func(uint64) *unwind.Row { return nil }, &steps)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%v for %d bytes", took, len(code))
	} else {
		t.Log(took)
	}
}
