package symfile

import (
	"bytes"
	"cmp"
	"io"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Entry is a FUNC or PUBLIC record in a list of what a file has: its first address, and where its text
// is. A list has one for each function, so it is small; Described reads the rest.
type Entry struct {
	RVA uint64
	Off int64
}

// Visit is what a Scan calls for the records of each kind. Kinds without a function are passed over.
// Texts are valid until the function returns.
type Visit struct {
	File func(number uint32, name []byte)
	Code func(e Entry, name []byte)
	// Line is called with the FUNC that the line record belongs to.
	Line func(of Entry, at symbol.Range, line, file uint32)
}

// Scan reads the records of a symbol file in the order of the file, in steps, so that other work goes on
// in between. It needs no index, and keeps no more than a line.
type Scan struct {
	src *input.Source
	// At is the offset up to which the file was read.
	At   int64
	buf  []byte
	have int  // bytes of an unfinished line at the front of buf
	cut  bool // inside a line that is longer than buf
	of   Entry
	in   bool // of is the FUNC that line records belong to
}

// NewScan makes a Scan and reads nothing.
func NewScan(src *input.Source) *Scan { return &Scan{src: src} }

// Ended reports whether all records were read.
func (s *Scan) Ended() bool { return s.At >= s.src.Size }

// Step reads about n bytes on. The error is one of the Source; Step may be called again after a
// *input.NeedError.
func (s *Scan) Step(n int64, v Visit) error {
	if s.buf == nil {
		s.buf = make([]byte, min(readSize, s.src.Size)+1)
	}
	for end := min(s.At+n, s.src.Size); s.At < end; {
		take := min(int64(len(s.buf)-1-s.have), s.src.Size-s.At)
		if _, err := s.src.ReadDirect(s.buf[s.have:int64(s.have)+take], s.At); err != nil && err != io.EOF {
			return s.src.Wrap("symbol file", s.At, err)
		}
		base := s.At - int64(s.have)
		s.At += take
		data := s.buf[:s.have+int(take)]
		if s.Ended() {
			data = append(data, '\n')
		}
		last := bytes.LastIndexByte(data, '\n') + 1
		if last == 0 && len(data) == len(s.buf)-1 { // the start of a line has all that is needed
			if !s.cut {
				s.record(data, base, v)
			}
			s.have, s.cut = 0, true
			continue
		}
		s.lines(data[:last], base, v)
		s.have = copy(s.buf, data[last:])
	}
	return nil
}

// lines reads complete lines, beginning at an offset of the file.
func (s *Scan) lines(b []byte, base int64, v Visit) {
	for i := 0; i < len(b); {
		end := lazy.Newline(b, i)
		if s.cut {
			s.cut = false
		} else if line := b[i:end]; len(line) > 0 && (v.Line != nil || line[0] == 'F' || hexVal[line[0]] == 0xff) {
			s.record(line, base+int64(i), v) // others are lines of a FUNC, most of a file
		}
		i = end + 1
	}
}

func (s *Scan) record(line []byte, off int64, v Visit) {
	if off == 0 && bytes.HasPrefix(line, bom) {
		if line, off = line[len(bom):], int64(len(bom)); len(line) == 0 {
			return
		}
	}
	if rest, ok := keyword(line, "FUNC"); ok {
		r, ok := parseFunc(rest)
		if s.in = ok; ok {
			s.of = Entry{RVA: r.rva, Off: off}
			s.code(r.name, v)
		}
	} else if rest, ok := keyword(line, "PUBLIC"); ok {
		r, ok := parsePublic(rest)
		if s.in = false; ok && r.rva != 0 {
			s.of = Entry{RVA: r.rva, Off: off}
			s.code(r.name, v)
		}
	} else if rest, ok := keyword(line, "FILE"); ok && v.File != nil {
		if number, name, ok := parseFile(rest); ok {
			v.File(number, name)
		}
	} else if hexVal[line[0]] != 0xff && s.in && v.Line != nil {
		if l, ok := parseLine(line); ok && l.size > 0 {
			v.Line(s.of, symbol.Range{Start: l.rva, Size: l.size}, l.line, l.file)
		}
	}
}

func (s *Scan) code(name []byte, v Visit) {
	if v.Code == nil {
		return
	}
	if len(name) == 0 {
		name = []byte(nameless)
	}
	v.Code(s.of, name)
}

// FunctionAt returns the FUNC that begins at an address.
func (f *File) FunctionAt(rva uint64) (Entry, bool, error) {
	r, _, err := settled(f, func() (rec, symbol.Answer, error) {
		r, ok, err := f.find(tableFuncs, rva)
		if !ok || r.rva != rva {
			r = rec{}
		}
		return r, symbol.Yes, err
	})
	return Entry{RVA: rva, Off: r.off}, r.size > 0, err
}

// Described returns what the FUNC or PUBLIC record of an entry says itself, without lines and inlined calls.
func (f *File) Described(e Entry) (symbol.Symbol, error) {
	s, _, err := settled(f, func() (symbol.Symbol, bool, error) { return f.described(e) })
	return s, err
}

func (f *File) described(e Entry) (s symbol.Symbol, ok bool, err error) {
	b, err := f.lineAt(e.Off)
	if err != nil {
		return s, false, err
	}
	var r funcRecord
	if rest, isFunc := keyword(b, "FUNC"); isFunc {
		r, ok = parseFunc(rest)
	} else if rest, s.Public = keyword(b, "PUBLIC"); s.Public {
		r, ok = parsePublic(rest)
	}
	if !ok || r.rva != e.RVA {
		return symbol.Symbol{}, false, &input.FormatError{File: f.src.Name, Offset: e.Off, Want: "a FUNC or PUBLIC record", Have: "another line"}
	}
	s.Start, s.Size, s.ParamSize, s.Multiple = e.RVA, r.size, r.params, r.multiple
	s.Name = cmp.Or(string(r.name), nameless)
	return s, true, nil
}

// funcOf returns the record of a FUNC. The index may have left it out, since another one covers its
// code; then its lines are those that follow it in the file.
func (f *File) funcOf(e Entry, size uint64) (rec, error) {
	r, ok, err := f.find(tableFuncs, e.RVA)
	if !ok || r.off != e.Off {
		r = rec{rva: e.RVA, size: size, off: e.Off}
	}
	return r, err
}

// Lines returns the code of each line record of a FUNC, by address and without overlaps. A PUBLIC has
// none.
func (f *File) Lines(e Entry) ([]symbol.Range, error) {
	s, err := f.Described(e)
	if err != nil || s.Public {
		return nil, err
	}
	out, _, err := settled(f, func() (out []symbol.Range, ok bool, err error) {
		r, err := f.funcOf(e, s.Size)
		if err != nil {
			return nil, false, err
		}
		fn, err := f.function(&r)
		if err != nil {
			return nil, false, err
		}
		for _, l := range fn.lines {
			out = append(out, symbol.Range{Start: l.start, Size: l.size})
		}
		return out, true, nil
	})
	return out, err
}

// In is Lookup for an address in a function that is known, also where another one covers the address.
func (f *File) In(e Entry, rva uint64) (symbol.Symbol, error) {
	s, err := f.Described(e)
	if err != nil || s.Public {
		return s, err
	}
	s, _, err = settled(f, func() (symbol.Symbol, symbol.Answer, error) {
		r, err := f.funcOf(e, s.Size)
		if err != nil {
			return symbol.Symbol{}, answerOf(err), err
		}
		at, err := f.locateIn(&r, rva)
		if err != nil {
			return symbol.Symbol{}, answerOf(err), err
		}
		s, err := f.named(at)
		return s, symbol.Yes, err
	})
	return s, err
}
