package main

import (
	"debug/pe"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	program "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// frames is how many the stack has: each in another part of the library's code, and so in another
// unit.
const frames = 20

// writeDump makes a dump of one thread. Each frame is at an instruction of an inlined call whose
// unwind rules find the caller by the stack pointer alone; the stack has the words that those rules
// ask for.
func writeDump(dll, pdb, out string) error {
	f, close, err := open(dll, pdb)
	if err != nil {
		return err
	}
	defer close()
	text, err := code(dll)
	if err != nil {
		return err
	}
	id := f.Identity()
	record, stamp, err := codeView(id)
	if err != nil {
		return err
	}
	const base, stackStart = 0x180000000, 0x7ff000
	var pc uint64
	var stack []byte
	at := 0 // the stack pointer of the frame, from stackStart on
	for i := range uint64(frames) {
		rva, frameSize, err := place(f, text.Start+text.Size*(i+1)/(frames+2), text.Start+text.Size*(i+2)/(frames+2))
		if err != nil {
			return err
		}
		if i == 0 {
			pc = base + rva
		} else { // one byte after: callers are looked up at the byte before their return address
			binary.LittleEndian.PutUint64(stack[at-8:], base+rva+1)
		}
		at += frameSize
		stack = append(stack, make([]byte, frameSize)...)
	}
	stack = append(stack, make([]byte, 64)...)
	ctx := dumptest.AMD64(map[string]uint64{"rip": pc, "rsp": stackStart})
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows, Version: [3]uint32{10, 0, 19045}}).
		VersionedModule(base, uint32(id.Size), stamp, `C:\app\`+id.CodeName, record, [4]uint16{}, false).
		Thread(100, ctx, stackStart, stack).
		Exception(100, 0xc0000005, 0, pc, ctx, 0, 0x10)
	return os.WriteFile(out, d.Bytes(), 0o644)
}

// open opens the library with its PDB.
func open(dll, pdb string) (*program.File, func(), error) {
	var sources []*input.Source
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, path := range []string{dll, pdb} {
		f, err := os.Open(path)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, f)
		st, err := f.Stat()
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		sources = append(sources, input.New(path, f, st.Size()))
	}
	f, err := program.Open(sources[0])
	if err == nil {
		var took bool
		if took, err = f.Attach(sources[1]); err == nil && !took {
			err = fmt.Errorf("%s is not the PDB of %s", pdb, dll)
		}
	}
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return f, closeAll, nil
}

// code is where the library's code is, by its section headers.
func code(dll string) (symbol.Range, error) {
	f, err := pe.Open(dll)
	if err != nil {
		return symbol.Range{}, err
	}
	defer f.Close()
	s := f.Section(".text")
	if s == nil {
		return symbol.Range{}, fmt.Errorf("%s has no .text section", dll)
	}
	return symbol.Range{Start: uint64(s.VirtualAddress), Size: uint64(s.VirtualSize)}, nil
}

// codeView is what a dump says about the library: the GUID and age of its PDB, and its time stamp.
func codeView(id symbol.Identity) (dumptest.CodeView, uint32, error) {
	guid, err := hex.DecodeString(id.DebugID[:min(32, len(id.DebugID))])
	if err != nil || len(guid) != 16 {
		return nil, 0, fmt.Errorf("the library has no debug id but %q", id.DebugID)
	}
	age, err := strconv.ParseUint(id.DebugID[32:], 16, 32)
	if err != nil {
		return nil, 0, err
	}
	stamp, err := strconv.ParseUint(id.CodeID[:min(8, len(id.CodeID))], 16, 32)
	if err != nil {
		return nil, 0, err
	}
	be := binary.BigEndian
	return dumptest.RSDS(be.Uint32(guid), be.Uint16(guid[4:]), be.Uint16(guid[6:]), [8]byte(guid[8:]), uint32(age), id.Name), uint32(stamp), nil
}

// place is the first address of a range at which the frame is as writeDump needs it, and the
// frame's size on the stack.
func place(f *program.File, from, to uint64) (rva uint64, size int, err error) {
	for rva = from; rva < to; rva++ {
		s, answer, err := f.Lookup(rva)
		if err != nil {
			return 0, 0, err
		}
		if answer != symbol.Yes || !s.HasLine || len(s.Inlines) == 0 || rva < s.Start+4 {
			continue
		}
		row, answer, err := f.Row(rva)
		if err != nil {
			return 0, 0, err
		}
		plain := row.CFA.Kind == unwind.FromReg && row.CFA.Reg == f.Arch().SP && row.RA.Equal(unwind.Rule{Kind: unwind.AtCFA, Offset: -8})
		if answer == symbol.Yes && plain && !row.Topmost && row.CFA.Offset > 8 {
			return rva, int(row.CFA.Offset), nil
		}
	}
	return 0, 0, fmt.Errorf("no inlined call between 0x%x and 0x%x whose unwind rules need the stack pointer alone", from, to)
}
