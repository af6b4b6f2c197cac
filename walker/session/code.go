package session

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
)

// CodeWish says what FrameCode and CodeAt show: up to Before instructions before the address and After from there
// on; Whole: all of the function.
type CodeWish struct {
	Before, After int
	Whole         bool
}

// codeWork is the work of decoding an instruction and finding its line, in steps.
const codeWork = 64

// maxCode limits the bytes of code that are decoded: symbols may give a function any size.
const maxCode = 256 << 10

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
	return s.code(at, &f.Regs, thumb, wish)
}

// CodeAt returns the code around an address, whose lowest bit says on 32-bit arm that it is Thumb code.
func (s *Session) CodeAt(at uint64, wish CodeWish) (*report.Code, error) {
	s.present()
	arch := s.Arch()
	if arch == nil {
		return nil, fmt.Errorf("the dump does not name its processor")
	}
	return s.code(arch.CodeAddress(at), &cpu.Regs{Arch: arch}, at&1 == 1, wish)
}

// code decodes from the function's beginning, or where that is not known from an instruction before
// the address from which decoding leads to it.
func (s *Session) code(at uint64, regs *cpu.Regs, thumb bool, wish CodeWish) (*report.Code, error) {
	c := &coder{s: s, arch: regs.Arch, thumb: thumb && regs.Arch.ThumbBit, out: &report.Code{}}
	at = c.arch.CodeAddress(at)
	c.out.Place = c.place(at)
	module, rva := s.walked.walker.Modules.Find(at)
	start, end := at, at+maxCode
	if module >= 0 {
		if sym, answer := s.walked.syms.Lookup(module, rva); answer == symbol.Yes && sym.Name != "" && rva >= sym.Start {
			start = at - (rva - sym.Start)
			if wish.Whole && sym.Size > 0 {
				end = start + sym.Size
			}
		}
	}
	var one [1]byte
	switch {
	case s.Dump.Code(at, one[:]) == 0:
		c.out.Unread = "neither the dump nor a program that was added has the code there"
		return c.out, nil
	case !disasm.Knows(c.arch, c.thumb):
		c.out.Unread = c.arch.Name + " instructions are not decoded"
		if c.thumb {
			c.out.Unread = "it may be Thumb code, which is not decoded"
		}
	case start == at || at-start > maxCode:
		start = c.before(at, wish.Before)
		c.out.Guessed = start < at
	}
	if s.Memory.Read(at, one[:]) == 0 && module >= 0 {
		c.out.From = s.Modules[module].Name
	}
	if c.out.Unread != "" {
		start = at
	}
	c.decode(start, at, end, wish)
	for i := range c.out.Rows {
		if row := &c.out.Rows[i]; row.Address == at {
			row.At, row.Values = true, values(row.Text, regs)
		}
	}
	if s.opt.Demangle != nil {
		c.out.Demangle(s.opt.Demangle)
	}
	return c.out, nil
}

// coder makes a report.Code.
type coder struct {
	s     *Session
	arch  *cpu.Arch
	thumb bool
	out   *report.Code
	room  []byte
	code  []byte // what was read last, a part of room, at base
	base  uint64
}

// read reads the code of an address: of its page and the next, so that decoding may go backwards, or
// where the page begins without code, from the address on.
func (c *coder) read(address uint64) {
	const page = 4096
	if c.room == nil {
		c.room = make([]byte, 2*page)
	}
	for _, c.base = range []uint64{address &^ (page - 1), address} {
		if c.code = c.room[:c.s.Dump.Code(c.base, c.room)]; c.base+uint64(len(c.code)) > address {
			return
		}
	}
	c.code = c.code[:0]
}

// at decodes the instruction at an address; false if its memory is not there.
func (c *coder) at(address uint64) (disasm.Inst, []byte, bool) {
	if off := address - c.base; off >= uint64(len(c.code)) || uint64(len(c.code))-off < disasm.Longest {
		c.read(address)
	}
	if address-c.base >= uint64(len(c.code)) {
		return disasm.Inst{}, nil, false
	}
	rest := c.code[address-c.base:]
	order := c.s.Header.Order
	if order == nil {
		order = binary.LittleEndian
	}
	in := disasm.Decode(c.arch, rest, address, order, c.thumb)
	return in, rest[:in.Len], true
}

// before finds where some instructions before an address begin: the farthest place from which
// decoding leads to the address.
func (c *coder) before(at uint64, n int) uint64 {
	step := uint64(max(1, c.arch.JumpAlign))
	far, leads := at, map[uint64]bool{at: true}
	for start := at - step; at-start <= min(uint64(n)*4, maxCode) && c.s.Src.Draw(input.Work, codeWork) == nil; start -= step {
		if in, _, ok := c.at(start); ok && in.Text != "" && leads[start+uint64(in.Len)] {
			far, leads[start] = start, true
		}
	}
	return far
}

// decode adds the instructions from start on that are wanted.
func (c *coder) decode(start, at, end uint64, wish CodeWish) {
	file, line := "", uint32(0)
	after := 0
	for next := start; next < end && next-start < maxCode; {
		if err := c.s.Src.Draw(input.Work, codeWork); err != nil {
			c.out.Unread = err.Error()
			break
		}
		in, code, ok := c.at(next)
		if !ok {
			break
		}
		if next < at && next+uint64(in.Len) > at { // symbols begin in the middle of an instruction
			in, code = disasm.Inst{Len: int(at - next)}, code[:at-next]
		}
		row := report.CodeRow{Instruction: report.Instruction{Address: next, Text: in.Text, Bytes: slices.Clone(code), Target: in.Target, HasTarget: in.HasTarget, Place: report.Place{Module: -1}}}
		if in.HasTarget {
			row.Place = c.place(in.Target)
		}
		if f, l := c.line(next); l != 0 && (f != file || l != line) {
			row.File, row.Line = f, l
			file, line = f, l
		}
		c.out.Rows = append(c.out.Rows, row)
		if next >= at {
			if after++; !wish.Whole && after >= wish.After {
				break
			}
		}
		next += uint64(in.Len)
	}
	if wish.Whole {
		return
	}
	for i, row := range c.out.Rows {
		if row.Address == at && i > wish.Before {
			c.out.Rows = c.out.Rows[i-wish.Before:]
			break
		}
	}
	c.firstLine()
}

// firstLine gives the first row its line, which a row before it may have had.
func (c *coder) firstLine() {
	if len(c.out.Rows) > 0 && c.out.Rows[0].Line == 0 {
		row := &c.out.Rows[0]
		row.File, row.Line = c.line(row.Address)
	}
}

// place is the module and function of an address.
func (c *coder) place(address uint64) report.Place {
	m, rva := c.s.walked.walker.Modules.Find(address)
	out := report.Place{Module: m, Offset: rva}
	if m < 0 {
		return out
	}
	if sym, answer := c.s.walked.syms.Lookup(m, rva); answer == symbol.Yes && sym.Name != "" {
		out.Function, out.Offset = report.Name{Raw: sym.Name, Linked: sym.Linked}, rva-sym.Start
	}
	return out
}

// line is the position in the source of an address: in the innermost inlined call there.
func (c *coder) line(address uint64) (string, uint32) {
	m, rva := c.s.walked.walker.Modules.Find(address)
	if m < 0 {
		return "", 0
	}
	sym, answer := c.s.walked.syms.Lookup(m, rva)
	switch {
	case answer != symbol.Yes:
		return "", 0
	case len(sym.Inlines) > 0:
		return sym.Inlines[0].File, sym.Inlines[0].Line
	}
	return sym.File, sym.Line
}

// values are the registers that an instruction names and whose values are known.
func values(text string, regs *cpu.Regs) (out []report.RegisterValue) {
	seen := map[cpu.Reg]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}) {
		r, ok := regs.Arch.Lookup(word)
		if !ok || seen[r] {
			continue
		}
		seen[r] = true
		if v, known := regs.Get(r); known {
			out = append(out, report.RegisterValue{Name: word, Value: v})
		}
	}
	return out
}
