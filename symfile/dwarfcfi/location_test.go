package dwarfcfi_test

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// variables are those of a made unit of amd64.
func variables(base unwind.Rule) *dwarfcfi.Variables {
	return &dwarfcfi.Variables{
		Config:     dwarfcfi.Config{Arch: cpu.AMD64, Order: binary.LittleEndian, AddressSize: 8, File: "made.so"},
		Section:    ".debug_loclists",
		OffsetSize: 4,
		FrameBase:  base,
		Address:    func(n uint64) (uint64, bool) { return 0x4000 + 8*n, n < 2 },
	}
}

// frame is one in which rax is 7 and rsp 0x7000, whose function was called with 5 in rdi.
func frame(entry func([]unwind.Op) (uint64, bool)) *unwind.Scope {
	regs := cpu.Regs{Arch: cpu.AMD64}
	rax, _ := cpu.AMD64.Lookup("rax")
	regs.Set(rax, 7)
	regs.Set(cpu.AMD64.SP, 0x7000)
	return &unwind.Scope{Regs: &regs, Mem: everywhere{}, CFA: 0x7100, HasCFA: true, Moved: 0x550000, Entry: entry}
}

// TestLocations evaluates the location expressions that compilers write.
func TestLocations(t *testing.T) {
	cfa := unwind.Rule{Kind: unwind.FromCFA}
	number := func(v int64) unwind.Rule { return unwind.Rule{Kind: unwind.Const, Offset: v} }
	memory := func(v int64) unwind.Location { return unwind.Location{Kind: unwind.InMemory, Rule: number(v)} }
	value := func(v int64) unwind.Location { return unwind.Location{Kind: unwind.IsValue, Rule: number(v)} }
	inReg := func(name string) unwind.Location {
		r, _ := cpu.AMD64.Lookup(name)
		return unwind.Location{Kind: unwind.InRegister, Reg: r}
	}
	rdi, _ := cpu.AMD64.Lookup("rdi")
	called := func(code []unwind.Op) (uint64, bool) {
		return 5, len(code) == 1 && code[0] == unwind.Op{Kind: unwind.FromReg, Reg: rdi}
	}
	for name, c := range map[string]struct {
		code []byte
		want unwind.Location
	}{
		"nowhere":                    {nil, unwind.Location{}},
		"in a register":              {[]byte{0x50}, inReg("rax")},
		"DW_OP_regx":                 {[]byte{0x90, 12}, inReg("r12")},
		"in xmm0":                    {[]byte{0x61}, unwind.Location{Kind: unwind.InRegister, Reg: cpu.NoReg, Number: 17}},
		"from the frame base":        {[]byte{0x91, 0x6c}, memory(0x7100 - 20)},
		"from the CFA":               {[]byte{0x9c, 0x23, 8}, memory(0x7108)},
		"from a register":            {[]byte{0x77, 16}, memory(0x7010)},
		"through a pointer":          {[]byte{0x91, 0x68, 0x06, 0x23, 4}, memory(3*(0x7100-24) + 4)},
		"a global variable":          {[]byte{0x03, 0x10, 0x40, 0, 0, 0, 0, 0, 0}, memory(0x554010)},
		"a global by its index":      {[]byte{0xa1, 1}, memory(0x554008)},
		"a value":                    {[]byte{0x70, 1, 0x9f}, value(8)},
		"a constant":                 {[]byte{0x09, 0xfd, 0x9f}, value(-3)},
		"bytes":                      {[]byte{0x9e, 3, 1, 2, 3}, unwind.Location{Kind: unwind.IsBytes, Bytes: []byte{1, 2, 3}}},
		"an entry value":             {[]byte{0xa3, 1, 0x55, 0x23, 2, 0x9f}, value(7)},
		"an entry value of GNU":      {[]byte{0xf3, 1, 0x55, 0x9f}, value(5)},
		"a pointer to what is gone":  {[]byte{0xa0, 0x44, 0x33, 0, 0, 0x7c}, unwind.Location{Kind: unwind.IsPointer, Entity: 0x3344, Rule: number(-4)}},
		"after a jump":               {[]byte{0x31, 0x28, 3, 0, 0x70, 0, 0x9f, 0x77, 0}, unwind.Location{}},
		"a condition":                {[]byte{0x70, 0, 0x31, 0x28, 1, 0, 0x1f, 0x9f}, value(7)},
		"in two registers":           {[]byte{0x50, 0x93, 8, 0x51, 0x93, 8}, unwind.Location{Kind: unwind.InPieces, Pieces: []unwind.Piece{{Location: inReg("rax"), Bits: 64}, {Location: inReg("rdx"), Bits: 64}}}},
		"partly known":               {[]byte{0x93, 4, 0x91, 0x70, 0x93, 4}, unwind.Location{Kind: unwind.InPieces, Pieces: []unwind.Piece{{Bits: 32}, {Location: memory(0x70f0), Bits: 32}}}},
		"bits":                       {[]byte{0x50, 0x9d, 3, 2, 0x35, 0x9f, 0x9d, 5, 0}, unwind.Location{Kind: unwind.InPieces, Pieces: []unwind.Piece{{Location: inReg("rax"), Bits: 3, Skip: 2}, {Location: value(5), Bits: 5}}}},
		"a piece through a register": {[]byte{0x70, 0, 0x06, 0x93, 2}, unwind.Location{Kind: unwind.InPieces, Pieces: []unwind.Piece{{Location: memory(21), Bits: 16}}}},
	} {
		l, err := variables(cfa).Location(c.code, 0x40)
		if name == "after a jump" { // into the middle of what follows
			if err == nil {
				t.Errorf("%s: %+v", name, l)
			}
			continue
		}
		if got := l.In(frame(called)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// TestFrameBase: what is in the register is the base, which the expression may also compute.
func TestFrameBase(t *testing.T) {
	for _, c := range []struct {
		base []byte
		want string
	}{{[]byte{0x56}, "$rbp − 20"}, {[]byte{0x9c}, "cfa − 20"}, {[]byte{0x76, 16}, "$rbp − 4"}, {[]byte{0x76, 0x10, 0x06}, "[$rbp + 16] − 20"}} {
		base, err := variables(unwind.Rule{}).Value(c.base, 0)
		if err != nil {
			t.Fatal(err)
		}
		l, err := variables(base).Location([]byte{0x91, 0x6c}, 0)
		if err != nil || l.Kind != unwind.InMemory || l.Rule.Describe(cpu.AMD64) != c.want {
			t.Errorf("% x: %s, %v; want %s", c.base, l.Rule.Describe(cpu.AMD64), err, c.want)
		}
	}
}

// TestLocationsLost: what a location needs and the frame does not have is named, and costs only the
// piece that needs it.
func TestLocationsLost(t *testing.T) {
	unknown := func([]unwind.Op) (uint64, bool) { return 0, false }
	l, err := variables(unwind.Rule{}).Location([]byte{0x73, 8, 0x93, 4, 0xa3, 1, 0x55, 0x9f, 0x93, 4, 0x50, 0x93, 8}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := l.In(frame(unknown))
	var why []string
	for _, p := range got.Pieces {
		s := "known"
		if p.Err != nil && p.Kind == unwind.Nowhere {
			s = p.Err.Error()
		}
		why = append(why, s)
	}
	const want = "value: the value of $rbx is not known|value: the value that $rdi had at the function's entry is not known|known"
	if s := strings.Join(why, "|"); s != want {
		t.Errorf("%s; want %s", s, want)
	}
	scope := frame(nil)
	scope.HasCFA = false
	l, err = variables(unwind.Rule{Kind: unwind.FromCFA}).Location([]byte{0x91, 0}, 0)
	if got := l.In(scope); err != nil || got.Kind != unwind.Nowhere || got.Err == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBadLocations: damaged expressions are errors with an offset.
func TestBadLocations(t *testing.T) {
	for name, c := range map[string]struct {
		code []byte
		want string
	}{
		"no frame base":                  {[]byte{0x91, 0}, "offset 0x40: expected an operation that this expression can use, found DW_OP_fbreg"},
		"an index that is not there":     {[]byte{0xa1, 9}, "offset 0x40: expected an index in .debug_addr, found 9"},
		"a register and more":            {[]byte{0x50, 0x23, 1}, "offset 0x41"},
		"a register after a value":       {[]byte{0x31, 0x50}, "offset 0x41"},
		"a location after pieces":        {[]byte{0x50, 0x93, 8, 0x51}, "offset 0x44: expected DW_OP_piece after the last location"},
		"a value of nothing":             {[]byte{0x9f}, "leaves no value"},
		"a block beyond the end":         {[]byte{0x9e, 9, 1}, "an expression of 9 bytes"},
		"an entry value beyond the end":  {[]byte{0xa3, 9, 1}, "an expression of 9 bytes"},
		"an entry value of one":          {[]byte{0xa3, 3, 0xa3, 1, 0x55, 0x9f}, "DW_OP_entry_value"},
		"a piece of the address space":   {[]byte{0x50, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "offset 0x41: expected a piece of fewer than"},
		"half a piece":                   {[]byte{0x50, 0x9d, 1}, "more bytes"},
		"a type that is not there":       {[]byte{0x50, 0xa8, 0x10}, "DW_OP_convert"},
		"a register that amd64 lacks":    {[]byte{0x92, 0x7f, 0}, "DWARF register 127"},
		"a jump from one piece to other": {[]byte{0x77, 0, 0x2f, 4, 0, 0x93, 8, 0x77, 0, 0x93, 8}, "inside an operation"},
	} {
		l, err := variables(unwind.Rule{}).Location(c.code, 0x40)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %s", name, l, err, c.want)
		}
	}
}

// FuzzLocation: whatever a location is, it can be evaluated, and evaluation ends.
func FuzzLocation(f *testing.F) {
	f.Add([]byte{0x91, 0x6c, 0x93, 4, 0xa3, 1, 0x55, 0x9f, 0x93, 4})
	f.Add([]byte{0x30, 0x35, 0x12, 0x17, 0x22, 0x16, 0x31, 0x1c, 0x12, 0x28, 0xf7, 0xff, 0x13})
	f.Fuzz(func(t *testing.T, code []byte) {
		l, err := variables(unwind.Rule{Kind: unwind.FromCFA}).Location(code, 0)
		if err == nil {
			l.In(frame(func([]unwind.Op) (uint64, bool) { return 1, true }))
		}
	})
}
