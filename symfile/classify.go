package symfile

// recordKind is what a line is, as far as a search needs to know.
type recordKind uint8

const (
	recordBlank recordKind = iota
	recordFile
	recordOrigin
	recordFunc
	recordPublic
	recordInline
	recordLine // and all that is no other record: such lines are passed over where they stand
	recordInit
	recordDelta
	recordWin
	recordInfo // INFO and MODULE, which may stand anywhere
)

// phaseOfRecord is the section that a record belongs to; that of a STACK WIN depends on its type.
var phaseOfRecord = [...]phase{recordFile: phaseFiles, recordOrigin: phaseOrigins, recordFunc: phaseBody, recordPublic: phaseBody,
	recordInline: phaseBody, recordLine: phaseBody, recordInit: phaseCFI, recordDelta: phaseCFI, recordWin: phaseWin, recordInfo: noPhase}

// found is a line and the fields by which it is searched for.
type found struct {
	is        recordKind
	ok        bool // the record can be used
	key, size uint64
	typ       uint64 // of a STACK WIN
	left      []byte // what follows the fields
}

// classify tells what a line is. It agrees with scanner.record, which builds the index.
func classify(line []byte) found {
	if len(line) == 0 {
		return found{}
	}
	// What stands as writers write it is told by a glance; a search goes over thousands of lines to find one.
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

// plainCode reads the address, the size and further hexadecimal numbers of a record at line[i:], n in all, as writers write them, with
// something behind them.
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

// plainNumber reads a number of few digits, one blank and something behind it.
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
