package pdb

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/symfile/ordered"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// frameTable is one of the two streams that say how frames of x86 code are found, what symbol files
// have as STACK WIN records: frame data (type 4) and FPO (type 0). Entries are sorted by address.
//
// Source: microsoft-pdb, include/cvinfo.h (FRAMEDATA); winnt.h (FPO_DATA).
type frameTable struct {
	kind    int
	what    string
	step    int64
	s       *stream
	ordered ordered.Table
}

const (
	frameDataSize = 32
	fpoSize       = 16
	// frameFunctionStart is set in frame data's flags where a function begins.
	frameFunctionStart = 4
)

// openFrames opens what there is of the two. Frame data is asked first: its programs say more than
// FPO's numbers.
func (f *File) openFrames(data, fpo *stream) {
	for _, t := range []*frameTable{{kind: 4, what: "frame data", step: frameDataSize, s: data}, {kind: 0, what: "FPO", step: fpoSize, s: fpo}} {
		if t.s == nil || t.s.Size < t.step {
			continue
		}
		t.ordered = ordered.Table{N: int(t.s.Size / t.step), Key: func(i int) (uint64, error) {
			b, err := t.s.record(int64(i)*t.step, 4)
			return uint64(u32(b, 0)), err
		}}
		f.frames = append(f.frames, t)
	}
}

// frame returns an entry; its Start is an address as it was linked. first: no entry before it
// covers what it covers.
func (f *File) frame(t *frameTable, i int) (d unwind.FrameData, first bool, err error) {
	b, err := t.s.record(int64(i)*t.step, t.step)
	if err != nil {
		return d, false, err
	}
	le := binary.LittleEndian
	// Both begin with 0 start, 4 size in bytes.
	d = unwind.FrameData{Type: t.kind, Start: uint64(le.Uint32(b)), Size: uint64(le.Uint32(b[4:])),
		Origin: unwind.Origin{File: f.src.Name, Part: t.what, Offset: int64(i) * t.step}}
	if t.kind == 0 {
		// 8 locals in words, 12 parameters in words, 14 flags: 8 bits prologue, 3 saved registers,
		// 1 exceptions, 1 uses ebp
		d.Locals, d.Params = le.Uint32(b[8:])*4, uint32(le.Uint16(b[12:]))*4
		flags := le.Uint16(b[14:])
		d.Prolog, d.SavedRegs, d.AllocatesBP = uint32(flags&0xff), uint32(flags>>8&7)*4, flags>>12&1 != 0
		return d, true, nil
	}
	// 8 locals, 12 parameters, 16 most stack, 20 program, 24 prologue u16, 26 saved registers u16,
	// 28 flags
	d.Locals, d.Params, d.MaxStack = le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])
	d.Prolog, d.SavedRegs = uint32(le.Uint16(b[24:])), uint32(le.Uint16(b[26:]))
	first = le.Uint32(b[28:])&frameFunctionStart != 0
	// The program is a text in "/names", such as "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =".
	d.Program, err = f.text(le.Uint32(b[20:]))
	d.HasProgram = true
	return d, first, err
}

// FrameData is the entry that covers an address of the module: of frame data before FPO; of several
// the one that starts last. The Answer is as of Lookup.
//
// The search finds the last entry that begins up to the address. It may have ended before the
// address, for entries are nested: one covers the function, further ones begin at each push of its
// prologue. So the entries before it are tried too, up to the one that is marked as its function's
// start.
func (f *File) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	linked, _, ok, err := f.linked(rva)
	if err != nil || !ok {
		return unwind.FrameData{}, answerOf(err), err
	}
	for _, t := range f.frames {
		pos, err := t.ordered.Search(linked)
		if err != nil {
			return unwind.FrameData{}, answerOf(err), err
		}
		// What covers all of a function comes before the entries of its parts. A function has a
		// dozen.
		const most = 1 << 10
		for n := 0; pos >= 0 && n < most; pos, n = pos-1, n+1 {
			d, first, err := f.frame(t, t.ordered.Record(pos))
			if err != nil {
				return unwind.FrameData{}, answerOf(err), err
			}
			if linked-d.Start < d.Size {
				// Functions that became one have an entry each: the first counts.
				for ; pos > 0 && n < most; pos, n = pos-1, n+1 {
					before, _, err := f.frame(t, t.ordered.Record(pos-1))
					if err != nil {
						return unwind.FrameData{}, answerOf(err), err
					}
					if before.Start != d.Start || before.Size != d.Size {
						break
					}
					d = before
				}
				// The entry covers the address as it was linked. What counts is the part of it that
				// is now at rva.
				parts, err := f.movedFrame(d)
				if err != nil {
					return unwind.FrameData{}, answerOf(err), err
				}
				for _, p := range parts {
					if rva-p.Start < p.Size {
						return p, symbol.Yes, nil
					}
				}
			}
			if first {
				break
			}
		}
	}
	return unwind.FrameData{}, symbol.No, nil
}

// EachFrameData calls fn for every entry, frame data before FPO, each by address; with an OMAP, for
// each range of the module that has it.
func (f *File) EachFrameData(fn func(unwind.FrameData) error) error {
	for _, t := range f.frames {
		var last unwind.FrameData
		for i := range t.ordered.N {
			d, _, err := f.frame(t, i)
			if err != nil {
				return err
			}
			if i > 0 && d.Start == last.Start && d.Size == last.Size { // see FrameData
				continue
			}
			last = d
			parts, err := f.movedFrame(d)
			if err != nil {
				return err
			}
			for _, p := range parts {
				if err := fn(p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// movedFrame is an entry as it is in the module. With an OMAP, prologue and body may have been moved
// away from each other, and each may be in several pieces, which are entries of their own then.
func (f *File) movedFrame(d unwind.FrameData) ([]unwind.FrameData, error) {
	if f.fromSource == nil {
		return []unwind.FrameData{d}, nil
	}
	prolog := min(uint64(d.Prolog), d.Size)
	var out []unwind.FrameData
	start := d.Start
	for i, size := range []uint64{prolog, d.Size - prolog} {
		parts, err := f.moved(start, size)
		if err != nil {
			return nil, err
		}
		start += size
		for _, p := range parts {
			e := d
			e.Start, e.Size, e.Prolog = p.Start, p.Size, 0
			if i == 0 {
				e.Prolog = uint32(p.Size)
			}
			out = append(out, e)
		}
	}
	// Parts that still follow each other are written as the one entry that they were.
	whole := len(out) > 0
	for i := 1; i < len(out); i++ {
		whole = whole && out[i].Start == out[i-1].Start+out[i-1].Size
	}
	if whole {
		d.Start, d.Size, d.Prolog = out[0].Start, 0, 0
		for _, e := range out {
			d.Size, d.Prolog = d.Size+e.Size, d.Prolog+e.Prolog
		}
		return []unwind.FrameData{d}, nil
	}
	return out, nil
}
