package session

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
)

// CodeWish says what FrameCode and CodeAt show: up to Before instructions before the address and After from there
// on; Whole: all of the function. Redact: without values of registers, what follows from them, and memory that
// may be data.
type CodeWish struct {
	Before, After int
	Whole, Redact bool
}

// codeWork is the work of decoding an instruction and finding its line, in steps.
const codeWork = 64

// maxCode limits the bytes of code that are decoded: symbols may give a function any size.
const maxCode = 256 << 10

// maxAbove limits those before the address, so that there is room for it.
const maxAbove = maxCode / 4 * 3

// FrameCode returns the code around a frame's instruction, for a caller its call. Threads and frames
// count as for Explain.
func (s *Session) FrameCode(thread, frame int, wish CodeWish) (*report.Code, error) {
	r := s.present()
	if thread < 0 || thread >= len(r.Threads) || frame < 0 || frame >= len(r.Threads[thread].Frames) {
		return nil, fmt.Errorf("there is no frame %d of a thread %d", frame, thread)
	}
	f := &s.walked.stacks[thread].Frames[frame]
	at := f.Lookup
	if in := s.instruction(f); in != nil {
		at = in.Address
	}
	thumb := f.PC&1 == 1
	if frame == 0 {
		thumb = f.Regs.Mode != cpu.ARMMode // it is Thumb code, or the dump does not say
	}
	c := s.coder(f.Regs.Arch, thumb, wish)
	c.around(at)
	for i := range c.out.Rows {
		row := &c.out.Rows[i]
		if row.Address != c.arch.CodeAddress(at) {
			continue
		}
		row.At = true
		if f.Lookup != f.PC && row.Call && f.Skipped == nil {
			row.Callee = r.Threads[thread].Number(frame) - 1
		}
		if !wish.Redact {
			row.Values = values(row.Text, &f.Regs)
			if s.ExceptionOf(thread) != nil && frame == 0 {
				s.branch(row, thread, &f.Regs)
			}
		}
	}
	return c.done(s.opt.Demangle), nil
}

// CodeAt returns the code around an address, whose lowest bit says on 32-bit arm that it is Thumb code.
func (s *Session) CodeAt(at uint64, wish CodeWish) (*report.Code, error) {
	s.present()
	arch := s.Arch()
	if arch == nil {
		return nil, fmt.Errorf("the dump does not name its processor")
	}
	return s.coder(arch, at&1 == 1, wish).at(at).done(s.opt.Demangle), nil
}

// codeSource is what code is read from: a dump's process (Session), or a file (Outline).
type codeSource interface {
	// readCode reads the code at an address, and returns how many bytes there were.
	readCode(address uint64, p []byte) int
	// locate returns what symbols say about an address.
	locate(address uint64) located
	// codeFile names the file that has a module's code.
	codeFile(module int) string
	// noCode says why there is no code at an address, and whether a file that was not added has it.
	noCode() (why string, absent bool)
	// rule says how the caller is found at an address, or is "".
	rule(address uint64) string
}

// coder makes a report.Code.
type coder struct {
	of    codeSource
	src   *input.Source // whose budget the work is drawn from
	dump  *core.Dump    // nil: all code is a file's
	order binary.ByteOrder
	arch  *cpu.Arch
	thumb bool
	wish  CodeWish
	out   *report.Code
	room  []byte
	code  []byte // what was read last, a part of room, at base
	base  uint64
	found located // by the last lookup
	// ranges is the memory map, once it was needed.
	ranges *analysis.MemoryMap
	// file and line are the last position in the source that a row has.
	file string
	line uint32
	last string // the last rule that a row has
}

// located is what symbols say about an address. known: they have a name or a line. thumb: what is there is not known to be
// ARM code.
type located struct {
	address uint64
	module  int // or -1
	rva     uint64
	sym     symbol.Symbol
	known   bool
	thumb   bool
	done    bool // it was looked up
}

// lookup looks an address up. The last answer is kept, since several questions follow for an address.
func (c *coder) lookup(address uint64) *located {
	l := &c.found
	if l.done && l.address == address {
		return l
	}
	*l = c.of.locate(address)
	l.address, l.done = address, true
	return l
}

// isThumb reports whether the code at an address may be Thumb code.
func (c *coder) isThumb(address uint64) bool {
	return c.thumb || c.arch.ThumbBit && c.lookup(address).thumb
}

// decodes reports whether the instructions at an address are decoded.
func (c *coder) decodes(address uint64) bool { return disasm.Knows(c.arch, c.isThumb(address)) }

func (s *Session) coder(arch *cpu.Arch, thumb bool, wish CodeWish) *coder {
	return &coder{of: s, src: s.Src, dump: s.Dump, order: s.order(), arch: arch, thumb: thumb && arch.ThumbBit, wish: wish, out: &report.Code{}}
}

func (s *Session) readCode(address uint64, p []byte) int { return s.Dump.Code(address, p) }

func (s *Session) locate(address uint64) (l located) {
	if l.module, l.rva = s.walked.walker.Modules.Find(address); l.module >= 0 {
		l.sym, l.known = s.nameAt(l.module, l.rva)
	}
	return l
}

func (s *Session) codeFile(module int) string { return s.Modules[module].Name }

func (s *Session) noCode() (string, bool) {
	return "neither the dump nor a program that was added has the code there", true
}

func (s *Session) rule(uint64) string { return "" } // explain has those of frames

// at makes the rows around an address, and marks its own.
func (c *coder) at(at uint64) *coder {
	c.around(at)
	for i := range c.out.Rows {
		c.out.Rows[i].At = c.out.Rows[i].Address == c.arch.CodeAddress(at)
	}
	return c
}

// around makes the rows around an address.
func (c *coder) around(at uint64) {
	at = c.arch.CodeAddress(at)
	c.out.Place = c.place(at)
	var one [1]byte
	switch inDump := c.inDump(at); {
	case c.wish.Redact && inDump && !c.isCode(at):
		c.out.Unread = "the memory there may be data, which this viewer hides"
		return
	case c.of.readCode(at, one[:]) == 0:
		c.out.Unread, c.out.Absent = c.of.noCode()
		return
	case !inDump && c.out.Place.Module >= 0:
		c.out.From = c.of.codeFile(c.out.Place.Module)
	}
	if !c.decodes(at) {
		c.out.Unread = c.arch.Name + " instructions are not decoded"
		if c.isThumb(at) {
			c.out.Unread = "it may be Thumb code, which is not decoded"
		}
	}
	end := uint64(0)
	if c.wish.Whole {
		if start, size := c.function(at); size > 0 {
			c.wish.Before, end = maxAbove, start+min(size, maxCode)
		}
	}
	before := c.above(at, end > 0)
	c.out.MoreBefore = len(before) > 0 && len(before) == c.wish.Before
	for i, start := range before {
		stop := at
		if i+1 < len(before) {
			stop = before[i+1]
		}
		c.add(start, stop)
	}
	next, first := at, at
	if len(before) > 0 {
		first = before[0]
	}
	for n := 0; (next < end || end == 0 && n < c.wish.After) && next-first < maxCode; n++ {
		size := c.add(next, 0)
		if size == 0 {
			break
		}
		next += size
	}
	if len(c.out.Rows) > 0 {
		_, _, c.out.MoreAfter = c.decode(next)
		c.firstLine()
	}
}

// inDump reports whether an address is in the dump's memory.
func (c *coder) inDump(address uint64) bool {
	var one [1]byte
	return c.dump != nil && c.dump.Memory.Read(address, one[:]) == 1
}

// isCode reports whether memory of the dump at an address is a program's code: the memory map says
// that it can be executed and not written, or without a map a function is there.
func (c *coder) isCode(address uint64) bool {
	if c.lookup(address).module < 0 {
		return false
	}
	if c.ranges == nil {
		c.ranges = analysis.NewMemoryMap(c.dump)
	}
	if p := c.ranges.At(address); p != nil {
		return p.Exec && !p.Write
	}
	_, size := c.function(address)
	return size > 0
}

// function returns the beginning and the size of the function that covers an address, 0 and 0 if none
// is known to.
func (c *coder) function(address uint64) (start, size uint64) {
	l := c.lookup(address)
	if !l.known || l.sym.Name == "" || l.rva < l.sym.Start || l.sym.Size > 0 && l.rva-l.sym.Start >= l.sym.Size {
		return 0, 0
	}
	return address - (l.rva - l.sym.Start), l.sym.Size
}

// read reads the code of an address: of its page and the next, so that decoding may go backwards, or
// where the page begins without code, from the address on.
func (c *coder) read(address uint64) {
	const page = 4096
	if c.room == nil {
		c.room = make([]byte, 2*page)
	}
	for _, c.base = range []uint64{address &^ (page - 1), address} {
		if c.code = c.room[:c.of.readCode(c.base, c.room)]; c.base+uint64(len(c.code)) > address {
			return
		}
	}
	c.code = c.code[:0]
}

// decode decodes the instruction at an address; false if its memory is not there.
func (c *coder) decode(address uint64) (disasm.Inst, []byte, bool) {
	if off := address - c.base; off >= uint64(len(c.code)) || uint64(len(c.code))-off < disasm.Longest {
		c.read(address)
	}
	if address-c.base >= uint64(len(c.code)) || c.wish.Redact && !c.public(address) {
		return disasm.Inst{}, nil, false
	}
	rest := c.code[address-c.base:]
	in := disasm.Decode(c.arch, rest, address, c.order, c.isThumb(address))
	return in, rest[:in.Len], true
}

// public reports whether the bytes at an address are a file's, or code.
func (c *coder) public(address uint64) bool { return !c.inDump(address) || c.isCode(address) }

// above finds where the instructions before an address begin: as many as are wanted, in order. It goes
// from function to function, and decodes each from its beginning. If no symbol says where that of the
// address begins, it goes back to the farthest address from which decoding leads on, and ends. one: no
// other function than that of the address.
func (c *coder) above(at uint64, one bool) (found []uint64) {
	for end := at; len(found) < c.wish.Before && at-end < maxAbove; {
		start, _ := c.function(at)
		first := end == at && start < at // the function that the address is in
		if !first {
			if start = c.functionBefore(end); one || start == 0 && len(found) > 0 {
				break
			}
		}
		known := start > 0 && end-start <= maxAbove && c.decodes(at)
		if known {
			_, _, known = c.decode(start)
		}
		if !known && !first && (len(found) > 0 || start > 0) {
			break // nothing is guessed before a function's beginning
		}
		if !known {
			start = c.before(end, c.wish.Before-len(found))
			c.out.Guessed = start < end && c.decodes(at)
		}
		var starts []uint64
		for next := start; next < end && c.src.Draw(input.Work, codeWork) == nil; {
			in, _, ok := c.decode(next)
			if !ok { // a gap in the function
				starts = nil
				break
			}
			starts = append(starts, next)
			next += uint64(in.Len)
		}
		found = append(starts, found...)
		if end = start; !known || len(starts) == 0 {
			break
		}
	}
	return found[max(0, len(found)-c.wish.Before):]
}

// functionBefore returns where the function that ends at an address begins, or a little before it: there
// may be bytes between functions. It is 0 if no symbol says it.
func (c *coder) functionBefore(end uint64) uint64 {
	const padding = 64
	for at := end - 1; end-at <= padding; at-- {
		if start, _ := c.function(at); start > 0 {
			return start
		}
	}
	return 0
}

// before finds where some instructions before an address begin: the farthest place from which
// decoding leads to the address. Bytes that are not decoded begin anywhere.
func (c *coder) before(at uint64, n int) uint64 {
	step := uint64(max(1, c.arch.JumpAlign))
	decodes := c.decodes(at)
	far, leads := at, map[uint64]bool{at: true}
	for start := at - step; at-start <= min(uint64(n)*4, maxAbove) && c.src.Draw(input.Work, codeWork) == nil; start -= step {
		if in, _, ok := c.decode(start); ok && (in.Text != "" || !decodes) && leads[start+uint64(in.Len)] {
			far, leads[start] = start, true
		}
	}
	return far
}

// add adds the instruction at an address, which ends before the address stop unless that is 0, and returns
// its size, or 0 if it is not there.
func (c *coder) add(next, stop uint64) uint64 {
	if err := c.src.Draw(input.Work, codeWork); err != nil {
		c.out.Unread = err.Error()
		return 0
	}
	in, code, ok := c.decode(next)
	if !ok {
		return 0
	}
	if _, size := c.function(next); stop == 0 && size == 0 && in.Len > 1 { // bytes between functions
		if start, _ := c.function(next + uint64(in.Len) - 1); start > next {
			stop = start
		}
	}
	if stop > 0 && next+uint64(in.Len) > stop { // symbols begin in the middle of an instruction
		in, code = disasm.Inst{Len: int(stop - next)}, code[:stop-next]
	}
	row := report.CodeRow{Instruction: report.Instruction{Address: next, Text: in.Text, Bytes: slices.Clone(code), Target: in.Target, HasTarget: in.HasTarget, Place: report.Place{Module: -1}},
		Call: in.Call, Callee: -1, In: c.place(next)}
	if row.Data = in.Data; in.HasTarget {
		row.Place = c.place(in.Target)
	} else if in.Data != 0 {
		row.Place = c.place(in.Data)
	}
	if file, line := c.lookup(next).position(); line != 0 && (file != c.file || line != c.line || row.Starts()) {
		row.File, row.Line, c.file, c.line = file, line, file, line
	}
	if rule := c.of.rule(next); rule != c.last || rule != "" && row.Starts() {
		row.Rule, c.last = rule, rule
	}
	c.out.Rows = append(c.out.Rows, row)
	return uint64(in.Len)
}

// firstLine gives the first row its line, which a row before it may have had.
func (c *coder) firstLine() {
	if len(c.out.Rows) > 0 && c.out.Rows[0].Line == 0 {
		row := &c.out.Rows[0]
		row.File, row.Line = c.lookup(row.Address).position()
	}
}

// place is the module and function of an address.
func (c *coder) place(address uint64) report.Place {
	l := c.lookup(address)
	out := report.Place{Module: l.module, Offset: l.rva}
	if l.known && l.sym.Name != "" {
		out.Function, out.Offset = report.Name{Raw: l.sym.Name, Linked: l.sym.Linked}, l.rva-l.sym.Start
	}
	return out
}

// position is the position in the source: in the innermost inlined call there.
func (l *located) position() (string, uint32) {
	if len(l.sym.Inlines) > 0 {
		return l.sym.Inlines[0].File, l.sym.Inlines[0].Line
	}
	return l.sym.File, l.sym.Line
}

// done makes the names readable.
func (c *coder) done(demangle func(string) string) *report.Code {
	if demangle != nil {
		c.out.Demangle(demangle)
	}
	return c.out
}

// values are the registers that an instruction names and whose values are known. For a register that it
// names twice, the wider part counts: "mov eax, [rax]" names rax.
func values(text string, regs *cpu.Regs) (out []report.RegisterValue) {
	at, bits := map[cpu.Reg]int{}, map[cpu.Reg]int{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}) {
		o, ok := disasm.Register(regs.Arch, word)
		if !ok || o.Bits <= bits[o.Reg] {
			continue
		}
		v, known := regs.Get(o.Reg)
		if !known {
			continue
		}
		value := report.RegisterValue{Name: word, Value: o.Value(v)}
		if bits[o.Reg] > 0 {
			out[at[o.Reg]] = value
		} else {
			at[o.Reg] = len(out)
			out = append(out, value)
		}
		bits[o.Reg] = o.Bits
	}
	return out
}

// branch says whether a conditional jump at a thread's exception is taken.
func (s *Session) branch(row *report.CodeRow, thread int, regs *cpu.Regs) {
	context, err := threadContext(s.Dump, thread)
	if err != nil {
		return
	}
	b, ok := disasm.Decide(regs.Arch, row.Text, func(name string) (uint64, bool) {
		if r, ok := regs.Arch.Lookup(name); ok {
			return regs.Get(r)
		}
		return context.ExtraValue(name)
	})
	if ok {
		row.Jump = &report.Jump{Taken: b.Taken, Why: b.Why}
	}
}
