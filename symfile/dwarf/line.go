package dwarf

import "github.com/crashpane/crashpane/core/input"

const (
	// maxFiles limits a program's files, and its directories.
	maxFiles = 4 << 20
	// rowBatch is how many rows are paid for together, at rowCost bytes of memory each: 16, and
	// copies of them while the list grows. A sequence costs as much as sequenceRows.
	rowBatch, rowCost, sequenceRows = 4 << 10, 64, 3
	// stepsPerByte is the work of a program's byte: each may make a row, which is sorted.
	stepsPerByte = 4
)

// program is a line program's header and the registers of its state machine (DWARF 5, section
// 6.2.2).
type program struct {
	reader
	encoding
	t   *lineTable
	u   *unit
	sec *section
	at  int64 // section offset of the reader's first byte

	minInst, maxOps  uint64
	lineBase         int8
	lineRange, first uint8
	lengths          [256]uint8
	bytesOf, linesOf [256]int32 // by special opcode: advance of the address (if maxOps is 1) and of the line

	addr, opIndex uint64
	file, line    uint32
	prev          uint64 // address of the last row
	began         int    // index of the sequence's first row
	open          bool   // the sequence has a row
	dead          bool   // the linker discarded the sequence's code
}

// lines executes a unit's line program. After an error it returns the rows before it too.
//
// In order: the length of the program; its bytes, in one read; its header, with the tables of
// directories and files; its opcodes, which make rows; the sequences by address.
func (d *Data) lines(u *unit) (*lineTable, error) {
	t := &lineTable{u: u}
	if !u.hasStmts {
		return t, nil
	}
	o := u.obj
	sec, err := o.section(secLine)
	if err != nil {
		return t, err
	}
	if sec == nil {
		return t, o.missing(secLine)
	}
	b, err := sec.upTo(u.stmts, 12)
	if err != nil {
		return t, err
	}
	p := &program{t: t, u: u, sec: sec}
	p.reader = reader{b: b, big: o.big}
	p.encoding.off = 4
	length := uint64(p.u32())
	if length == 0xffffffff {
		length = p.u64()
		p.encoding.off = 8
	}
	if p.bad || length > uint64(sec.size-u.stmts-int64(p.p)) {
		return t, sec.errorf(u.stmts, "a line program inside the section", "one of 0x%x bytes, with 0x%x to the end of the section", length, sec.size-u.stmts)
	}
	if !d.allow(workLines, int64(length), sec.size) {
		return t, sec.errorf(u.stmts, "line programs that do not overlap", "many that do")
	}
	p.at = u.stmts + int64(p.p)
	if err := sec.src.Draw(input.Work, stepsPerByte*int64(length)); err != nil {
		return t, sec.src.Wrap("", u.stmts, err)
	}
	if b, err = sec.bytes(p.at, int64(length)); err != nil {
		return t, err
	}
	p.reader = reader{b: b, big: o.big}
	if err := p.header(); err != nil {
		return t, err
	}
	err = p.run()
	// A program that breaks off leaves its last sequence open. The last row then covers one byte.
	p.endSequence(p.prev + 1)
	t.sortSequences()
	return t, err
}

// errorf returns an error at the reader's position.
func (p *program) errorf(want, have string, args ...any) error {
	return p.sec.errorf(p.at+int64(p.p), want, have, args...)
}

// header reads the header of a line program, versions 2 to 5 (DWARF 5, section 6.2.4). o is 4
// bytes, or 8 in 64-bit DWARF:
//
//	unit_length                          4 or 12   read by lines
//	version                              2
//	address_size                         1         since version 5
//	segment_selector_size                1         since version 5
//	header_length                        o         bytes from here to the first opcode
//	minimum_instruction_length           1
//	maximum_operations_per_instruction   1         since version 4
//	default_is_stmt                      1
//	line_base                            1         signed
//	line_range                           1
//	opcode_base                          1
//	standard_opcode_lengths              opcode_base - 1, one byte each
//	directories and files                see names and table
func (p *program) header() error {
	version := p.u16()
	if version < 2 || version > 5 {
		return p.errorf("a line program of version 2 to 5", "version %d", version)
	}
	p.version = uint8(version)
	p.t.version = p.version
	p.encoding.addr = p.u.addr
	if version >= 5 {
		p.encoding.addr = p.u8()
		p.u8() // bytes of a segment selector
	}
	headerLength := p.uint(int(p.encoding.off))
	if p.bad || headerLength > uint64(p.left()) {
		return p.errorf("the header of a line program", "one of 0x%x bytes, with 0x%x left", headerLength, p.left())
	}
	start := p.p + int(headerLength)
	p.minInst = uint64(p.u8())
	p.maxOps = 1
	if version >= 4 {
		p.maxOps = max(1, uint64(p.u8()))
	}
	p.u8() // default_is_stmt
	// Special opcodes depend on these three, see run. "first" is opcode_base: the number of the
	// first special opcode.
	p.lineBase = int8(p.u8())
	p.lineRange = p.u8()
	p.first = p.u8()
	for i := 1; i < int(p.first); i++ {
		p.lengths[i] = p.u8()
	}
	if p.bad {
		return p.errorf("the header of a line program", "the end of it")
	}
	// Most rows come from special opcodes, so their effects are computed once.
	for i := int(p.first); i < 256 && p.lineRange > 0; i++ {
		adj := i - int(p.first)
		p.bytesOf[i] = int32(adj/int(p.lineRange)) * int32(p.minInst)
		p.linesOf[i] = int32(p.lineBase) + int32(adj%int(p.lineRange))
	}
	if err := p.names(); err != nil {
		return err
	}
	// The program begins where the header's length says, whatever the tables were.
	p.bad = false
	p.p = start
	return nil
}

// names reads the tables of directories and files. Before DWARF 5 they are NUL-terminated lists
// (DWARF 4, section 6.2.4):
//
//	directory\0 … \0   {file\0, directory index, time, size} … \0
func (p *program) names() error {
	t := p.t
	base := p.at
	if p.version >= 5 {
		dirs, err := p.table()
		if err != nil {
			return err
		}
		for _, e := range dirs {
			t.dirs = append(t.dirs, e.name)
		}
		t.files, err = p.table()
		return err
	}
	for p.left() > 0 && p.b[p.p] != 0 && len(t.dirs) < maxFiles {
		t.dirs = append(t.dirs, word{formString, uint64(base) + uint64(p.p)})
		p.skipText()
	}
	if p.u8() != 0 {
		return p.errorf("the directories of a line program", "more than %d", maxFiles)
	}
	for p.left() > 0 && p.b[p.p] != 0 && len(t.files) < maxFiles {
		e := fileEntry{name: word{formString, uint64(base) + uint64(p.p)}}
		p.skipText()
		e.dir = p.uleb()
		p.uleb()
		p.uleb()
		t.files = append(t.files, e)
	}
	if p.u8() != 0 {
		return p.errorf("the files of a line program", "more than %d", maxFiles)
	}
	if p.bad {
		return p.errorf("the directories and files of a line program", "the end of it")
	}
	return nil
}

// table reads a table of directories or files of DWARF 5 (section 6.2.4.1): a list of {content
// type, form}, then the number of entries, then each entry's values in that order.
//
// Example, the directories of GCC and LLVM: 01 01 1f 02 and two offsets is one column, DW_LNCT_path
// as DW_FORM_line_strp, and two entries. Entry 0 is the directory of the compilation.
func (p *program) table() ([]fileEntry, error) {
	type column struct {
		what uint64
		form attribute
	}
	columns := make([]column, p.u8())
	for i := range columns {
		columns[i] = column{p.uleb(), attribute{form: uint16(min(p.uleb(), 0xffff))}}
	}
	count := p.uleb()
	var all []fileEntry
	for ; count > 0; count-- {
		before := p.p
		var e fileEntry
		for i := range columns {
			w := p.word(p.encoding, &columns[i].form, p.at)
			switch columns[i].what {
			case 1: // DW_LNCT_path
				e.name = w
			case 2: // DW_LNCT_directory_index
				e.dir = w.v
			case 5: // DW_LNCT_MD5
				if w.form == formData16 && p.p >= 16 {
					sum := [16]byte(p.b[p.p-16:])
					e.sum = &sum
				}
			}
		}
		if p.bad || p.p == before || len(all) >= maxFiles {
			return all, p.errorf("the directories and files of a line program", "a table that ends %d entries early", count)
		}
		all = append(all, e)
	}
	return all, nil
}

// reset sets the registers to their values at the begin of a sequence.
func (p *program) reset() {
	p.addr, p.opIndex, p.file, p.line = 0, 0, 1, 1
	p.open, p.dead = false, false
	p.prev = 0
	p.began = len(p.t.rows)
}

// run executes the program (DWARF 5, section 6.2.5).
//
// An opcode from opcode_base on is special. Programs of DWARF 2 have an opcode_base of 10, so that
// 0x0a to 0x0c are special in them and the cases below are not reached. The operands of a standard
// opcode are LEB128 numbers, except that of DW_LNS_fixed_advance_pc.
func (p *program) run() error {
	p.reset()
	// Each byte of a program can make a row. The table of one unit is in use at a time.
	paid := 0
	defer func() { p.sec.src.Return(int64(paid) * rowCost) }()
	for p.p < len(p.b) {
		if len(p.t.rows)+sequenceRows*len(p.t.seqs) >= paid {
			if err := p.sec.src.Draw(input.Memory, rowBatch*rowCost); err != nil {
				return p.sec.src.Wrap("", p.at+int64(p.p), err)
			}
			paid += rowBatch
		}
		op := p.b[p.p]
		p.p++
		if op >= p.first {
			// A special opcode (section 6.2.5.1), with a = op - opcode_base:
			//   address += a / line_range * minimum_instruction_length     line += line_base + a % line_range
			// Example: with opcode_base 13, line_base -5 and line_range 14, opcode 0x4b (75) has a
			// = 62: the address advances by 62/14 = 4, the line by -5 + 62%14 = 1.
			if p.lineRange == 0 {
				return p.errorf("a line range that is not 0, for special opcodes", "opcode 0x%x", op)
			}
			if p.maxOps == 1 {
				p.addr += uint64(p.bytesOf[op])
			} else {
				p.advance(uint64((op - p.first) / p.lineRange))
			}
			p.line += uint32(p.linesOf[op])
			p.emit()
			continue
		}
		switch op {
		case 0x00:
			if err := p.extended(); err != nil {
				return err
			}
		case 0x01: // copy
			p.emit()
		case 0x02: // advance_pc
			p.advance(p.uleb())
		case 0x03: // advance_line
			p.line += uint32(p.sleb())
		case 0x04: // set_file
			p.file = uint32(min(p.uleb(), 1<<32-1))
		case 0x05: // set_column
			p.skipLEB()
		case 0x06, 0x07, 0x0a, 0x0b: // negate_stmt, set_basic_block, set_prologue_end, set_epilogue_begin
		// The address advances as special opcode 255 does it; no row is made.
		case 0x08: // const_add_pc
			if p.lineRange > 0 {
				p.advance(uint64((255 - p.first) / p.lineRange))
			}
		// The only operand that is not a LEB128 number: assemblers use it where a linker still changes
		// sizes.
		case 0x09: // fixed_advance_pc
			p.addr += uint64(p.u16())
			p.opIndex = 0
		case 0x0c: // set_isa
			p.skipLEB()
		default: // an opcode of a later version: the header says how many operands it has
			for range p.lengths[op] {
				p.skipLEB()
			}
		}
	}
	if p.bad {
		return p.errorf("a line program's operands", "the end of it")
	}
	return nil
}

// advance moves the address by n operations. An instruction of a VLIW processor has several
// (maxOps).
func (p *program) advance(n uint64) {
	if p.maxOps == 1 {
		p.addr += n * p.minInst
		return
	}
	p.addr += p.minInst * ((p.opIndex + n) / p.maxOps)
	p.opIndex = (p.opIndex + n) % p.maxOps
}

// extended executes an extended opcode (section 6.2.5.3): 0, its length as LEB128, the opcode,
// operands.
//
// Example: 00 09 02 and 8 bytes is DW_LNE_set_address, 00 01 01 is DW_LNE_end_sequence. The length
// counts the opcode.
func (p *program) extended() error {
	n := p.uleb()
	if p.bad || n > uint64(p.left()) {
		return p.errorf("an extended opcode", "one of 0x%x bytes", n)
	}
	if n == 0 { // padding
		return nil
	}
	end := p.p + int(n)
	switch op := p.u8(); op {
	case 0x01: // end_sequence
		p.endSequence(p.addr)
		p.reset()
	case 0x02: // set_address
		size := int(n - 1)
		if size != 2 && size != 4 && size != 8 {
			return p.errorf("an address", "one of %d bytes", size)
		}
		p.addr = p.uint(size)
		p.opIndex = 0
		// The first address of a sequence says whether its code is in the file.
		if !p.open {
			p.dead = p.u.discarded(p.addr)
		}
	case 0x03: // define_file
		e := fileEntry{name: word{formString, uint64(p.at) + uint64(p.p)}}
		p.skipText()
		e.dir = p.uleb()
		if len(p.t.files) < maxFiles {
			p.t.files = append(p.t.files, e)
		}
	}
	p.bad = false // a bad operand does no harm: the next opcode is where the length says
	p.p = end
	return nil
}

// emit adds a row. Of several rows at one address the last counts. Addresses must rise within a
// sequence (section 6.2.5); emit skips a row that goes back.
func (p *program) emit() {
	if p.dead || p.open && p.addr < p.prev {
		return
	}
	if !p.open && p.u.discarded(p.addr) {
		p.dead = true
		return
	}
	rows := p.t.rows
	r := row{p.addr, p.line, p.file}
	// The row before covers no code.
	if last := len(rows) - 1; p.open && rows[last].addr == p.addr {
		rows = rows[:last]
	}
	// Programs make a row for each statement and view, so the same line often follows itself: it
	// stays one row.
	if last := len(rows) - 1; last < p.began || rows[last].line != r.line || rows[last].file != r.file {
		rows = append(rows, r)
	}
	p.t.rows = rows
	p.prev = p.addr
	p.open = true
}

// endSequence ends the current sequence at an address, and drops it if it is empty or its code was
// discarded. It makes the addresses of the sequence's rows module-relative: up to here they are
// those in the file, which discarded and the order of rows depend on.
func (p *program) endSequence(end uint64) {
	t := p.t
	if !p.open || p.dead {
		t.rows = t.rows[:p.began]
		return
	}
	base := p.u.obj.d.main.s.Base
	for i := p.began; i < len(t.rows); i++ {
		t.rows[i].addr -= base
	}
	// The end is before the last row, so the last row gets one byte.
	if end < p.prev {
		end = p.prev + 1
	}
	s := sequence{from: p.began, to: len(t.rows)}
	s.start, s.end = t.rows[p.began].addr, end-base
	if s.end <= s.start {
		t.rows = t.rows[:p.began]
		return
	}
	t.seqs = append(t.seqs, s)
	p.open = false
}
