package macho

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// lacking is a reader that does not have the bytes from an offset on yet.
type lacking struct {
	*bytes.Reader
	from int64
}

func (r *lacking) ReadAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); end > r.from {
		return 0, &input.NeedError{Name: "made", Ranges: []input.Range{{Offset: off, Size: end - off}}}
	}
	return r.Reader.ReadAt(p, off)
}

// TestLackingNames: what is made of a symbol table whose names are still to come waits for them.
func TestLackingNames(t *testing.T) {
	const namesAt, code, stubs = 1 << 17, 0x1000, 0x2000
	le := binary.LittleEndian
	names := "\x00ltmp0\x00_real\x00_called\x00a.o\x00"
	data := make([]byte, namesAt)
	table := data[:0]
	for _, s := range []struct {
		name  uint32
		kind  uint8
		value uint64
	}{{1, typeSection, code}, {7, typeSection, code}, {13, external, 0}, {21, StabOSO, 0}, {7, StabFUN, code}, {0, StabFUN, 0x20}} {
		table = append(le.AppendUint32(table, s.name), s.kind, 1, 0, 0)
		table = le.AppendUint64(table, s.value)
	}
	const indirect = 0x1000
	le.PutUint32(data[indirect:], 2)
	data = append(data, names...)
	for what, ask := range map[string]func(f *File) (string, error){
		"[real called@plt]": func(f *File) (string, error) {
			p, err := f.Publics()
			if err != nil {
				return "", err
			}
			var out []string
			for i := range p.Len() {
				out = append(out, p.At(i).Name)
			}
			return fmt.Sprint(out), nil
		},
		"[ltmp0 _real]": func(f *File) (string, error) {
			atoms, err := f.Atoms()
			var out []string
			for _, a := range atoms {
				out = append(out, a.Name)
			}
			return fmt.Sprint(out), err
		},
		"a.o: [{4096 32 _real 0}]": func(f *File) (string, error) {
			m, err := f.DebugMap()
			if err != nil {
				return "", err
			}
			return fmt.Sprint(m.Objects[0].Path, ": ", m.Functions(0)), nil
		},
	} {
		r := &lacking{bytes.NewReader(data), namesAt}
		f := &File{Src: input.New("made", r, int64(len(data))), Order: le, Class: 64, indirect: part{indirect, 1},
			symtab:   symtab{symbols: 0, count: 6, names: part{namesAt, uint32(len(names))}},
			Segments: []Segment{{Name: "__TEXT", Size: 0x4000}},
			Sections: []Section{{Name: "__text", Address: code, Size: 0x100, Flags: attrPure}, {Name: "__stubs", Address: stubs, Size: 6, Flags: attrPure | typeStubs, Reserved2: 6}}}
		if have, err := ask(f); !input.Needs(err) {
			t.Errorf("without names: %s, %v, want %s later", have, err, what)
		}
		r.from = int64(len(data))
		if have, err := ask(f); err != nil || have != what || len(f.Warnings()) > 0 {
			t.Errorf("%s, %v, %q, want %s", have, err, f.Warnings(), what)
		}
	}
}

// TestAtoms: a symbol inside of an atom does not end it, also where another one begins.
func TestAtoms(t *testing.T) {
	le := binary.LittleEndian
	var table []byte
	for i, s := range []struct {
		value uint64
		desc  uint16
	}{{0, 0}, {0x10, altEntry}, {0x20, altEntry}, {0x20, 0}, {0x20, altEntry}, {0x30, altEntry}} {
		table = append(le.AppendUint32(table, uint32(1+2*i)), typeSection, 1)
		table = le.AppendUint64(le.AppendUint16(table, s.desc), s.value)
	}
	names := "\x00a\x00b\x00c\x00d\x00e\x00f\x00"
	f := &File{Src: input.FromBytes("made", append(table, names...)), Order: le, Class: 64, symtab: symtab{count: 6, names: part{uint32(len(table)), uint32(len(names))}},
		Sections: []Section{{Name: "__text", Size: 0x40, Flags: attrPure}}}
	atoms, err := f.Atoms()
	const want = "[{a 0 32} {b 16 16} {c 32 32} {d 32 32} {e 32 32} {f 48 16}]"
	if have := fmt.Sprint(atoms); err != nil || have != want {
		t.Errorf("%s, %v, want %s", have, err, want)
	}
}

// TestCancelledNames: a table of names that was cancelled is not taken for a smaller one.
func TestCancelledNames(t *testing.T) {
	const symbols = 20000
	le := binary.LittleEndian
	var table []byte
	for i := range uint64(symbols) {
		table = append(le.AppendUint32(table, 1), typeSection|external, 1, 0, 0)
		table = le.AppendUint64(table, 4*i)
	}
	f := &File{Src: input.FromBytes("made", append(table, "\x00_f\x00"...)), Order: le, Class: 64, symtab: symtab{count: symbols, names: part{uint32(len(table)), 4}},
		Segments: []Segment{{Name: "__TEXT", Size: 4 * symbols}}, Sections: []Section{{Name: "__text", Size: 4 * symbols, Flags: attrPure}}}
	f.Src.Budget = &input.Budget{}
	for n := 1; ; n++ {
		pauses := 0
		f.Src.Budget.Pause = func() {
			if pauses++; pauses == n {
				f.Src.Budget.Cancel(context.Canceled)
			}
		}
		p, err := f.Publics()
		if pauses < n {
			if n == 1 || err != nil || p.Len() != symbols || len(f.Warnings()) > 0 {
				t.Errorf("after %d pauses: %v, %q", n-1, err, f.Warnings())
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("pause %d: %v", n, err)
		}
		f.Src.Budget.Resume()
		f.Src.Budget.Begin()
	}
}
