package dumpsyms_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// functions is a list that tells its functions.
type functions []symbol.Function

func (l functions) Each(f func(symbol.Function) error) error {
	for _, fn := range l {
		if err := f(fn); err != nil {
			return err
		}
	}
	return nil
}

// rows is a list of ranges that is a table.
type rows []rowOf

type rowOf struct {
	start, end uint64
	row        unwind.Row
}

func (t rows) Row(rva uint64) (unwind.Row, bool, error) {
	for _, s := range t {
		if rva >= s.start && rva < s.end {
			return s.row, true, nil
		}
	}
	return unwind.Row{}, false, nil
}

func (t rows) Each(f func(start, end uint64, row unwind.Row) error) error {
	for _, s := range t {
		if err := f(s.start, s.end, s.row); err != nil {
			return err
		}
	}
	return nil
}

func (t rows) Warnings() []string { return nil }

func write(t *testing.T, in dumpsyms.Input) (string, dumpsyms.Counts) {
	t.Helper()
	var b bytes.Buffer
	n, err := dumpsyms.Write(&b, in)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), n
}

func open(t *testing.T, text string) *symfile.File {
	t.Helper()
	f, err := symfile.Open(input.FromBytes("x.sym", []byte(text)), symfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var module = dumpsyms.Module{OS: "Linux", Arch: "x86_64", ID: "0123456789ABCDEF0123456789ABCDEF0", Name: "lib of mine.so", CodeID: "67452301ab"}

// TestText holds the form of every record.
func TestText(t *testing.T) {
	amd64 := func(name string) cpu.Reg { r, _ := cpu.AMD64.Lookup(name); return r }
	at := func(off int64) unwind.Rule { return unwind.Rule{Kind: unwind.AtCFA, Offset: off} }
	sp := func(off int64) unwind.Rule { return unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: off} }
	rbx := []unwind.RegRule{{Reg: amd64("rbx"), Rule: at(-16)}}
	rax := []unwind.RegRule{{Reg: amd64("rax"), Rule: at(-16)}}
	fde := func(off int64) unwind.Origin { return unwind.Origin{File: "x", Part: ".eh_frame", Offset: off} }
	text, n := write(t, dumpsyms.Input{Module: module, CPU: cpu.AMD64,
		Functions: functions{
			{Name: "split", Ranges: []symbol.Range{{Start: 0x1000, Size: 0x20}, {Start: 0x3000, Size: 8}}, ParamSize: 12,
				Lines: []symbol.Line{{Range: symbol.Range{Start: 0x1000, Size: 8}, File: "/src/a.c", Line: 10}, {Range: symbol.Range{Start: 0x1008, Size: 0x18}, File: "/src/b.h", Line: 7},
					{Range: symbol.Range{Start: 0x3000, Size: 8}, File: "", Line: 0}},
				Inlines: []symbol.InlineCall{
					{Depth: 0, Name: "outer", CallFile: "/src/a.c", CallLine: 11, Ranges: []symbol.Range{{Start: 0x1008, Size: 8}, {Start: 0x1018, Size: 8}, {Start: 0x3000, Size: 4}}},
					{Depth: 1, Name: "", CallFile: "/src/c.h", CallLine: 3, Ranges: []symbol.Range{{Start: 0x1008, Size: 4}}}}},
			{Name: "first\nFUNC 0 1 0 evil", Ranges: []symbol.Range{{Start: 0x2000, Size: 4}}},
			{Name: "second", Ranges: []symbol.Range{{Start: 0x2000, Size: 8}}},
		},
		Publics: func(f func(uint64, string) error) error {
			return errors.Join(f(0x4000, "late"), f(0x1004, "inside"), f(0x800, "_init"), f(0x800, "again"), f(0, "nothing"))
		},
		Unwind: []unwind.Table{rows{
			{0x1000, 0x1001, unwind.Row{CFA: sp(8), RA: at(-8), Origin: fde(1)}},
			{0x1001, 0x1010, unwind.Row{CFA: sp(16), RA: at(-8), Saved: rbx, Origin: fde(1)}},
			{0x1010, 0x1012, unwind.Row{CFA: sp(16), RA: at(-8), Origin: fde(1)}},
			{0x1012, 0x1014, unwind.Row{CFA: sp(16), RA: at(-8), Saved: rax, Origin: fde(1)}},
			{0x1014, 0x1020, unwind.Row{CFA: sp(16), RA: at(-8), Origin: fde(1)}},
			{0x1020, 0x1030, unwind.Row{CFA: sp(16), RA: at(-8), Origin: fde(9)}},
			{0x1030, 0x1040, unwind.Row{CFA: sp(8), RA: unwind.Rule{Kind: unwind.Undefined}, Origin: fde(20)}},
			{0x1040, 0x1050, unwind.Row{CFA: unwind.Rule{Kind: unwind.Undefined}, RA: at(-8), Origin: fde(30)}},
		}, rows{
			{0xff0, 0x1008, unwind.Row{CFA: sp(24), RA: at(-8), Origin: unwind.Origin{Part: ".sframe", Offset: 2}}},
			{0x103c, 0x1044, unwind.Row{CFA: sp(32), RA: at(-8), Origin: unwind.Origin{Part: ".sframe", Offset: 3}}},
		}},
		Demangle: func(s string) string { return strings.ReplaceAll(s, "split", "split(int)") },
	})
	const want = `MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 lib of mine.so
INFO CODE_ID 67452301AB
FILE 0 /src/a.c
FILE 1 /src/b.h
FILE 2 /src/c.h
FILE 3 <unknown>
INLINE_ORIGIN 0 outer
INLINE_ORIGIN 1 <name omitted>
PUBLIC 800 0 _init
FUNC 1000 20 c split(int)
INLINE 0 11 0 0 1008 8 1018 8
INLINE 1 3 2 1 1008 4
1000 8 10 0
1008 18 7 1
FUNC m 2000 4 0 first FUNC 0 1 0 evil
FUNC 3000 8 c split(int)
INLINE 0 11 0 0 3000 4
3000 8 0 3
PUBLIC 4000 0 late
STACK CFI INIT ff0 10 .cfa: $rsp 24 + .ra: .cfa -8 + ^
STACK CFI INIT 1000 14 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa -16 + ^
STACK CFI 1010 $rbx: $rbx
STACK CFI 1012 $rax: .cfa -16 + ^
STACK CFI INIT 1014 c .cfa: $rsp 16 + .ra: .cfa -8 + ^
STACK CFI INIT 1020 10 .cfa: $rsp 16 + .ra: .cfa -8 + ^
STACK CFI INIT 1030 10 .cfa: $rsp 8 +
STACK CFI INIT 1040 4 .cfa: $rsp 32 + .ra: .cfa -8 + ^
`
	if text != want {
		t.Errorf("have\n%s\nwant\n%s", text, want)
	}
	if n.Funcs != 3 || n.Overlapping != 1 || n.Inexpressible != 1 || !strings.Contains(n.InexpressibleFirst, "0x1040 to 0x1050, x .eh_frame+0x1e") {
		t.Errorf("%+v", n)
	}
	if f := open(t, text); f.WarningCount != 0 {
		t.Errorf("our reader warns: %v", f.Warnings)
	}
}

// TestByAddress: the cfa of linkers' stubs is written address by address, and a file of crafted
// expressions costs a bounded time.
func TestByAddress(t *testing.T) {
	// .plt's expression: rsp + 8 + ((rip & 15) >= 11) << 3.
	reg := func(r cpu.Reg) unwind.Op { return unwind.Op{Kind: unwind.FromReg, Reg: r} }
	sp, pc := reg(cpu.AMD64.SP), reg(cpu.AMD64.PC)
	number := func(v int64) unwind.Op { return unwind.Op{Kind: unwind.Const, Offset: v} }
	and, add := unwind.Op{Kind: unwind.And}, unwind.Op{Kind: unwind.Add}
	plt := unwind.Row{CFA: unwind.Rule{Kind: unwind.Computed, Code: []unwind.Op{sp, number(8), add, pc, number(15), and, number(11), {Kind: unwind.Ge},
		number(3), {Kind: unwind.Shl}, add}}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}}
	text, n := write(t, dumpsyms.Input{Module: module, CPU: cpu.AMD64, Unwind: []unwind.Table{rows{{0x1020, 0x1040, plt}}}})
	want := "STACK CFI INIT 1020 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 102b .cfa: $rsp 16 +\nSTACK CFI 1030 .cfa: $rsp 8 +\nSTACK CFI 103b .cfa: $rsp 16 +\n"
	if !strings.HasSuffix(text, want) || n.Inexpressible != 0 {
		t.Errorf("%+v\n%s", n, text)
	}
	// What depends on another register, on memory or on where the module is has no such words.
	for _, program := range [][]unwind.Op{{sp, reg(0), number(1), and, add}, {sp, {Kind: unwind.LoadSized, Arg: 4}, number(8), add}, {sp, pc, {Kind: unwind.Or}}} {
		row := plt
		row.CFA.Code = program
		if text, n := write(t, dumpsyms.Input{Module: module, CPU: cpu.AMD64, Unwind: []unwind.Table{rows{{0x1020, 0x1040, row}}}}); strings.Contains(text, "STACK") || n.Inexpressible != 1 {
			t.Errorf("%v: %+v\n%s", program, n, text)
		}
	}
	var many rows
	for i := range uint64(1000) {
		many = append(many, rowOf{i << 19, (i + 1) << 19, plt})
	}
	if _, n := write(t, dumpsyms.Input{Module: module, CPU: cpu.AMD64, Unwind: []unwind.Table{many}}); n.Inexpressible < 990 {
		t.Errorf("%+v", n)
	}
}

// TestPlainNames: the readers of ARM and ARM64 records know registers without "$" only.
func TestPlainNames(t *testing.T) {
	text, _ := write(t, dumpsyms.Input{Module: module, CPU: cpu.ARM64, Unwind: []unwind.Table{rows{
		{0x10, 0x14, unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM64.SP}, RA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM64.LR}}},
		{0x14, 0x20, unwind.Row{CFA: unwind.Rule{Kind: unwind.Computed, Code: []unwind.Op{{Kind: unwind.AtReg, Reg: cpu.ARM64.SP, Offset: 16}}}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8},
			Saved: []unwind.RegRule{{Reg: cpu.ARM64.FP, Rule: unwind.Rule{Kind: unwind.AtCFA}}}}}}}})
	fp, lr := cpu.ARM64.RegName(cpu.ARM64.FP), cpu.ARM64.RegName(cpu.ARM64.LR)
	want := "STACK CFI INIT 10 10 .cfa: sp 0 + .ra: " + lr + "\nSTACK CFI 14 .cfa: sp 16 + ^ .ra: .cfa -8 + ^ " + fp + ": .cfa 0 + ^\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("%s\nwant at its end\n%s", text, want)
	}
}

// TestReadBack: whatever is written is read back as what it was, at every address.
func TestReadBack(t *testing.T) {
	for seed := range int64(60) {
		rnd := rand.New(rand.NewSource(seed))
		arch := []*cpu.Arch{cpu.AMD64, cpu.X86, cpu.ARM64, cpu.MIPS, cpu.S390X}[seed%5]
		fns, top := randomFunctions(rnd)
		table := randomRows(rnd, arch, top)
		text, n := write(t, dumpsyms.Input{Module: module, CPU: arch, Functions: fns, Unwind: []unwind.Table{table}})
		if n.Overlapping != 0 || n.Inexpressible != 0 {
			t.Fatalf("seed %d: %+v", seed, n)
		}
		f := open(t, text)
		if f.WarningCount != 0 {
			t.Fatalf("seed %d: %v", seed, f.Warnings)
		}
		for rva := uint64(0xff0); rva < top+0x20; rva++ {
			have, _, err := f.Lookup(rva)
			if err != nil {
				t.Fatal(err)
			}
			if want := lookup(fns, rva); fmt.Sprintf("%+v", have) != fmt.Sprintf("%+v", want) {
				t.Fatalf("seed %d at 0x%x:\nread back %+v\nwas %+v\n%s", seed, rva, have, want, text)
			}
			row, ans, err := f.Row(arch, rva)
			want, ok, _ := table.Row(rva)
			if err != nil || (ans == symbol.Yes) != ok || ok && !same(arch, &row, &want) {
				t.Fatalf("seed %d at 0x%x:\nread back %v %v %v\nwas %v\n%s", seed, rva, row.Describe(arch), ans, err, want.Describe(arch), text)
			}
		}
	}
}

// TestTables: of several tables the first that covers an address counts, and within a table the
// entry that starts first, whatever order the entries are in.
func TestTables(t *testing.T) {
	const top = 0x400
	for seed := range int64(200) {
		rnd := rand.New(rand.NewSource(seed))
		var want [top]int64 // the distance of the cfa at each address, 0 for no rules
		var tables []unwind.Table
		cfa := int64(0)
		for range 1 + rnd.Intn(3) {
			var table rows
			for range rnd.Intn(40) {
				start := uint64(0x10 + rnd.Intn(top-0x60))
				cfa += 8
				table = append(table, rowOf{start, start + uint64(rnd.Intn(0x40)), unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: cfa},
					RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}, Origin: unwind.Origin{Part: ".eh_frame", Offset: int64(rnd.Intn(20))}}})
			}
			inOrder := slices.Clone(table)
			slices.SortStableFunc(inOrder, func(a, b rowOf) int { return cmp.Compare(a.start, b.start) })
			if seed%2 == 0 {
				table = inOrder
			}
			for _, s := range inOrder {
				for a := s.start; a < s.end; a++ {
					if want[a] == 0 {
						want[a] = s.row.CFA.Offset
					}
				}
			}
			tables = append(tables, table)
		}
		text, _ := write(t, dumpsyms.Input{Module: module, CPU: cpu.AMD64, Unwind: tables})
		f := open(t, text)
		for a := range uint64(top) {
			row, _, err := f.Row(cpu.AMD64, a)
			if err != nil {
				t.Fatal(err)
			}
			if row.CFA.Offset != want[a] {
				t.Fatalf("seed %d: cfa at 0x%x is rsp+%d, want rsp+%d\n%s", seed, a, row.CFA.Offset, want[a], text)
			}
		}
	}
}

// TestCannotUnwind: that a function cannot be unwound is not a rule, and ends the record before it.
// One that has no caller has a record without a return address.
func TestCannotUnwind(t *testing.T) {
	row := func(n int64) unwind.Row {
		return unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM.SP, Offset: n}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -4},
			Origin: unwind.Origin{Part: ".ARM.exidx", Offset: n}}
	}
	none := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.ARM.SP}, RA: unwind.Rule{Kind: unwind.Undefined}, Outermost: true}
	leaf := none
	leaf.CannotUnwind = true
	text, _ := write(t, dumpsyms.Input{Module: module, CPU: cpu.ARM, Unwind: []unwind.Table{rows{{0x10, 0x20, row(8)}, {0x20, 0x80, leaf}, {0x80, 0x90, none}}}})
	if want := "STACK CFI INIT 10 10 .cfa: sp 8 + .ra: .cfa -4 + ^\nSTACK CFI INIT 80 10 .cfa: sp 0 +\n"; !strings.HasSuffix(text, want) {
		t.Errorf("%s\nwant at its end\n%s", text, want)
	}
}

// same compares rows as what they recover: "unchanged" and "no rule" are one for registers that
// calls preserve.
func same(arch *cpu.Arch, a, b *unwind.Row) bool {
	strip := func(r unwind.Row) unwind.Row {
		r.Saved = slices.DeleteFunc(slices.Clone(r.Saved), func(s unwind.RegRule) bool {
			return s.Rule.Kind == unwind.Same && slices.Contains(arch.CalleeSaved, s.Reg)
		})
		return r
	}
	x, y := strip(*a), strip(*b)
	return x.Equal(&y)
}

func randomFunctions(rnd *rand.Rand) (functions, uint64) {
	var out functions
	at := uint64(0x1000)
	var cold []int
	for i := range 1 + rnd.Intn(20) {
		size := uint64(1 + rnd.Intn(60))
		f := symbol.Function{Name: fmt.Sprintf("f%d", i), Ranges: []symbol.Range{{Start: at, Size: size}}, ParamSize: uint32(rnd.Intn(3))}
		if rnd.Intn(3) == 0 {
			cold = append(cold, len(out))
		}
		out = append(out, f)
		at += size + uint64(rnd.Intn(9))
	}
	for _, i := range cold {
		size := uint64(1 + rnd.Intn(20))
		out[i].Ranges = append(out[i].Ranges, symbol.Range{Start: at, Size: size})
		at += size
	}
	for i := range out {
		f := &out[i]
		for _, r := range f.Ranges {
			for a := r.Start; a < r.Start+r.Size; {
				n := min(uint64(1+rnd.Intn(9)), r.Start+r.Size-a)
				if rnd.Intn(5) > 0 {
					f.Lines = append(f.Lines, symbol.Line{Range: symbol.Range{Start: a, Size: n}, File: fmt.Sprintf("/s/%d.c", rnd.Intn(5)), Line: uint32(rnd.Intn(300))})
				}
				a += n
			}
		}
		// A nest of calls, each inside of the one before.
		inside := slices.Clone(f.Ranges)
		for depth := range rnd.Intn(4) {
			var ranges []symbol.Range
			for _, r := range inside {
				if lo := uint64(rnd.Intn(int(r.Size))); rnd.Intn(4) > 0 {
					ranges = append(ranges, symbol.Range{Start: r.Start + lo, Size: 1 + uint64(rnd.Intn(int(r.Size-lo)))})
				}
			}
			if len(ranges) == 0 {
				break
			}
			f.Inlines = append(f.Inlines, symbol.InlineCall{Depth: depth, Name: fmt.Sprintf("in%d", rnd.Intn(9)), CallFile: fmt.Sprintf("/s/%d.c", rnd.Intn(5)),
				CallLine: uint32(1 + rnd.Intn(300)), Ranges: ranges})
			inside = ranges
		}
	}
	return out, at
}

// lookup is the answer for an address, found by looking at everything.
func lookup(fns functions, rva uint64) symbol.Symbol {
	has := func(all []symbol.Range) (symbol.Range, bool) {
		for _, r := range all {
			if rva >= r.Start && rva-r.Start < r.Size {
				return r, true
			}
		}
		return symbol.Range{}, false
	}
	for _, f := range fns {
		r, ok := has(f.Ranges)
		if !ok {
			continue
		}
		s := symbol.Symbol{Name: f.Name, Start: r.Start, Size: r.Size, ParamSize: f.ParamSize}
		for _, l := range f.Lines {
			if rva >= l.Start && rva-l.Start < l.Size {
				s.File, s.Line, s.HasLine, s.LineStart = l.File, l.Line, true, l.Start
			}
		}
		line := s
		for _, in := range f.Inlines {
			part, ok := has(in.Ranges)
			if !ok {
				continue
			}
			// The place so far is that of the code itself, which belongs to the innermost call; the
			// call site is the outer one's.
			call := symbol.Inline{Name: in.Name, File: line.File, Line: line.Line, HasLine: line.HasLine, Start: part.Start}
			if len(s.Inlines) == 0 {
				s.File, s.Line, s.HasLine = in.CallFile, in.CallLine, true
				if !line.HasLine {
					s.LineStart = part.Start
				}
			} else {
				s.Inlines[0].File, s.Inlines[0].Line, s.Inlines[0].HasLine = in.CallFile, in.CallLine, true
			}
			s.Inlines = append([]symbol.Inline{call}, s.Inlines...)
		}
		return s
	}
	return symbol.Symbol{}
}

func randomRows(rnd *rand.Rand, arch *cpu.Arch, top uint64) rows {
	var out rows
	fde := int64(0)
	saved := append(slices.Clone(arch.CalleeSaved), 0)
	for at := uint64(0x1000); at < top; fde++ {
		for range 1 + rnd.Intn(6) {
			n := uint64(1 + rnd.Intn(12))
			row := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: arch.SP, Offset: int64(rnd.Intn(5) * 8)}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8},
				Origin: unwind.Origin{Part: ".eh_frame", Offset: fde}}
			if rnd.Intn(4) == 0 {
				row.CFA = unwind.Rule{Kind: unwind.AtReg, Reg: arch.FP, Offset: -8}
			}
			if arch.LR != cpu.NoReg && rnd.Intn(2) == 0 {
				row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: arch.LR}
			}
			for _, r := range saved {
				if r == arch.SP || r == arch.PC || rnd.Intn(3) > 0 {
					continue
				}
				ru := []unwind.Rule{{Kind: unwind.AtCFA, Offset: int64(-8 * (2 + rnd.Intn(4)))}, {Kind: unwind.Same}, {Kind: unwind.FromCFA, Offset: -24},
					{Kind: unwind.AtReg, Reg: arch.SP, Offset: 4}, {Kind: unwind.Const, Offset: 77}}[rnd.Intn(5)]
				row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: ru})
			}
			out = append(out, rowOf{at, at + n, row})
			at += n
		}
		at += uint64(rnd.Intn(3) * 4)
	}
	return out
}

// TestWriterFails: an error of the writer, or of what is read, is not lost.
func TestWriterFails(t *testing.T) {
	full := errors.New("the disk is full")
	fns := functions{{Name: "f", Ranges: []symbol.Range{{Start: 1, Size: 1}}}}
	if _, err := dumpsyms.Write(failing{full}, dumpsyms.Input{Module: module, Functions: fns}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	bad := func(func(uint64, string) error) error { return full }
	if _, err := dumpsyms.Write(&bytes.Buffer{}, dumpsyms.Input{Module: module, Publics: bad}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestNameEnd: where a function without a name begins before the next record, a PUBLIC says so.
func TestNameEnd(t *testing.T) {
	ends := map[uint64]uint64{0x1000: 0x1010, 0x1100: 0x1200, 0x1200: 0x1280, 0x1400: 0x1500}
	text, n := write(t, dumpsyms.Input{Module: dumpsyms.Module{OS: "windows", Arch: "x86_64", ID: "0", Name: "app.pdb", CodeName: "app.exe"},
		Functions: functions{{Name: "f", Ranges: []symbol.Range{{Start: 0x1300, Size: 0x20}}}},
		Publics: func(f func(uint64, string) error) error {
			return errors.Join(f(0x1000, "a"), f(0x1000, "alias"), f(0x1100, "b"), f(0x1200, "c"), f(0x1310, "inside"), f(0x1400, "d"))
		},
		NameEnd: func(start, limit uint64) (uint64, error) { return min(ends[start], limit), nil },
	})
	const want = `MODULE windows x86_64 0 app.pdb
PUBLIC 1000 0 a
PUBLIC 1010 0 <unknown in app.exe>
PUBLIC 1100 0 b
PUBLIC 1200 0 c
PUBLIC 1280 0 <unknown in app.exe>
FUNC 1300 20 0 f
PUBLIC 1400 0 d
PUBLIC 1500 0 <unknown in app.exe>
`
	if text != want || n.Publics != 7 {
		t.Errorf("%d names:\n%s", n.Publics, text)
	}
	failing := func(start, limit uint64) (uint64, error) { return limit, errors.New("full") }
	_, err := dumpsyms.Write(&bytes.Buffer{}, dumpsyms.Input{Publics: func(f func(uint64, string) error) error { return f(1, "a") }, NameEnd: failing})
	if err == nil {
		t.Error("no error")
	}
}
