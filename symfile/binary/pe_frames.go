package binary

import (
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/symfile/x86code"
)

// frameTable is the frame data of x86: that of a PDB, or that of a PDB with what the program's code
// adds (x86Frames).
type frameTable interface {
	// FrameData returns the record that covers an address. The answer is NoFile if there is no
	// table.
	FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error)
	EachFrameData(f func(unwind.FrameData) error) error
	HasFrameData() bool
	// Name returns the name of the file that has the records.
	Name() string
}

// x86Frames adds to the frame data of a PDB, if there is one, what the program's code shows: the
// epilogues, which frame data does not describe and where it is wrong, and the first instructions
// of functions without frame data.
//
// Example: at the "ret" of "pop ebp; ret" the return address is at [esp]. The record of the
// function still says [ebp + 4], but ebp has the caller's value already.
type x86Frames struct {
	code *codeReader
	pdb  frameTable // nil if none is here
	// beginning returns where the function around an address begins, or false if that is not known.
	beginning func(rva uint64) (uint64, bool, error)
	// names calls its argument for every public name.
	names func(func(rva uint64, name string) error) error
}

// codeReader reads a program's code and caches one block of 1 KiB: the lookups of an epilogue read
// a few bytes at a time.
type codeReader struct {
	pe    *pe.File
	block []byte
	at    uint64
}

// has reports whether there is code at an address.
func (r *codeReader) has(rva uint64) bool {
	return slices.ContainsFunc(r.pe.Code(), func(c [2]uint64) bool { return rva >= c[0] && rva < c[1] })
}

// read returns up to n bytes of code from an address on: fewer at the end of a section, none if the
// address is not in code. The only errors are those of a read that was interrupted.
func (r *codeReader) read(rva uint64, n int) ([]byte, error) {
	if rva < r.at || rva+uint64(n) > r.at+uint64(len(r.block)) {
		const size = 1024
		r.block, r.at = nil, rva
		for _, c := range r.pe.Code() {
			if rva < c[0] || rva >= c[1] {
				continue
			}
			b, err := r.pe.At(rva, int64(min(c[1]-rva, max(size, uint64(n)))))
			if r.pe.Src.Interrupted(err) {
				return nil, err
			}
			if err == nil { // the program cannot run code that the file has no bytes of
				r.block = b
			}
		}
	}
	b := r.block[rva-r.at:]
	return b[:min(n, len(b))], nil
}

func (t x86Frames) Name() string { return t.pdb.Name() }

func (t x86Frames) HasFrameData() bool { return t.pdb != nil && t.pdb.HasFrameData() }

// FrameData returns what the code shows at an address, else the PDB's record. The size of the
// parameters is the PDB's in either case, 0 if it has no record.
func (t x86Frames) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	d, ans := unwind.FrameData{}, symbol.NoFile
	if t.pdb != nil {
		var err error
		if d, ans, err = t.pdb.FrameData(rva); err != nil {
			return d, ans, err
		}
	}
	program, saved, err := t.epilogue(rva)
	// If the code runs to the end of the function, that is certain. Else the function's
	// beginning may say something.
	if err == nil && program == "" {
		program, saved, err = t.beginningAt(rva, ans == symbol.Yes)
	}
	switch {
	case err != nil:
		return d, symbol.Needs, err
	case program == "":
		return d, ans, nil
	}
	return t.record(rva, program, saved, d.Params), symbol.Yes, nil
}

// record makes a record of type 4 that covers one address, with the program that the code gave for
// it.
func (t x86Frames) record(rva uint64, program string, saved, params uint32) unwind.FrameData {
	return unwind.FrameData{Type: 4, Start: rva, Size: 1, Params: params, SavedRegs: saved, Program: program, HasProgram: true,
		Origin: unwind.Origin{File: t.code.pe.Src.Name, Part: "code", Offset: int64(rva)}}
}

// epilogue returns the program of an instruction of an epilogue, or "" for other instructions. The
// only errors are an *input.NeedError and an *input.BudgetError.
func (t x86Frames) epilogue(rva uint64) (program string, saved uint32, err error) {
	if err := t.code.pe.Src.Draw(input.Work, x86code.MaxEpilogue); err != nil {
		return "", 0, err
	}
	code, err := t.code.read(rva, x86code.MaxEpilogue)
	if err != nil || len(code) == 0 {
		return "", 0, err
	}
	// A jump leaves the function if its target is where another function begins.
	leaves := func(to int64) bool {
		var own, other uint64
		ok := false
		if own, ok, err = t.beginning(rva); err != nil || !ok {
			return false
		}
		target := rva + uint64(to)
		other, ok, err = t.beginning(target)
		return err == nil && ok && other == target && other != own
	}
	if program, saved = x86code.Epilogue(code, leaves); err != nil || program == "" {
		return "", 0, err
	}
	const longestCall = 7
	// The lookup may be for the last byte of a call: see x86code.AfterCall.
	before := min(rva, longestCall-1)
	if code, err = t.code.read(rva-before, int(before)+1); err != nil || x86code.AfterCall(code, func(d int64) bool { return t.code.has(rva + 1 + uint64(d)) }) {
		return "", 0, err
	}
	return program, saved, nil
}

// beginningAt returns the program of one of a function's first instructions. It returns "" for
// other instructions, and if known is set, since the PDB has a record there, for those that such a
// record describes.
func (t x86Frames) beginningAt(rva uint64, known bool) (program string, saved uint32, err error) {
	start, ok, err := t.beginning(rva)
	if err != nil || !ok || rva < start || rva-start >= x86code.MaxEntry {
		return "", 0, err
	}
	return t.beginningOf(start, rva, known)
}

// beginningOf is beginningAt for a function that begins at start.
func (t x86Frames) beginningOf(start, rva uint64, known bool) (program string, saved uint32, err error) {
	code, err := t.code.read(start, x86code.MaxEntry)
	if err != nil {
		return "", 0, err
	}
	program, saved, odd := x86code.Entry(code, int(rva-start))
	if known && !odd {
		return "", 0, nil
	}
	return program, saved, nil
}

// EachFrameData calls f for the PDB's records, and for what the code shows in the ranges that they
// cover and at public names. WriteSym writes the results as STACK WIN records. Without a PDB it
// calls f for nothing: the program alone does not say where its functions are.
func (t x86Frames) EachFrameData(f func(unwind.FrameData) error) error {
	if t.pdb == nil {
		return nil
	}
	end := uint64(0)
	err := t.pdb.EachFrameData(func(d unwind.FrameData) error {
		if err := f(d); err != nil {
			return err
		}
		// Records are nested, so code that an earlier one covers has been gone through.
		start, stop := max(d.Start, end), d.Start+d.Size
		end = max(end, stop)
		return t.epilogues(start, stop, func(rva uint64, program string, saved uint32) error {
			known, _, err := t.pdb.FrameData(rva)
			if err != nil {
				return err
			}
			return f(t.record(rva, program, saved, known.Params))
		})
	})
	if err != nil {
		return err
	}
	var last uint64 // the name before
	each := func(rva uint64, _ string) error {
		err := t.eachOf(last, rva, f)
		last = rva
		return err
	}
	if err := t.names(each); err != nil {
		return err
	}
	// The last name ends where no further one does.
	return each(last+maxNamed, "")
}

// maxNamed is how many bytes of code at most belong to a public name, which has no size.
const maxNamed = 4096

// eachOf calls f for what the code shows in the function at a public name, which ends at the next
// name at the latest: its first instructions, and if frame data does not cover it, its epilogues.
func (t x86Frames) eachOf(start, next uint64, f func(unwind.FrameData) error) error {
	if start == 0 || next <= start {
		return nil
	}
	_, ans, err := t.pdb.FrameData(start)
	if err != nil {
		return err
	}
	for at := start; at < min(next, start+x86code.MaxEntry); at++ {
		// What is not an instruction of its own has no program; what is after a function's end is no
		// part of it.
		program, saved, err := t.beginningOf(start, at, ans == symbol.Yes)
		if err == nil && program != "" {
			var own uint64
			if own, _, err = t.beginning(at); err == nil && own == start {
				err = f(t.record(at, program, saved, 0))
			}
		}
		if err != nil {
			return err
		}
	}
	if ans == symbol.Yes {
		return nil
	}
	return t.epilogues(start, min(next, start+maxNamed), func(rva uint64, program string, saved uint32) error {
		if _, ans, err := t.pdb.FrameData(rva); err != nil || ans == symbol.Yes {
			return err
		}
		return f(t.record(rva, program, saved, 0))
	})
}

// epilogues calls f for each instruction of an epilogue in a range, as far as that is code: a record
// may claim any size.
func (t x86Frames) epilogues(start, stop uint64, f func(rva uint64, program string, saved uint32) error) error {
	for _, code := range t.code.pe.Code() {
		for at := max(start, code[0]); at < min(stop, code[1]); at++ {
			program, saved, err := t.epilogue(at)
			if err == nil && program != "" {
				err = f(at, program, saved)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
