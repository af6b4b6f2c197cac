package x86code

import (
	"strings"
	"testing"
)

// TestEpilogue: from each instruction of an epilogue the rest of it is undone, and nothing is said
// of code that only looks like one.
func TestEpilogue(t *testing.T) {
	const far = 0x100 // what is there is another function
	leaves := func(to int64) bool { return to >= far }
	for _, c := range []struct {
		what     string
		code     []byte
		want     string
		restored uint32
	}{
		{"ret", []byte{0xc3}, "$T0 $esp 0 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"ret n", []byte{0xc2, 8, 0}, "$T0 $esp 0 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"rep ret", []byte{0xf3, 0xc3}, "$T0 $esp 0 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"pops", []byte{0x5e, 0x5f, 0x5d, 0xc3}, "$T0 $esp 12 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ = $esi $T0 12 - ^ = $edi $T0 8 - ^ =", 12},
		{"a pop that only moves esp", []byte{0x59, 0xc3}, "$T0 $esp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"leave", []byte{0x5e, 0xc9, 0xc3}, "$T0 $ebp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ = $esi $T1 0 + ^ =", 8},
		{"mov esp, ebp", []byte{0x8b, 0xe5, 0x5d, 0xc3}, "$T0 $ebp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ =", 4},
		{"the other mov", []byte{0x89, 0xec, 0x5d, 0xc3}, "$T0 $ebp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ =", 4},
		{"add esp", []byte{0x83, 0xc4, 0x10, 0x5b, 0xc3}, "$T0 $esp 20 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebx $T0 4 - ^ =", 4},
		{"add esp, much", []byte{0x81, 0xc4, 0, 1, 0, 0, 0xc3}, "$T0 $esp 256 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"lea esp", []byte{0x8d, 0x65, 0xf8, 0x5e, 0x5f, 0x5d, 0xc3}, "$T0 $ebp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ = $esi $T0 12 - ^ = $edi $T0 8 - ^ =", 12},
		{"call in the end", []byte{0x5d, 0xe9, 0xfa, 0, 0, 0}, "$T0 $esp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ =", 4},
		{"jump in the function", []byte{0x59, 0xe9, 0xf9, 0, 0, 0}, "", 0},
		{"short jump back", []byte{0x59, 0xeb, 0x80}, "", 0},
		{"jump through a variable", []byte{0xff, 0x25, 0, 0, 0, 0}, "$T0 $esp 0 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =", 0},
		{"switch", []byte{0xff, 0x24, 0x85, 0, 0, 0, 0}, "", 0},
		{"jump through a pointer", []byte{0xff, 0xe0}, "", 0},
		{"the same after a pop", []byte{0x5e, 0xff, 0xe0}, "$T0 $esp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + = $esi $T0 4 - ^ =", 4},
		{"something else before the return", []byte{0x5e, 0x33, 0xc0, 0xc3}, "", 0},
		{"the same register twice", []byte{0x5e, 0x5e, 0xc3}, "", 0},
		{"ebp is gone", []byte{0x5d, 0xc9, 0xc3}, "", 0},
		{"pop esp", []byte{0x5c, 0xc3}, "", 0},
		{"cut off", []byte{0x5e, 0x5f}, "", 0},
		{"cut off in an instruction", []byte{0x83, 0xc4}, "", 0},
		{"nothing", nil, "", 0},
	} {
		if program, restored := Epilogue(c.code, leaves); program != c.want || restored != c.restored {
			t.Errorf("%s: %q %d, want %q %d", c.what, program, restored, c.want, c.restored)
		}
	}
}

// TestAfterCall: the last byte of a call is told from an instruction.
func TestAfterCall(t *testing.T) {
	near := func(d int64) bool { return d > -0x1000 && d < 0x1000 }
	for _, c := range []struct {
		before []byte
		want   bool
	}{
		{[]byte{0x90, 0xe8, 0x10, 0, 0, 0}, true}, {[]byte{0x90, 0xe8, 0x10, 0, 0, 0x5d}, false}, {[]byte{0xff, 0xd6}, true}, {[]byte{0xff, 0x55, 0x58}, true},
		{[]byte{0xff, 0x54, 0x24, 0x58}, true}, {[]byte{0xff, 0x15, 0, 0, 0, 0x5d}, true}, {[]byte{0xff, 0x94, 0x24, 0, 0, 0, 0x5d}, true},
		{[]byte{0x8b, 0x5d, 0x5e}, false}, {[]byte{0xff, 0x75, 0x5e}, false}, {[]byte{0x5e}, false}, {nil, false},
	} {
		if have := AfterCall(c.before, near); have != c.want {
			t.Errorf("% x: %v", c.before, have)
		}
	}
}

// TestEntry: what a function's first instructions did is undone at each of them, as far as they are
// sure to have been executed.
func TestEntry(t *testing.T) {
	prologue := []byte{0x8b, 0xff, 0x55, 0x8b, 0xec, 0x6a, 1, 0x68, 1, 2, 3, 4, 0x83, 0xec, 0x10, 0x56, 0x8b, 0x45, 8, 0x57}
	probe := []byte{0x59, 0x29, 0xc4, 0xff, 0xe1}
	other := []byte{0x59, 0x2b, 0xe0, 0xff, 0xe1}
	for _, c := range []struct {
		code   []byte
		offset int
		want   string
		saved  uint32
		odd    bool
	}{
		{prologue, 0, "$T0 $esp 4 + = $eip $T0 4 - ^ = $esp $T0 =", 0, false},
		{prologue, 1, "", 0, false},
		{prologue, 3, "$T0 $esp 8 + = $eip $T0 4 - ^ = $esp $T0 = $ebp $T0 8 - ^ =", 4, false},
		{prologue, 16, "$T0 $esp 36 + = $eip $T0 4 - ^ = $esp $T0 = $ebp $T0 8 - ^ = $esi $T0 36 - ^ =", 8, false},
		{prologue, 19, "", 0, false}, // a mov may be anything
		{probe, 1, "$T0 $esp 0 + = $eip $ecx = $esp $T0 =", 0, true},
		{probe, 3, "$T0 $esp 0 + $eax + = $eip $ecx = $esp $T0 =", 0, true},
		{other, 3, "$T0 $esp 0 + $eax + = $eip $ecx = $esp $T0 =", 0, true},
		{probe, 5, "", 0, false},
		{[]byte{0x81, 0xec, 0, 1, 0, 0, 0x90}, 6, "$T0 $esp 260 + = $eip $T0 4 - ^ = $esp $T0 =", 0, false},
		{[]byte{0x59, 0x29, 0xcc}, 3, "", 0, false}, // the size is where the return address is
		{[]byte{0x83}, 1, "", 0, false},
		{nil, 0, "$T0 $esp 4 + = $eip $T0 4 - ^ = $esp $T0 =", 0, false},
		{nil, 5, "", 0, false},
	} {
		if program, saved, odd := Entry(c.code, c.offset); program != c.want || saved != c.saved || odd != c.odd {
			t.Errorf("% x at %d: %q %d %v, want %q %d %v", c.code, c.offset, program, saved, odd, c.want, c.saved, c.odd)
		}
	}
}

// FuzzCode reads any bytes as code.
func FuzzCode(f *testing.F) {
	for _, seed := range [][]byte{{0x5e, 0x5f, 0xc9, 0xc3}, {0x8d, 0x65, 0xf8, 0x5d, 0xe9, 0xfa, 0, 0, 0}, {0x59, 0x29, 0xc4, 0xff, 0xe1}, {0x55, 0x8b, 0xec, 0x81, 0xec, 0, 1, 0, 0}} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, code []byte, offset int) {
		program, _ := Epilogue(code, func(int64) bool { return true })
		entry, _, _ := Entry(code, offset)
		AfterCall(code, func(int64) bool { return true })
		for _, p := range []string{program, entry} {
			if p != "" && (!strings.Contains(p, "$eip") || !strings.Contains(p, "$esp $T0")) {
				t.Errorf("% x: %q", code, p)
			}
		}
	})
}
