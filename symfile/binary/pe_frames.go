package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/symfile/x86code"
)

// frameTable is frame data of x86: that of a PDB, or that with the epilogues of its program.
type frameTable interface {
	// FrameData is the record that covers an address; NoFile says that there is no table.
	FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error)
	EachFrameData(f func(unwind.FrameData) error) error
	HasFrameData() bool
	// Name is the name of the file that has it.
	Name() string
}

// x86Frames adds to the frame data of a PDB, if one is here, what the program's code says: of epilogues, which frame data does not know and where it
// is wrong, and of the first instructions of functions without frame data.
type x86Frames struct {
	code *codeReader
	pdb  frameTable // nil if none is here
	// beginning is where the function around an address begins, if that is known.
	beginning func(rva uint64) (uint64, bool, error)
	// names calls its argument for every public name.
	names func(func(rva uint64, name string) error) error
}

// codePart is the origin of records that come from code.
const codePart = "code"

// codeReader reads a program's code, a block at a time.
type codeReader struct {
	pe    *pe.File
	block []byte
	at    uint64
}

// has says whether there is code at an address.
func (r *codeReader) has(rva uint64) bool {
	for _, c := range r.pe.Code() {
		if rva >= c[0] && rva < c[1] {
			return true
		}
	}
	return false
}

// read is up to n bytes of code from an address on; fewer at the end of a section, none where there is no code.
func (r *codeReader) read(rva uint64, n int) ([]byte, error) {
	if rva < r.at || rva+uint64(n) > r.at+uint64(len(r.block)) {
		const size = 1024
		r.block, r.at = nil, rva
		for _, c := range r.pe.Code() {
			if rva < c[0] || rva >= c[1] {
				continue
			}
			b, err := r.pe.At(rva, int64(min(c[1]-rva, max(size, uint64(n)))))
			if input.Needs(err) {
				return nil, err
			}
			if err == nil { // what the file has no bytes of is no code that it could run
				r.block = b
			}
		}
	}
	b := r.block[rva-r.at:]
	return b[:min(n, len(b))], nil
}

func (t x86Frames) Name() string { return t.pdb.Name() }

func (t x86Frames) HasFrameData() bool { return t.pdb != nil && t.pdb.HasFrameData() }

// FrameData is what the code says at an address, else the PDB's record. The size of the parameters is the PDB's in either case.
func (t x86Frames) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	d, ans := unwind.FrameData{}, symbol.NoFile
	if t.pdb != nil {
		var err error
		if d, ans, err = t.pdb.FrameData(rva); err != nil {
			return d, ans, err
		}
	}
	program, saved, err := t.byCode(rva, ans == symbol.Yes)
	switch {
	case err != nil:
		return d, symbol.Needs, err
	case program == "":
		return d, ans, nil
	}
	return unwind.FrameData{Type: 4, Start: rva, Size: 1, Params: d.Params, SavedRegs: saved, Program: program, HasProgram: true,
		Origin: unwind.Origin{File: t.code.pe.Src.Name, Part: codePart, Offset: int64(rva)}}, symbol.Yes, nil
}

// byCode is the program of the one instruction at an address, "" if the code does not tell or frame data knows as much. Its error is that bytes are not here
// yet.
func (t x86Frames) byCode(rva uint64, known bool) (program string, saved uint32, err error) {
	code, err := t.code.read(rva, x86code.MaxEpilogue)
	if err != nil || len(code) == 0 {
		return "", 0, err
	}
	leaves := func(to int64) bool {
		var own, other uint64
		ok := false
		if own, ok, err = t.beginning(rva); err != nil || !ok || to >= 0 && uint64(to) == 0 {
			return false
		}
		target := rva + uint64(to)
		other, ok, err = t.beginning(target)
		return err == nil && ok && other == target && other != own
	}
	if program, saved = x86code.Epilogue(code, leaves); err != nil {
		return "", 0, err
	}
	if program != "" {
		const longestCall = 7
		before := min(rva, longestCall-1)
		if code, err = t.code.read(rva-before, int(before)+1); err != nil || x86code.AfterCall(code, func(d int64) bool { return t.code.has(rva + 1 + uint64(d)) }) {
			return "", 0, err
		}
		return program, saved, nil
	}
	start, ok, err := t.beginning(rva)
	if err != nil || !ok || rva < start || rva-start >= x86code.MaxEntry {
		return "", 0, err
	}
	if code, err = t.code.read(start, x86code.MaxEntry); err != nil {
		return "", 0, err
	}
	program, saved, odd := x86code.Entry(code, int(rva-start))
	if known && !odd {
		return "", 0, nil
	}
	return program, saved, nil
}

// EachFrameData calls f for the PDB's records, and for what the code says in its functions and at its public names.
func (t x86Frames) EachFrameData(f func(unwind.FrameData) error) error {
	if t.pdb == nil {
		return nil
	}
	end := uint64(0)
	err := t.pdb.EachFrameData(func(d unwind.FrameData) error {
		if err := f(d); err != nil {
			return err
		}
		start, stop := max(d.Start, end), d.Start+d.Size
		end = max(end, stop)
		return t.eachIn(start, stop, f)
	})
	if err != nil {
		return err
	}
	return t.names(func(rva uint64, _ string) error {
		if _, ans, err := t.pdb.FrameData(rva); err != nil || ans == symbol.Yes {
			return err
		}
		code, err := t.code.read(rva, x86code.MaxEntry)
		if err != nil {
			return err
		}
		stop := rva
		for at := range code {
			if program, _, _ := x86code.Entry(code, at); program != "" {
				stop = rva + uint64(at) + 1
			}
		}
		return t.eachIn(rva, stop, f)
	})
}

// eachIn calls f for what the code says in a range.
func (t x86Frames) eachIn(start, stop uint64, f func(unwind.FrameData) error) error {
	for at := start; at < stop; at++ {
		d, ans, err := t.FrameData(at)
		if err == nil && ans == symbol.Yes && d.Origin.Part == codePart {
			err = f(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
