package stabs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// writer makes a table the way assemblers do, without the reader's constants.
type writer struct {
	order   binary.ByteOrder
	wide    bool
	entries []byte
	strings []byte
}

func (w *writer) stab(name string, kind byte, desc uint16, value uint64) {
	at := uint32(0)
	if name != "" {
		at = uint32(len(w.strings))
		w.strings = append(append(w.strings, name...), 0)
	}
	w.raw(at, kind, desc, value)
}

func (w *writer) raw(at uint32, kind byte, desc uint16, value uint64) {
	b := make([]byte, 16)
	w.order.PutUint32(b, at)
	b[4] = kind
	w.order.PutUint16(b[6:], desc)
	if w.wide {
		w.order.PutUint64(b[8:], value)
		w.entries = append(w.entries, b...)
		return
	}
	w.order.PutUint32(b[8:], uint32(value))
	w.entries = append(w.entries, b[:12]...)
}

// units joins object files' tables, each with its own header, as gold does.
func units(order binary.ByteOrder, wide bool, fill ...func(w *writer)) (stab, str []byte) {
	for _, fn := range fill {
		w := &writer{order: order, wide: wide, strings: []byte{0}}
		w.stab("unit.c", 0, 0, 0)
		fn(w)
		size := 12
		if wide {
			size = 16
		}
		head := &writer{order: order, wide: wide}
		head.raw(1, 0, uint16(len(w.entries)/size-1), uint64(len(w.strings)))
		stab = append(append(stab, head.entries...), w.entries[size:]...)
		str = append(str, w.strings...)
	}
	return stab, str
}

// first is gcc's -gstabs+: functions have ends, lines are relative, one file is included.
func first(w *writer) {
	w.stab("/src/", 0x64, 2, 0x401000)
	w.stab("one.c", 0x64, 2, 0x401000)
	w.stab("gcc2_compiled.", 0x3c, 0, 0)
	w.stab("int:t1=r1;-2147483648;2147483647;", 0x80, 0, 0)
	w.stab("main:F1", 0x24, 3, 0x401000)
	w.stab("argc:p1", 0xa0, 3, 8)
	w.stab("", 0x44, 3, 0)
	w.stab("", 0x44, 4, 0)
	w.stab("inc/a.h", 0x84, 0, 0x401008)
	w.stab("", 0x44, 10, 8)
	w.stab("one.c", 0x84, 0, 0x40100c)
	w.stab("", 0x44, 5, 0xc)
	w.stab("", 0xc0, 0, 0)
	w.stab("", 0xe0, 0, 0x18)
	w.stab("", 0x24, 0, 0x20)
	w.stab("gone:F1", 0x24, 9, 0)
	w.stab("", 0x44, 9, 0)
	w.stab("", 0x24, 0, 0x10)
	w.stab("ns::two:f1", 0x24, 7, 0x401040)
	w.stab("", 0x44, 7, 0)
	w.stab("", 0x24, 0, 0x10)
	w.stab("data:S1", 0x24, 7, 0x402000)
	w.stab("", 0x64, 0, 0x401050)
}

// second is -gstabs: functions end where the next one starts; and one whose name goes on in another
// entry.
func second(w *writer) {
	w.stab("/abs/two.c", 0x64, 2, 0x401100)
	w.stab("alpha:F1", 0x24, 0, 0x401100)
	w.stab("", 0x44, 1, 0)
	w.stab("", 0x44, 2, 6)
	w.stab("long_\\", 0x24, 0, 0x401110)
	w.stab("name:F1", 0x24, 0, 0)
	w.stab("", 0x44, 8, 0)
	w.stab("", 0x64, 0, 0x401130)
}

// third has whole addresses in its lines, the first of them before the function, and no end at all.
func third(w *writer) {
	w.stab("/m/", 0x64, 0, 0x401200)
	w.stab("three.p", 0x64, 0, 0x401200)
	w.stab("", 0x44, 20, 0x401200)
	w.stab("third:F1", 0x24, 0, 0x401200)
	w.stab("", 0x44, 21, 0x401204)
	w.stab("", 0x44, 22, 0x401210)
}

const wantAll = `main 1000+20
 1000+8 /src/one.c:4
 1008+4 /src/inc/a.h:10
 100c+14 /src/one.c:5
ns::two 1040+10
 1040+10 /src/one.c:7
alpha 1100+10
 1100+6 /abs/two.c:1
 1106+a /abs/two.c:2
long_name 1110+20
 1110+20 /abs/two.c:8
third 1200+11
 1200+4 /m/three.p:20
 1204+c /m/three.p:21
 1210+1 /m/three.p:22
`

// show writes all that a table says.
func show(t testing.TB, table *Table) string {
	var b strings.Builder
	err := table.Each(func(f symbol.Function) error {
		fmt.Fprintf(&b, "%s %x+%x\n", f.Name, f.Ranges[0].Start, f.Ranges[0].Size)
		for _, l := range f.Lines {
			fmt.Fprintf(&b, " %x+%x %s:%d\n", l.Start, l.Size, l.File, l.Line)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return b.String()
}

// agree: a lookup of every address says what Each says.
func agree(t testing.TB, table *Table) {
	table.Each(func(f symbol.Function) error {
		next := 0
		for a := f.Ranges[0].Start; a < f.Ranges[0].Start+min(f.Ranges[0].Size, 5000); a++ {
			for next < len(f.Lines) && f.Lines[next].Start <= a {
				next++
			}
			s, answer, err := table.Lookup(a)
			if answer != symbol.Yes || err != nil || s.Name != f.Name || s.Start != f.Ranges[0].Start || s.Size != f.Ranges[0].Size || s.Inlines == nil {
				t.Fatalf("%#x: %+v, %v, %v; want %s", a, s, answer, err, f.Name)
			}
			if s.HasLine != (next > 0) || next > 0 && (s.Line != f.Lines[next-1].Line || s.File != f.Lines[next-1].File || s.LineStart != f.Lines[next-1].Start) {
				t.Fatalf("%#x: %+v, want %+v", a, s, f.Lines)
			}
		}
		return nil
	})
}

func made(order binary.ByteOrder, wide bool) (stab, str []byte) {
	return units(order, wide, first, second, third)
}

// opened indexes a table without an ELF file around it.
func opened(stab, str []byte, order binary.ByteOrder, base uint64) (*Table, error) {
	return open(&Table{stab: input.FromBytes("stab", stab), strings: input.FromBytes("str", str), order: order, base: base, file: "made",
		resolve: func(a uint64) uint64 { return a }})
}

// TestMade reads what several compilers write, joined by a linker that keeps the parts, in both
// byte orders and sizes.
func TestMade(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, c := range []struct {
			wide bool
			base uint64
		}{{false, 0x400000}, {true, 0x400000}, {false, 0x7_0040_0000}} { // the last has the low halves of addresses
			stab, str := made(order, c.wide)
			table, err := opened(stab, str, order, c.base)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(t, table); got != wantAll {
				t.Errorf("%v, wide=%v, base %#x:\n%s", order, c.wide, c.base, got)
			}
			agree(t, table)
			for _, rva := range []uint64{0, 0xfff, 0x1020, 0x103f, 0x1050, 0x1211, 1 << 60} {
				if s, answer, err := table.Lookup(rva); answer != symbol.No || err != nil {
					t.Errorf("%#x: %+v, %v, %v", rva, s, answer, err)
				}
			}
		}
	}
}

// TestPascal: a method of a program that Free Pascal 3.2.2 compiled for i386 (-gs) has its class.
func TestPascal(t *testing.T) {
	pascal := func(w *writer) {
		w.stab("/src/", 0x64, 0, 0x401000)
		w.stab("t.pas", 0x64, 0, 0x401000)
		w.stab("TFOO:Tt1=s8!1,020,18;X:6,32,32;BAR::64=##5;:4TFOO7LONGINT;2A.;;~%18;", 0x80, 0, 0)
		w.stab("TFOO__BAR:F5", 0x24, 14, 0x401000)
		w.stab("", 0x44, 19, 0)
		w.stab("", 0x44, 20, 0x10)
		w.stab("INNER:F5,INNER,BAR", 0x24, 15, 0x401050)
		w.stab("", 0x44, 16, 0)
		w.stab("__lower__case:F5", 0x24, 27, 0x401080)
		w.stab("", 0x44, 28, 0)
		w.stab("", 0x64, 0, 0x4010c0)
	}
	c := func(w *writer) {
		w.stab("/src/t.c", 0x64, 0, 0x401100)
		w.stab("TFOO__BAR:F5", 0x24, 1, 0x401100)
		w.stab("", 0x44, 2, 0)
		w.stab("", 0x64, 0, 0x401110)
	}
	stab, str := units(binary.LittleEndian, false, pascal, c)
	table, err := opened(stab, str, binary.LittleEndian, 0x400000)
	if err != nil {
		t.Fatal(err)
	}
	const want = `TFOO.BAR 1000+50
 1000+10 /src/t.pas:19
 1010+40 /src/t.pas:20
INNER 1050+30
 1050+30 /src/t.pas:16
__lower__case 1080+40
 1080+40 /src/t.pas:28
TFOO__BAR 1100+10
 1100+10 /src/t.c:2
`
	if got := show(t, table); got != want {
		t.Errorf("%s", got)
	}
	agree(t, table)
}

func use(t testing.TB, stab, str []byte) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		table, err := opened(stab, str, order, 0x1000)
		if err != nil {
			var fe *input.FormatError
			if !errors.As(err, &fe) {
				t.Errorf("an error without a place: %v", err)
			}
			continue
		}
		last := uint64(0)
		err = table.Each(func(f symbol.Function) error {
			r := f.Ranges[0]
			if r.Size == 0 || r.Start < last || r.Start+r.Size < r.Start {
				t.Errorf("%+v after %#x", f, last)
			}
			last = r.Start + r.Size
			at := r.Start
			for _, l := range f.Lines {
				if l.Size == 0 || l.Start < at || l.Start+l.Size > last {
					t.Errorf("%+v: line %+v", f, l)
				}
				at = l.Start + l.Size
			}
			table.Lookup(r.Start + r.Size/2)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestDamage cuts both sections at every length, and overwrites bytes at random.
func TestDamage(t *testing.T) {
	stab, str := made(binary.LittleEndian, false)
	for n := range stab {
		use(t, stab[:n], str)
	}
	for n := range str {
		use(t, stab, str[:n])
	}
	rnd := rand.New(rand.NewSource(1))
	for range 3000 {
		bad := append([]byte(nil), stab...)
		for range 1 + rnd.Intn(4) {
			bad[rnd.Intn(len(bad))] = byte(rnd.Intn(256))
		}
		use(t, bad, str)
	}
}

func FuzzStabs(f *testing.F) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, wide := range []bool{false, true} {
			stab, str := made(order, wide)
			f.Add(stab, str)
		}
	}
	f.Fuzz(func(t *testing.T, stab, str []byte) { use(t, stab, str) })
}
