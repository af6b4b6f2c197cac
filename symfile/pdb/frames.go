package pdb

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// frameTable is one of the two streams that say how frames of x86 code are found, what symbol files have as STACK WIN records:
// frame data (type 4) and FPO (type 0). Entries are sorted by address.
//
// Source: microsoft-pdb, include/cvinfo.h (FRAMEDATA); winnt.h (FPO_DATA).
type frameTable struct {
	kind    int
	what    string
	step    int64
	s       *stream
	ordered ordered
}

const (
	frameDataSize = 32
	fpoSize       = 16
	// frameFunctionStart is set in frame data's flags where a function begins.
	frameFunctionStart = 4
)

func (f *File) openFrames(data, fpo *stream) {
	for _, t := range []*frameTable{{kind: 4, what: "frame data", step: frameDataSize, s: data}, {kind: 0, what: "FPO", step: fpoSize, s: fpo}} {
		if t.s == nil || t.s.Size < t.step {
			continue
		}
		t.ordered = ordered{n: int(t.s.Size / t.step), key: func(i int) (uint64, error) {
			b, err := t.s.record(int64(i)*t.step, 4)
			return uint64(u32(b, 0)), err
		}}
		f.frames = append(f.frames, t)
	}
}

// record is an entry; its Start is an address as it was linked. first says that nothing before it covers what it covers.
func (f *File) frame(t *frameTable, i int) (d unwind.FrameData, first bool, err error) {
	b, err := t.s.record(int64(i)*t.step, t.step)
	if err != nil {
		return d, false, err
	}
	le := binary.LittleEndian
	d = unwind.FrameData{Type: t.kind, Start: uint64(le.Uint32(b)), Size: uint64(le.Uint32(b[4:])),
		Origin: unwind.Origin{File: f.src.Name, Part: t.what, Offset: int64(i) * t.step}}
	if t.kind == 0 {
		// 8 locals in words, 12 parameters in words, 14 flags: 8 bits prologue, 3 saved registers, 1 exceptions, 1 uses ebp
		d.Locals, d.Params = le.Uint32(b[8:])*4, uint32(le.Uint16(b[12:]))*4
		flags := le.Uint16(b[14:])
		d.Prolog, d.SavedRegs, d.AllocatesBP = uint32(flags&0xff), uint32(flags>>8&7)*4, flags>>12&1 != 0
		return d, true, nil
	}
	// 8 locals, 12 parameters, 16 most stack, 20 program, 24 prologue u16, 26 saved registers u16, 28 flags
	d.Locals, d.Params, d.MaxStack = le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])
	d.Prolog, d.SavedRegs = uint32(le.Uint16(b[24:])), uint32(le.Uint16(b[26:]))
	first = le.Uint32(b[28:])&frameFunctionStart != 0
	d.Program, err = f.text(le.Uint32(b[20:]))
	d.HasProgram = true
	return d, first, err
}

// FrameData is the entry that covers an address of the module: of frame data before FPO; of several the one that starts last. The
// Answer is as of Lookup.
func (f *File) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	linked, ok, err := f.linked(rva)
	if err != nil || !ok {
		return unwind.FrameData{}, answerOf(err), err
	}
	for _, t := range f.frames {
		pos, err := t.ordered.search(linked)
		if err != nil {
			return unwind.FrameData{}, answerOf(err), err
		}
		// What covers all of a function comes before the entries of its parts. A function has a dozen.
		const most = 1 << 10
		for n := 0; pos >= 0 && n < most; pos, n = pos-1, n+1 {
			d, first, err := f.frame(t, t.ordered.record(pos))
			if err != nil {
				return unwind.FrameData{}, answerOf(err), err
			}
			if linked-d.Start < d.Size {
				d.Start += rva - linked
				return d, symbol.Yes, nil
			}
			if first {
				break
			}
		}
	}
	return unwind.FrameData{}, symbol.No, nil
}

// EachFrameData calls fn for every entry, frame data before FPO, each by address; with an OMAP, for each range of the module that has it.
func (f *File) EachFrameData(fn func(unwind.FrameData) error) error {
	for _, t := range f.frames {
		for i := range t.ordered.n {
			d, _, err := f.frame(t, i)
			if err != nil {
				return err
			}
			parts, err := f.moved(d.Start, d.Size)
			if err != nil {
				return err
			}
			for _, p := range parts {
				d.Start, d.Size = p.Start, p.Size
				if err := fn(d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
