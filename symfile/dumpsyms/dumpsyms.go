// Package dumpsyms writes Breakpad symbol files: the functions, names and unwind rules of a module,
// from any kind of file, as the text that crash reporters and their servers read. Begin with Write,
// which shows the order of the records.
//
// Functions are taken in one pass and kept in a packed form, less than half of the text. The
// records that go in front of them (FILE, INLINE_ORIGIN) are only known after the last one, and
// readers search a file fastest if its records are sorted by address. For large programs the packed
// form is sorted in runs, which go to a temporary file. The text itself is never kept.
//
// Format: https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md
package dumpsyms

import (
	"cmp"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Module has the fields of the MODULE and INFO records.
type Module struct {
	// OS and Arch are Breakpad's names for them (see Arch).
	OS, Arch string
	// ID is the debug id: 32 hexadecimal digits and an age. Name is the binary's own name, without
	// folders.
	ID, Name string
	// CodeID is the binary's own identifier (of ELF files the build id), in any case, or "".
	CodeID string
	// CodeName is the binary's name that goes with CodeID where Name is that of its debug information, else
	// "".
	CodeName string
	// OtherIDs are debug ids that some writers of dumps use instead of ID.
	OtherIDs []string
}

// Input has what a symbol file is made of. Fields that are nil are left out.
type Input struct {
	Module Module
	// CPU is the processor, whose registers the unwind rules name.
	CPU *cpu.Arch
	// Functions become FUNC, line and INLINE records.
	Functions symbol.Functions
	// Publics calls its argument for every name of an address that is not a function's, in any order;
	// of several at one address the first counts.
	Publics func(f func(rva uint64, name string) error) error
	// NameEnd returns the first address after that of a name, and before limit, that is known to be
	// in a function without a name, or limit. Readers do not know that from the unwind rules.
	NameEnd func(start, limit uint64) (uint64, error)
	// Unwind are the tables of unwind rules. If several cover an address, the first counts.
	Unwind []unwind.Table
	// FrameData calls its argument for every record of how a frame of x86 code is found (STACK
	// WIN), in any order.
	FrameData func(f func(unwind.FrameData) error) error
	// Demangle makes names readable; nil leaves them as they are.
	Demangle func(string) string
	// Spool opens storage for what should not stay in memory; nil keeps everything in memory. It is
	// closed if it is an io.Closer.
	Spool func() (input.Spool, error)
	// Budget is that of the files; nil for no limit.
	Budget *input.Budget
}

// Counts counts the records that were written, and what could not be.
type Counts struct {
	Funcs, Lines, Inlines, Publics, CFIInits, CFIDeltas, WinFrames int
	// Overlapping counts functions, or parts of functions, that overlap another one. No reader
	// would find them, so they are left out.
	Overlapping int
	// Inexpressible counts the ranges of code whose unwind rules the format cannot express. They
	// are left out. InexpressibleFirst says which the first of them is, and why.
	Inexpressible      int
	InexpressibleFirst string
	// LostRegisters counts the different rows with a rule for a register that the format cannot
	// express. They are written without it, because the frame can be found all the same.
	LostRegisters int
}

// Write writes a symbol file to w. It returns an error of w or of what Input reads; the text is
// then incomplete.
func Write(w io.Writer, in Input) (Counts, error) {
	s := newSorter(in.Spool, in.Budget)
	defer func() { s.close() }()
	if in.Functions != nil {
		if err := in.Functions.Each(s.add); err != nil {
			return Counts{}, err
		}
	}
	if in.Publics != nil {
		if err := in.Publics(s.public); err != nil {
			return Counts{}, err
		}
	}
	o := &output{w: w, buf: make([]byte, 0, bufferSize+bufferSpare), demangle: in.Demangle, program: cmp.Or(in.Module.CodeName, in.Module.Name)}
	o.module(&in.Module)
	o.files(s)
	o.origins(s)
	if err := o.body(s, in.NameEnd); err != nil {
		return o.n, err
	}
	s.close()
	s = &sorter{} // the unwind rules need their own memory
	if len(in.Unwind) > 0 && in.CPU != nil {
		if err := o.cfi(in.CPU, in.Unwind); err != nil {
			return o.n, err
		}
	}
	if in.FrameData != nil {
		if err := o.frames(in.FrameData); err != nil {
			return o.n, err
		}
	}
	o.flush()
	return o.n, o.err
}

const (
	// bufferSize is how much text is collected before it is written.
	bufferSize = 64 << 10
	// bufferSpare is how many bytes more are allocated, because the last record may exceed it.
	bufferSpare = 4 << 10
)

// output buffers the text. It keeps the writer's first error.
type output struct {
	w        io.Writer
	buf      []byte
	err      error
	demangle func(string) string
	program  string // the name of the module
	n        Counts
}

// end ends a record.
func (o *output) end() {
	o.buf = append(o.buf, '\n')
	if len(o.buf) >= bufferSize {
		o.flush()
	}
}

// flush writes what is in the buffer. After an error nothing more is written; err keeps the first
// one.
func (o *output) flush() {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
}

func (o *output) str(s string) { o.buf = append(o.buf, s...) }

// hex writes a blank and a number in lower-case hexadecimal.
func (o *output) hex(v uint64) { o.buf = appendHex(append(o.buf, ' '), v) }

// dec writes a blank and a decimal number.
func (o *output) dec(v uint64) { o.buf = appendDec(append(o.buf, ' '), v) }

// text writes a blank and the rest of a record. A line end in it would begin another record, and
// readers drop blanks around a name and refuse an empty one. Terminals obey control characters, and
// some readers end lines at them; no compiler writes them into names. All other bytes stay as they
// are, because names are searched by them.
func (o *output) text(s string) {
	o.buf = append(o.buf, ' ')
	if mayControl(s) {
		s = withoutControls(s)
	}
	if s = strings.Trim(s, " \t\v\f"); s == "" {
		s = nameless
	}
	o.buf = append(o.buf, s...)
}

// mayControl reports whether a text may have a control character: C0, DEL, or the first byte of C1.
func mayControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f || c == 0xc2 {
			return true
		}
	}
	return false
}

// withoutControls returns a text with blanks in place of control characters.
func withoutControls(s string) string {
	b := []byte(s)
	for i, r := range s {
		if visible.Control(r) {
			b[i] = ' '
			if r >= utf8.RuneSelf {
				b[i+1] = ' '
			}
		}
	}
	return string(b)
}

// nameless is written for an unknown name, as both peers do.
const nameless = "<name omitted>"

// noFile is written for an unknown source file: a line record must name one.
const noFile = "<unknown>"

// name writes a function's name.
func (o *output) name(raw string) {
	if o.demangle != nil {
		raw = o.demangle(raw)
	}
	o.text(raw)
}

// module writes the MODULE record and the INFO records. Blanks in a word would end it, so they
// become "_".
func (o *output) module(m *Module) {
	word := func(s string) string {
		if s = strings.Join(strings.Fields(s), "_"); s == "" {
			return "unknown"
		}
		return s
	}
	o.str("MODULE " + word(m.OS) + " " + word(m.Arch) + " " + word(m.ID))
	o.text(m.Name)
	o.end()
	if m.CodeID != "" {
		o.str("INFO CODE_ID " + strings.ToUpper(word(m.CodeID)))
		if m.CodeName != "" {
			o.text(m.CodeName)
		}
		o.end()
	}
	for _, id := range m.OtherIDs {
		o.str("INFO OTHER_ID " + word(id))
		o.end()
	}
}

// files writes the FILE records. Numbers are those of the sorter's table, so its order is the order
// of first use.
func (o *output) files(s *sorter) {
	for i, name := range s.files.list {
		o.str("FILE")
		o.dec(uint64(i))
		name = cmp.Or(name, noFile)
		o.text(name)
		o.end()
	}
}

// origins writes the INLINE_ORIGIN records, the names of inlined functions.
func (o *output) origins(s *sorter) {
	for i, name := range s.origins.list {
		o.str("INLINE_ORIGIN")
		o.dec(uint64(i))
		o.name(name)
		o.end()
	}
}

// appendHex is strconv.AppendUint(b, v, 16), and a third of a symbol file's time.
func appendHex(b []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	var tmp [16]byte
	i := len(tmp)
	for {
		i--
		tmp[i] = digits[v&15]
		if v >>= 4; v == 0 {
			return append(b, tmp[i:]...)
		}
	}
}

func appendDec(b []byte, v uint64) []byte {
	var tmp [20]byte
	i := len(tmp)
	for {
		i--
		tmp[i] = byte('0' + v%10)
		if v /= 10; v == 0 {
			return append(b, tmp[i:]...)
		}
	}
}
