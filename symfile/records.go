package symfile

import (
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// The records, one parser each. Each takes what follows the record's keyword and reports whether
// the fields that it needs are there. Format: Breakpad's docs/symbol_files.md; each parser says
// what both peers accept beyond it.

// nameless is the name of a function whose name the file does not have. Breakpad's dump_syms writes
// the same.
const nameless = "<name omitted>"

// noFile is the file number of a call site whose file is not known. No FILE record can have it.
const noFile = 1<<32 - 1

// Module is a MODULE record: which binary the file describes.
type Module struct {
	// OS and Arch are the words of the record ("Linux", "mac", "windows"; "x86_64", "arm64").
	OS, Arch string
	// ID is the debug identifier as written: on most platforms 32 hexadecimal digits and an age.
	ID string
	// Name is the binary's or PDB's base name; it may contain spaces.
	Name string
}

// inParts: a function may have several unwind records, one after the other (x64's chained unwind
// information on Windows).
func (m *Module) inParts() bool { return m.OS == "windows" }

// MODULE os arch id name
//
//	MODULE Linux x86_64 3F5A8B2F6A2A1C0BB2B6A1C06A5D3E4F0 libfoo.so
//
// Some tools leave out the id that they do not know: the last word is then the name.
//
//	MODULE Linux x86_64  libfoo.so
func parseModule(b []byte) (m Module, ok bool) {
	f := fields{rest: trimEOL(b)}
	m.OS, m.Arch, m.ID = string(f.word()), string(f.word()), string(f.word())
	m.Name = string(f.name())
	if m.Name == "" && strings.Trim(m.ID, "0123456789abcdefABCDEF") != "" {
		m.ID, m.Name = "", m.ID
	}
	return m, m.ID != "" || m.Name != ""
}

type funcRecord struct {
	rva, size uint64
	params    uint32
	multiple  bool
	name      []byte
}

// FUNC [m] address size parameter_size name
//
//	FUNC m c184 30 0 ns::f(int)
func parseFunc(b []byte) (r funcRecord, ok bool) {
	f := fields{rest: trimEOL(b)}
	r.multiple = f.multiple()
	r.rva, r.size, r.params = f.hex(), f.hex(), f.hex32()
	r.name = f.name()
	return r, !f.bad
}

// PUBLIC [m] address parameter_size name
//
//	PUBLIC 2160 0 _start
func parsePublic(b []byte) (r funcRecord, ok bool) {
	f := fields{rest: trimEOL(b)}
	r.multiple = f.multiple()
	r.rva, r.params = f.hex(), f.hex32()
	r.name = f.name()
	return r, !f.bad
}

// FILE number name; the number is decimal, unlike the addresses and sizes of other records.
//
//	FILE 2 /build/src/foo bar.c
func parseFile(b []byte) (num uint32, name []byte, ok bool) {
	f := fields{rest: trimEOL(b)}
	num = f.dec()
	name = f.name()
	return num, name, !f.bad && len(name) > 0 && num != noFile
}

// INLINE_ORIGIN number name; the form before 2021 has a file number (or -1) before the name. As in
// Breakpad, a field of digits alone is that number; a name that is nothing but digits is taken as a
// name.
//
//	INLINE_ORIGIN 7 std::min(int, int)
//	INLINE_ORIGIN 7 3 std::min(int, int)     before 2021, in file 3
//	INLINE_ORIGIN 7 -1 std::min(int, int)    before 2021, in no known file
func parseOrigin(b []byte) (num uint32, name []byte, ok bool) {
	f := fields{rest: trimEOL(b)}
	num = f.dec()
	name = f.name()
	old := fields{rest: name}
	w := old.word()
	if len(w) > 1 && w[0] == '-' {
		w = w[1:]
	}
	if _, digits := parseDec(w); digits {
		if rest := old.name(); len(rest) > 0 {
			name = rest
		}
	}
	return num, name, !f.bad
}

type lineRecord struct {
	rva, size  uint64
	line, file uint32
}

// address size line filenum; address and size are hexadecimal, the others decimal.
//
//	c184 7 59 4     the 7 bytes from 0xc184 on are line 59 of file 4
func parseLine(b []byte) (r lineRecord, ok bool) {
	f := fields{rest: trimEOL(b)}
	r.rva, r.size, r.line = f.hex(), f.hex(), f.dec()
	w := f.word()
	if len(w) > 1 && w[0] == '-' { // "no file" in some writers
		w, r.file = w[1:], noFile
		_, ok = parseDec(w)
	} else {
		r.file, ok = parseDec(w)
	}
	return r, ok && !f.bad && len(f.name()) == 0
}

type inlineRecord struct {
	level, callLine, callFile, origin uint32
	ranges                            fields // pairs of address and size follow
}

// INLINE nest_level call_line call_file origin [address size]+
//
// The form before 2021 has no call_file. The two differ in the parity of the number of fields, by
// which Breakpad tells them apart too; callFile is noFile in the old form, and for the -1 of a call
// without a file.
//
//	INLINE 0 10 3 4 d30 2a fa1 b    8 fields: origin 4, called at line 10 of file 3; two ranges
//	INLINE 0 10 4 d30 2a fa1 b      7 fields: the old form
func parseInline(b []byte) (r inlineRecord, ok bool) {
	b = trimEOL(b)
	n := 0
	blank := true
	for _, c := range b {
		if c == ' ' || c == '\t' {
			blank = true
		} else if blank {
			blank = false
			n++
		}
	}
	f := fields{rest: b}
	r.level, r.callLine, r.callFile = f.dec(), f.dec(), noFile
	if n%2 == 0 {
		w := f.word()
		if num, isNum := parseDec(w); isNum {
			r.callFile = num
		} else if len(w) < 2 || w[0] != '-' {
			f.bad = true
		}
	}
	r.origin = f.dec()
	r.ranges = fields{rest: f.rest}
	return r, n >= 5 && !f.bad
}

// next returns the next range of an INLINE record, or false at the end or at something that is no
// range. At the latter bad is set.
func (f *fields) next() (rva, size uint64, ok bool) {
	f.skipBlanks()
	if len(f.rest) == 0 {
		return 0, 0, false
	}
	rva, size = f.hex(), f.hex()
	return rva, size, !f.bad
}

type winRecord struct {
	typ                                                 uint64
	rva, size                                           uint64
	prolog, epilog, params, savedRegs, locals, maxStack uint32
	hasProgram, allocatesBP                             bool
	program                                             []byte
}

// STACK WIN type rva code_size prologue epilogue params saved_regs locals max_stack has_program
// program|allocates_bp
//
// All numbers are hexadecimal. has_program says what the last field is, not the type. Breakpad
// reads it so; rust-minidump drops records where the two do not agree.
//
//	STACK WIN 4 2170 14 1 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =
//	STACK WIN 0 3a10 22 6 0 8 4 10 0 0 1
func parseWin(b []byte) (r winRecord, ok bool) {
	f := fields{rest: trimEOL(b)}
	r.typ, r.rva, r.size = f.hex(), f.hex(), f.hex()
	r.prolog, r.epilog, r.params = f.hex32(), f.hex32(), f.hex32()
	r.savedRegs, r.locals, r.maxStack = f.hex32(), f.hex32(), f.hex32()
	r.hasProgram = f.hex() != 0
	if r.hasProgram {
		r.program = f.name()
		return r, !f.bad
	}
	if last := f.word(); len(last) > 0 {
		v, isHex := parseHex(last)
		r.allocatesBP = v != 0
		return r, isHex && !f.bad
	}
	return r, !f.bad
}

type cfiRecord struct {
	init      bool
	rva, size uint64
	rules     []byte
}

// STACK CFI INIT address size rules, STACK CFI address rules; b follows "STACK CFI ".
//
//	STACK CFI INIT 804c4b0 40 .cfa: $esp 4 + $eip: .cfa 4 - ^
//	STACK CFI 804c4b1 .cfa: $esp 8 + $ebp: .cfa 8 - ^
//
// A delta has the rules that change at its address; package unwind parses the rules.
func parseCFI(b []byte) (r cfiRecord, ok bool) {
	if rest, init := keyword(b, "INIT"); init {
		r.init = true
		b = rest
	}
	f := fields{rest: trimEOL(b)}
	r.rva = f.hex()
	if r.init {
		r.size = f.hex()
	}
	r.rules = f.name()
	return r, !f.bad
}

// stackCFI and stackWin parse a whole line. Of another line ok is false.
func stackCFI(line []byte) (r cfiRecord, ok bool) {
	rest, _ := keyword(line, "STACK")
	if rest, ok = keyword(rest, "CFI"); !ok {
		return r, false
	}
	return parseCFI(rest)
}

func stackWin(line []byte) (r winRecord, ok bool) {
	rest, _ := keyword(line, "STACK")
	if rest, ok = keyword(rest, "WIN"); !ok {
		return r, false
	}
	return parseWin(rest)
}

// hexVal maps a byte to the value of the hexadecimal digit that it is, or to 0xff. Breakpad writes
// lower case; both peers read upper case too.
var hexVal = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c - '0'
	}
	for c := byte('a'); c <= 'f'; c++ {
		t[c], t[c-'a'+'A'] = c-'a'+10, c-'a'+10
	}
	return t
}()

// fields takes the fields of one record from its front. Blanks and tabs separate them. The first
// field that cannot be parsed sets bad, which stays set.
type fields struct {
	rest []byte
	bad  bool
}

// trimEOL removes line ends and trailing blanks: some writers leave "\r\r\n".
func trimEOL(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case '\n', '\r', ' ', '\t':
			b = b[:len(b)-1]
			continue
		}
		break
	}
	return b
}

func (f *fields) skipBlanks() {
	for len(f.rest) > 0 && (f.rest[0] == ' ' || f.rest[0] == '\t') {
		f.rest = f.rest[1:]
	}
}

// word returns the next field, or empty at the end.
func (f *fields) word() []byte {
	f.skipBlanks()
	i := 0
	for i < len(f.rest) && f.rest[i] != ' ' && f.rest[i] != '\t' {
		i++
	}
	w := f.rest[:i]
	f.rest = f.rest[i:]
	return w
}

// hex returns the next field as a hexadecimal number of at most 64 bits.
func (f *fields) hex() uint64 {
	v, ok := parseHex(f.word())
	if !ok {
		f.bad = true
	}
	return v
}

// hex32 is hex for the fields that are 32 bits wide in both peers.
func (f *fields) hex32() uint32 {
	v := f.hex()
	if v > 1<<32-1 {
		f.bad = true
	}
	return uint32(v)
}

// dec returns the next field as a decimal number of at most 32 bits.
func (f *fields) dec() uint32 {
	v, ok := parseDec(f.word())
	if !ok {
		f.bad = true
	}
	return v
}

func parseHex(w []byte) (uint64, bool) {
	if len(w) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range w {
		d := hexVal[c]
		if d == 0xff || v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

func parseDec(w []byte) (uint32, bool) {
	if len(w) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range w {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		if v = v*10 + d; v > 1<<32-1 {
			return 0, false
		}
	}
	return uint32(v), true
}

// name returns the rest of the record.
func (f *fields) name() []byte {
	f.skipBlanks()
	return trimEOL(f.rest)
}

// multiple takes the optional "m" of FUNC and PUBLIC, which says that several symbols were folded
// into one address.
func (f *fields) multiple() bool {
	f.skipBlanks()
	if len(f.rest) > 1 && f.rest[0] == 'm' && (f.rest[1] == ' ' || f.rest[1] == '\t') {
		f.rest = f.rest[1:]
		return true
	}
	return false
}

// keyword reports whether a record starts with a word, and returns what follows the word and one
// blank.
func keyword(line []byte, word string) ([]byte, bool) {
	n := len(word)
	if len(line) <= n || string(line[:n]) != word || line[n] != ' ' && line[n] != '\t' {
		return nil, false
	}
	return line[n+1:], true
}

// answerOf returns the Answer that goes with an error of a lookup.
func answerOf(err error) symbol.Answer {
	if input.Needs(err) {
		return symbol.Needs
	}
	return symbol.No
}
