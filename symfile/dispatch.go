package symfile

// record indexes one line that is not a plain line record. line ends with a newline and is at
// offset off of the file.
func (s *scanner) record(line []byte, off int64) {
	f := s.f
	end := off + int64(len(line))
	switch line[0] {
	case 'F':
		if rest, ok := keyword(line, "FUNC"); ok {
			s.gotFunc(rest, off, end)
			return
		}
		if rest, ok := keyword(line, "FILE"); ok {
			f.Counts.Files++
			num, _, ok := parseFile(rest)
			s.gotNumber(tableFiles, num, ok, off)
			return
		}
	case 'I':
		if rest, ok := keyword(line, "INLINE"); ok {
			s.gotInline(rest, off, end)
			return
		}
		if rest, ok := keyword(line, "INLINE_ORIGIN"); ok {
			f.Counts.Origins++
			num, _, ok := parseOrigin(rest)
			s.gotNumber(tableOrigins, num, ok, off)
			return
		}
		if rest, ok := keyword(line, "INFO"); ok {
			f.Counts.Infos++
			f.info(rest)
			return
		}
	case 'P':
		if rest, ok := keyword(line, "PUBLIC"); ok {
			s.gotPublic(rest, off)
			return
		}
	case 'S':
		if rest, ok := keyword(line, "STACK"); ok {
			if cfi, ok := keyword(rest, "CFI"); ok {
				s.gotCFI(cfi, off, end)
				return
			}
			if win, ok := keyword(rest, "WIN"); ok {
				s.gotWin(win, off)
				return
			}
		}
	case 'M':
		if rest, ok := keyword(line, "MODULE"); ok {
			s.gotModule(rest)
			return
		}
	}
	if len(trimEOL(line)) == 0 {
		return
	}
	// Blanks around the fields, or numbers that need a closer look.
	if r, ok := parseLine(line); ok {
		s.gotLine(r.rva, r.size, r.file, off, end)
		return
	}
	if hexVal[line[0]] != 0xff {
		s.bad("line")
		return
	}
	f.Counts.Unknown++
	if f.warn(unknownRecord, s.line) {
		f.say("unknown record")
	}
}

// gotNumber adds a FILE or INLINE_ORIGIN record to its table.
func (s *scanner) gotNumber(k tableKind, num uint32, ok bool, off int64) {
	if !ok {
		s.bad(tableWords[k])
		return
	}
	s.f.tables[k].put(rec{rva: uint64(num), off: off, line: int32(s.line)})
}

// bad warns of a record whose fields are missing, are not numbers or are too large. It is not used.
func (s *scanner) bad(what string) {
	if s.f.warn(badRecord, s.line) {
		s.f.say("malformed %s record", what)
	}
}

// code returns the size of a range of code, or 0 with a warning if it has no bytes or reaches
// beyond the last address. The record stays, so that what follows belongs to it; settle drops it.
func (s *scanner) code(what string, rva, size uint64) uint64 {
	switch {
	case size == 0:
		if s.f.warn(noCode, s.line) {
			s.f.say("%s of size 0 at 0x%x is not used", what, rva)
		}
	case rva+size < rva:
		if s.f.warn(noCode, s.line) {
			s.f.say("%s at 0x%x reaches beyond the last address and is not used", what, rva)
		}
		return 0
	}
	return size
}

func (s *scanner) gotModule(rest []byte) {
	f := s.f
	m, ok := parseModule(rest)
	switch {
	case s.seg != nil && !s.seg.first:
		s.seg.odd = true
	case !ok:
		s.bad("MODULE")
	case f.HasModule:
		if f.warn(duplicate, s.line) {
			f.say("another MODULE record; the first counts")
		}
	default:
		f.Module, f.HasModule = m, true
	}
}

// INFO CODE_ID id [file], INFO URL url; others (INFO GENERATOR …) are not used. rust-minidump's
// symbol supplier appends INFO URL to a file that it downloads.
func (f *File) info(rest []byte) {
	w := fields{rest: trimEOL(rest)}
	switch string(w.word()) {
	case "CODE_ID":
		if f.CodeID == "" {
			f.CodeID = string(w.word())
			f.CodeFile = string(w.name())
		}
	case "URL":
		f.URL = string(w.name())
	}
}

func (s *scanner) gotFunc(rest []byte, off, end int64) {
	s.newFunc()
	r, ok := parseFunc(rest)
	if !ok { // its lines must not count as those of the function before
		s.bad("FUNC")
		return
	}
	if len(r.name) == 0 {
		s.bad("FUNC (no name)")
	}
	s.hasFunc(r.rva, r.size, off, end)
}

// newFunc ends the FUNC before: lines that follow do not belong to it, even if the new record is
// malformed.
func (s *scanner) newFunc() {
	s.f.Counts.Funcs++
	if s.seg != nil {
		s.seg.sawFunc = true
	}
	s.endFunc()
}

// hasFunc begins a FUNC whose record is at [off, end) of the file.
func (s *scanner) hasFunc(rva, size uint64, off, end int64) {
	s.fn = &s.fnRec
	s.fnRec = rec{rva: rva, size: s.code("FUNC", rva, size), off: off, end: end, line: int32(s.line)}
	s.fnEnd = &s.fnRec.end
}

func (s *scanner) gotInline(rest []byte, off, end int64) {
	s.f.Counts.Inlines++
	r, ok := parseInline(rest)
	for ranges := &r.ranges; ok && len(trimEOL(ranges.rest)) > 0; {
		_, _, ok = ranges.next()
	}
	if !ok {
		s.bad("INLINE")
		return
	}
	if s.fn == nil {
		if s.strayFunc() {
			return
		}
		if s.f.warn(orphan, s.line) {
			s.f.say("INLINE record before any FUNC")
		}
		return
	}
	s.belongs(off, end)
}

func (s *scanner) gotPublic(rest []byte, off int64) {
	s.f.Counts.Publics++
	r, ok := parsePublic(rest)
	switch {
	case !ok:
		s.bad("PUBLIC")
	case r.rva == 0:
		// No code is at a module's first byte. Breakpad saw such records in files made from
		// ntdll.pdb and leaves them out; rust-minidump lets them name everything up to the first
		// function.
		if s.f.warn(noCode, s.line) {
			s.f.say("PUBLIC at address 0 is not used")
		}
	default:
		s.f.tables[tablePublics].put(rec{rva: r.rva, off: off, line: int32(s.line)})
	}
}

// gotCFI indexes a STACK CFI INIT record, or adds a delta to the current one. A delta outside of
// its INIT, or out of order, stays with a warning: the readers of the rules skip or sort it.
func (s *scanner) gotCFI(rest []byte, off, end int64) {
	r, ok := parseCFI(rest)
	if r.init {
		s.newInit()
		if !ok {
			s.bad("STACK CFI INIT")
			return
		}
		s.hasInit(r.rva, r.size, off, end)
		return
	}
	s.f.Counts.CFIDeltas++
	switch {
	case !ok:
		s.bad("STACK CFI")
		return
	case s.cfi == nil:
		if s.seg != nil && !s.seg.sawInit && !s.seg.first {
			s.seg.odd = true
			return
		}
		if s.f.warn(orphan, s.line) {
			s.f.say("STACK CFI record before any STACK CFI INIT")
		}
		return
	case !s.cfi.has(r.rva) && s.cfi.size > 0:
		if s.f.warn(outside, s.line) {
			s.f.sayOf(s.cfi.line, "STACK CFI record at 0x%x lies outside its STACK CFI INIT", r.rva)
		}
	case r.rva < s.lastDelta:
		if s.f.warn(outside, s.line) {
			s.f.say("STACK CFI record at 0x%x comes after one at 0x%x", r.rva, s.lastDelta)
		}
	}
	s.lastDelta = r.rva
	if *s.cfiEnd == off {
		*s.cfiEnd = end
		return
	}
	s.f.extras = append(s.f.extras, extra{owner: s.cfi.off, off: off, end: end, line: int32(s.line)})
	s.cfiEnd = &s.f.extras[len(s.f.extras)-1].end
}

// newInit ends the STACK CFI INIT before, as newFunc does a FUNC.
func (s *scanner) newInit() {
	s.f.Counts.CFIInits++
	if s.seg != nil {
		s.seg.sawInit = true
	}
	s.endInit()
}

// hasInit begins a STACK CFI INIT whose record is at [off, end) of the file.
func (s *scanner) hasInit(rva, size uint64, off, end int64) {
	s.cfi = &s.cfiRec
	s.cfiRec = rec{rva: rva, size: s.code("STACK CFI INIT", rva, size), off: off, end: end, line: int32(s.line)}
	s.cfiEnd = &s.cfiRec.end
	s.lastDelta = rva
}

func (s *scanner) gotWin(rest []byte, off int64) {
	r, ok := parseWin(rest)
	if !ok {
		s.bad("STACK WIN")
		return
	}
	at := tableWin4
	switch r.typ {
	case 4:
		s.f.Counts.WinFrameData++
	case 0:
		s.f.Counts.WinFPO++
		at = tableWin0
	default:
		s.f.Counts.WinOther++
		if s.f.warn(otherType, s.line) {
			s.f.say("STACK WIN record of type %x is not used", r.typ)
		}
		return
	}
	if size := s.code("STACK WIN", r.rva, r.size); size > 0 {
		s.f.tables[at].put(rec{rva: r.rva, size: size, off: off, end: off, line: int32(s.line)})
	}
}

// recordKind is what a line is, as far as a search needs to know.
type recordKind uint8

const (
	recordBlank recordKind = iota
	recordFile
	recordOrigin
	recordFunc
	recordPublic
	recordInline
	recordLine // and every line that is no other record: such lines are skipped
	recordInit
	recordDelta
	recordWin
	recordInfo // INFO and MODULE, which may be anywhere
)

// found is a line and the fields by which it is searched for.
type found struct {
	is        recordKind
	ok        bool // the record can be used
	key, size uint64
	typ       uint64 // of a STACK WIN
	left      []byte // what follows the fields
}

// classify returns the kind of a line. It agrees with scanner.record, which builds the index.
func classify(line []byte) found {
	if len(line) == 0 {
		return found{}
	}
	// A line as every writer writes it is recognized by its first bytes. A search reads thousands
	// of lines to find one record.
	switch c := line[0]; {
	case c == 'I' && len(line) > 14 && line[6] == ' ' && string(line[:6]) == "INLINE":
		return found{is: recordInline}
	case c == 'I' && len(line) > 14 && string(line[:14]) == "INLINE_ORIGIN ":
		if num, rest, ok := plainNumber(line[14:]); ok {
			return found{is: recordOrigin, ok: true, key: num, left: rest}
		}
	case c == 'F' && len(line) > 5 && string(line[:5]) == "FILE ":
		if num, rest, ok := plainNumber(line[5:]); ok {
			return found{is: recordFile, ok: true, key: num, left: rest}
		}
	case c == 'F' && len(line) > 5 && string(line[:5]) == "FUNC ":
		if r, ok := plainCode(line, 5, 3); ok {
			r.is = recordFunc
			return r
		}
	case c == 'S' && len(line) > 15 && string(line[:15]) == "STACK CFI INIT ":
		if r, ok := plainCode(line, 15, 2); ok {
			r.is = recordInit
			return r
		}
	case c == 'S' && len(line) > 10 && string(line[:10]) == "STACK CFI " && hexVal[line[10]] != 0xff:
		return found{is: recordDelta, ok: true, left: line}
	case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		return found{is: recordLine}
	}
	switch line[0] {
	case 'F':
		if rest, ok := keyword(line, "FUNC"); ok {
			r, ok := parseFunc(rest)
			return found{is: recordFunc, ok: ok, key: r.rva, size: r.size, left: r.name}
		}
		if rest, ok := keyword(line, "FILE"); ok {
			num, name, ok := parseFile(rest)
			return found{is: recordFile, ok: ok, key: uint64(num), left: name}
		}
	case 'I':
		if _, ok := keyword(line, "INLINE"); ok {
			return found{is: recordInline}
		}
		if rest, ok := keyword(line, "INLINE_ORIGIN"); ok {
			f := fields{rest: rest}
			num := f.dec()
			return found{is: recordOrigin, ok: !f.bad, key: uint64(num), left: f.rest}
		}
		if _, ok := keyword(line, "INFO"); ok {
			return found{is: recordInfo, left: line}
		}
	case 'P':
		if rest, ok := keyword(line, "PUBLIC"); ok {
			r, ok := parsePublic(rest)
			return found{is: recordPublic, ok: ok, key: r.rva, left: r.name}
		}
	case 'S':
		rest, ok := keyword(line, "STACK")
		if !ok {
			break
		}
		if cfi, ok := keyword(rest, "CFI"); ok {
			r, ok := parseCFI(cfi)
			if r.init {
				return found{is: recordInit, ok: ok, key: r.rva, size: r.size, left: r.rules}
			}
			return found{is: recordDelta, ok: ok, left: line}
		}
		if win, ok := keyword(rest, "WIN"); ok {
			r, ok := parseWin(win)
			if !ok && r.typ == 0 {
				r.typ = 4 // whatever type it would have had
			}
			return found{is: recordWin, ok: ok, typ: r.typ, key: r.rva, size: r.size, left: r.program}
		}
	case 'M':
		if _, ok := keyword(line, "MODULE"); ok {
			return found{is: recordInfo, left: line}
		}
	}
	if len(trimEOL(line)) == 0 {
		return found{}
	}
	return found{is: recordLine}
}

// plainCode reads n hexadecimal numbers at line[i:], the address, the size and others, each with
// one blank after it. It returns false if one is not plain or nothing follows, or if the slice has
// less than slack bytes of capacity after the line, which hexField may read.
func plainCode(line []byte, i, n int) (r found, ok bool) {
	if cap(line) < len(line)+slack {
		return r, false
	}
	b := line[:len(line)+slack]
	for k := range n {
		v, next := hexField(b, i)
		if next == 0 || next >= len(line) || b[next-1] != ' ' {
			return r, false
		}
		switch i = next; k {
		case 0:
			r.key = v
		case 1:
			r.size = v
		}
	}
	r.ok, r.left = true, line[i:]
	return r, line[i] > ' '
}

// plainNumber reads a decimal number of up to nine digits, one blank, and something after it.
func plainNumber(b []byte) (num uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i < 9 && b[i]-'0' <= 9; i++ {
		num = num*10 + uint64(b[i]-'0')
	}
	if i == 0 || i+1 >= len(b) || b[i] != ' ' || b[i+1] <= ' ' {
		return 0, nil, false
	}
	return num, b[i+1:], true
}
