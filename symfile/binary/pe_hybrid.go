package binary

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/pdata"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// kindTable is a function table of a hybrid file, limited to the code of some kinds. Such a file
// has code of two processors, and pe.File.CodeKind says which an address has.
//
//	ARM64EC   header AMD64   ARM64 code in a process of x64 code, with contexts of x64
//	ARM64X    header ARM64   the same file as ARM64 or as ARM64EC, as the process needs it
type kindTable struct {
	unwind.Table
	pe   *pe.File
	is   func(kind uint8) bool
	turn func(row unwind.Row) (unwind.Row, bool) // nil if rows are as they should be
}

// Row implements unwind.Table for the code of one kind.
func (t kindTable) Row(rva uint64) (unwind.Row, bool, error) {
	if kind, ok := t.pe.CodeKind(rva); !ok || !t.is(kind) {
		return unwind.Row{}, false, nil
	}
	row, ok, err := t.Table.Row(rva)
	if ok && t.turn != nil {
		row, ok = t.turn(row)
	}
	return row, ok, err
}

// Each implements unwind.Table for the code of one kind.
func (t kindTable) Each(f func(start, end uint64, row unwind.Row) error) error {
	return t.Table.Each(func(start, end uint64, row unwind.Row) error {
		if kind, ok := t.pe.CodeKind(start); !ok || !t.is(kind) {
			return nil
		}
		if t.turn != nil {
			var ok bool
			if row, ok = t.turn(row); !ok {
				return nil
			}
		}
		return f(start, end, row)
	})
}

// hybridTables adds the function tables of a file with code of two processors. The exception
// directory has the functions of the header's processor; those of the other are in a table that the
// load configuration names (CHPE metadata).
func (f *peProgram) hybridTables(add func(kind string, open func() (unwind.Table, error))) {
	isX64 := func(kind uint8) bool { return kind == pe.CodeX64 }
	isARM64 := func(kind uint8) bool { return !isX64(kind) }
	own := isARM64
	if f.pe.Arch == cpu.AMD64 {
		own = isX64
	}
	if src, _ := f.pe.Exceptions(); src != nil {
		add(".pdata", func() (unwind.Table, error) {
			t, err := f.pdata()
			return kindTable{Table: t, pe: f.pe, is: own}, err
		})
	}
	if src := f.pe.ExtraExceptions(); src != nil && f.pe.Arch == cpu.AMD64 {
		add(".pdata of ARM64EC code", func() (unwind.Table, error) {
			t, err := pdata.Open(src, pdata.Config{Arch: cpu.ARM64, File: f.src.Name, At: f.pe.At, Code: f.pe.Code(), Place: f.pe.Place})
			return kindTable{Table: t, pe: f.pe, is: isARM64, turn: inX64Registers}, err
		})
	}
	if src, _ := f.pe.Exceptions(); src != nil {
		add("leaf functions", func() (unwind.Table, error) {
			t, err := f.pdata()
			if err != nil {
				return nil, err
			}
			return kindTable{Table: t.Leaves(), pe: f.pe, is: own}, nil
		})
	}
}

// x64Names maps the registers of ARM64EC code to those of an x64 context. Those that are missing
// have no integer register of x64: lr, x6, x7 and x9 to x17. Code of this kind uses none of x13,
// x14, x23, x24 and x28.
//
// Source: "ARM64EC ABI", "Register mapping" (Microsoft).
var x64Names = map[string]string{"x8": "rax", "x0": "rcx", "x1": "rdx", "x27": "rbx", "sp": "rsp", "fp": "rbp", "x25": "rsi", "x26": "rdi", "x2": "r8", "x3": "r9",
	"x4": "r10", "x5": "r11", "x19": "r12", "x20": "r13", "x21": "r14", "x22": "r15", "pc": "rip"}

// inX64Registers rewrites rules of ARM64EC code for the registers of x64. It returns false if they
// need a register that x64 does not have, such as lr before a function has saved it.
func inX64Registers(row unwind.Row) (unwind.Row, bool) {
	reg := func(r cpu.Reg) (cpu.Reg, bool) {
		name, ok := x64Names[cpu.ARM64.RegName(r)]
		if !ok {
			return cpu.NoReg, false
		}
		return cpu.AMD64.Lookup(name)
	}
	rule := func(r *unwind.Rule) (ok bool) {
		switch r.Kind {
		case unwind.FromReg, unwind.AtReg:
			r.Reg, ok = reg(r.Reg)
			return ok
		case unwind.Computed:
			return false
		}
		return true
	}
	if !rule(&row.CFA) || !rule(&row.RA) {
		return unwind.Row{Origin: row.Origin}, false
	}
	var saved []unwind.RegRule
	for _, s := range row.Saved {
		r, ok := reg(s.Reg)
		if ok && rule(&s.Rule) {
			saved = append(saved, unwind.RegRule{Reg: r, Rule: s.Rule})
		}
	}
	// Of rsi and rdi, which Windows' calls preserve, the processor's table has that they are lost.
	for _, name := range []string{"rsi", "rdi"} {
		r, _ := cpu.AMD64.Lookup(name)
		if !slices.ContainsFunc(saved, func(s unwind.RegRule) bool { return s.Reg == r }) {
			saved = append(saved, unwind.RegRule{Reg: r, Rule: unwind.Rule{Kind: unwind.Same}})
		}
	}
	row.Saved, row.Signed = saved, 0
	return row, true
}
