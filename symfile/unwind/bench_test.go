package unwind_test

import (
	"compress/gzip"
	"debug/elf"
	"io"
	"os"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// The benchmarks make rows of real rules, and apply them: STACK CFI of the sample's libc and of
// functions that realign their stack, programs that Microsoft's compilers wrote, and .eh_frame with
// expressions. Memory has every word, and registers are all known.

// everywhere is memory in which each word is its own address.
type everywhere struct{}

func (everywhere) Word(addr uint64, size int) (uint64, bool) { return addr &^ 15, true }

// text is a record of rules.
type text struct {
	init   string
	deltas []string
}

// libc returns rules of the sample's libc, each with the deltas in force in the middle of the
// function.
func libc(b *testing.B) []text {
	f, err := os.Open("../../testdata/sample/libc.so.6.sym.gz")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	sym, err := symfile.Open(input.FromBytes("libc.so.6.sym", data), symfile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var out []text
	for rva := uint64(0x26000); len(out) < 2000; rva += 64 {
		c, ok, err := sym.CFI(rva)
		if err != nil {
			b.Fatal(err)
		}
		if ok {
			t := text{init: c.Rules}
			for _, d := range c.Deltas {
				t.deltas = append(t.deltas, d.Rules)
			}
			out = append(out, t)
		}
	}
	return out
}

// realigned are rules of functions that align their stack, of signal handlers' frames and of vsyscalls.
var realigned = []text{
	{".cfa: $rsp 8 + .ra: .cfa -8 + ^", []string{".cfa: $r10 0 +", ".cfa: $rbp -8 + ^ $rbp: $rbp 0 + ^", "$rbx: $rbp -40 + ^ $r12: $rbp -32 + ^ $r13: $rbp -24 + ^"}},
	{".cfa: $rsp 160 + ^ .ra: $rsp 168 + ^ $rbp: $rsp 120 + ^ $rbx: $rsp 128 + ^", nil},
	{".cfa: $rsp 15 + 16 @ 8 + .ra: .cfa -8 + ^ $rbp: $rbp ^ 8 - ^", nil},
	{".cfa: $rbp ^ 16 + 32 @ .ra: $rbp 8 + ^ $rbx: $rbp ^ 24 - ^ $r12: .cfa $rbp - 8 * $rsp + ^", nil},
}

func rates(b *testing.B, arch *cpu.Arch, n int, make func(i int) unwind.Row) {
	callee := cpu.Regs{Arch: arch}
	for r := range arch.Names {
		callee.Set(cpu.Reg(r), 0x7ff01000+uint64(r)*0x1010)
	}
	rows := []unwind.Row{}
	for i := range n {
		rows = append(rows, make(i))
	}
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			make(i % n)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	apply := func(b *testing.B, row *unwind.Row) {
		if _, _, err := row.Apply(&callee, everywhere{}, nil); err != nil {
			b.Fatal(row.Describe(arch), err)
		}
	}
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			apply(b, &rows[i%n])
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("both", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			row := make(i % n)
			apply(b, &row)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

func BenchmarkRules(b *testing.B) {
	for name, get := range map[string]func(*testing.B) []text{"cfi": libc, "realigned": func(*testing.B) []text { return realigned }} {
		b.Run(name, func(b *testing.B) {
			texts := get(b)
			rates(b, cpu.AMD64, len(texts), func(i int) unwind.Row {
				row, _, err := unwind.ParseCFI(cpu.AMD64, texts[i].init, texts[i].deltas)
				if err != nil {
					b.Fatal(err)
				}
				return row
			})
		})
	}
	b.Run("win", func(b *testing.B) {
		fd := unwind.FrameData{SavedRegs: 8, Locals: 16, Params: 12}
		rates(b, cpu.X86, len(programs), func(i int) unwind.Row {
			row, err := unwind.ParseProgram(cpu.X86, programs[i], fd.Vars(4, 0x7ff01100))
			if err != nil {
				b.Fatal(err)
			}
			return row
		})
	})
	b.Run("dwarf", func(b *testing.B) {
		f, err := elf.Open("../sframe/testdata/oracle/amd64.elf")
		if err != nil {
			b.Fatal(err)
		}
		section := f.Section(".eh_frame")
		data, err := section.Data()
		if err != nil {
			b.Fatal(err)
		}
		table := func() unwind.Table {
			t, err := dwarfcfi.EHFrame(input.FromBytes("amd64.elf", data), section.Addr, nil, 0,
				dwarfcfi.Config{Arch: cpu.AMD64, Order: f.ByteOrder, AddressSize: 8, File: "amd64.elf"})
			if err != nil {
				b.Fatal(err)
			}
			return t
		}
		var at []uint64
		err = table().Each(func(start, end uint64, row unwind.Row) error {
			if !row.Outermost {
				at = append(at, start)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		t := table()
		rates(b, cpu.AMD64, len(at), func(i int) unwind.Row {
			row, ok, err := t.Row(at[i])
			if !ok || err != nil {
				b.Fatal(row, err)
			}
			return row
		})
	})
}

// programs are those that files of Microsoft's compilers have most, and one of each other form.
var programs = []string{
	"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =",
	"$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =",
	"$T0 $esp .cbLocals + .cbSavedRegs + = $T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + =",
	"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + = $L $T0 .cbSavedRegs - = $P $T0 4 + .cbParams + =",
	"$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ =",
	"$T0 $ebp = $T2 $esp = $T1 .raSearchStart = $eip $T1 ^ = $ebp $T0 = $esp $T1 4 + = $L $T0 .cbSavedRegs - = $P $T1 4 + .cbParams + =",
	"$T1 $ebp 4 + = $T0 $T1 16 - 16 @ = $eip $T1 ^ = $esp $T1 4 + = $ebp $T1 4 - ^ = $ebx $T0 8 - ^ = $edi $T0 12 - ^ = $esi $T0 16 - ^ =",
	"$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ = $ebx $T0 8 - ^ = $edi $T0 12 - ^ = $esi $T0 16 - ^ =",
	"$T0 $ebp 8 - 64 @ = $eip $ebp 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ = $ebx $T0 ^ 4 - ^ =",
}
