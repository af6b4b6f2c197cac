package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Crashes under Wine with the program and its PDB, in either order: every return address that the
// program wrote down is found where it was, and each frame of the program has its function's name
// and line.
func TestUnwindWithPDB(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/wine")
	for _, name := range []string{"chain32-O2", "chain64-O2"} {
		path := func(ext string) string { return filepath.Join(root, name+ext) }
		b, err := os.ReadFile(path(".oracle.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var first []string
		// The .dmp is as Wine wrote it, without the PDB's id; the program is known by its time
		// stamp and size.
		for _, files := range [][]string{{".cv.dmp", ".exe", ".pdb"}, {".cv.dmp", ".pdb", ".exe"}, {".exe", ".pdb", ".dmp"}, {".pdb", ".dmp", ".exe"}} {
			what := fmt.Sprint(name, files)
			s := session.NewFiles(session.Options{OpenBinary: readers.Open})
			for _, ext := range files {
				for _, it := range s.Add(fileSource(t, path(ext))) {
					if !it.Usable || it.Message != "" {
						t.Fatalf("%s: %s: %s", what, ext, it.Message)
					}
				}
			}
			r := s.Report(0)
			th := &r.Threads[r.FirstThread]
			slots := map[uint64]uint64{} // address of the word, its value
			var frames []string
			for i := range th.Frames {
				f := &th.Frames[i]
				if i > 0 {
					word := uint64(f.Regs.Arch.WordSize)
					slots[f.Regs.SP()-word] = f.PC
				}
				frames = append(frames, fmt.Sprintf("%x %s %s:%d", f.PC, f.Function.Raw, f.File, f.Line))
			}
			found := 0
			for line := range strings.Lines(string(b)) {
				var fn string
				var ra, slot uint64
				if n, _ := fmt.Sscanf(line, "%s returns to %x, slot %x", &fn, &ra, &slot); n != 3 {
					continue
				}
				found++
				if slots[slot] != ra {
					t.Errorf("%s: %s: the word at 0x%x is 0x%x, we have 0x%x\n%s", what, fn, slot, ra, slots[slot], strings.Join(frames, "\n"))
				}
			}
			if found != 12 {
				t.Errorf("%s: %d return addresses in the oracle", what, found)
			}
			for i, want := range []string{"leafy(", "std4(", "fast3(", "frame_ptr(", "saves(", "rec(", "rec(", "rec(", "rec(", "cmp("} {
				f := &th.Frames[i]
				if !strings.HasPrefix(f.Function.Raw, want) || !strings.HasSuffix(f.File, "/chain.c") || f.Line != uint32(26+slices.Index(chainFunctions, want)) || i > 0 && f.Source != "cfi" && f.Source != "stack-win" {
					t.Errorf("%s: frame %d is %s %s:%d by %s, it should be %s", what, i, f.Function.Raw, f.File, f.Line, f.Source, want)
				}
			}
			if in := th.Frames[0].Inlines; len(in) != 2 || !strings.HasPrefix(in[0].Function.Raw, "boom(") || in[0].Line != 26 || in[1].Line != 27 {
				t.Errorf("%s: inlined calls %+v", what, in)
			}
			if first == nil {
				first = frames
			} else if !slices.Equal(first, frames) {
				t.Errorf("%s: another stack:\n%s\nthan\n%s", what, strings.Join(frames, "\n"), strings.Join(first, "\n"))
			}
		}
	}
}

// chainFunctions are the functions of chain.c, a line each from line 26 on.
var chainFunctions = []string{"boom(", "mid(", "leafy(", "std4(", "fast3(", "frame_ptr(", "saves(", "rec(", "cmp("}

// A crash whose frames the system's own RtlVirtualUnwind told, with names and lines of the PDB.
func TestUnwindWineCrashWithPDB(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "other/made-here/wine")
	r := walkedWith(t, filepath.Join(root, "crash64c-cv.dmp"), filepath.Join(root, "crash64c.exe"), filepath.Join(root, "crash64c.pdb"))
	th := &r.Threads[r.FirstThread]
	want := windowsFrames(t, filepath.Join(root, "crash64c.oracle.txt"))
	for i, name := range []string{"crash_here", "level2", "level2", "level2", "level2", "cmp"} {
		f := &th.Frames[i]
		if f.PC != want[i].pc || f.Regs.SP() != want[i].sp || i > 0 && f.Source != "cfi" || !strings.HasPrefix(f.Function.Raw, name+"(") || !strings.HasSuffix(f.File, "crash.c") || f.Line == 0 {
			t.Errorf("frame %d: pc 0x%x sp 0x%x by %s, %s %s:%d; the truth is pc 0x%x sp 0x%x %s", i, f.PC, f.Regs.SP(), f.Source, f.Function.Raw, f.File, f.Line, want[i].pc, want[i].sp, name)
		}
	}
}

// What a PDB adds to the dumps of emulated programs: names and lines of every frame, and no other
// stack than the program alone gives.
func TestUnwindEmulatedWithPDB(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/emulated")
	for _, name := range []string{"deep-x86_64-O0", "deep-x86_64-O2", "deep-aarch64-O0", "deep-aarch64-O2", "deep-thumbv7-O2"} {
		b, err := os.ReadFile(filepath.Join(root, name, name+".dll.truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var dumps []emulatedDump
		if err := json.Unmarshal(b, &dumps); err != nil || len(dumps) < 20 {
			t.Fatal(len(dumps), err)
		}
		if runtime.GOOS == "js" { // it is ten times as slow there
			dumps = dumps[:5]
		}
		for _, d := range dumps {
			dump, dll, pdb := filepath.Join(root, name, d.Dump), filepath.Join(root, name+".dll"), filepath.Join(root, name+".pdb")
			alone, both := walkedWith(t, dump, dll), walkedWith(t, dump, pdb, dll)
			a, b := alone.Threads[alone.FirstThread].Frames, both.Threads[both.FirstThread].Frames
			if len(a) != len(b) {
				t.Errorf("%s: %d frames, without the PDB %d", d.Dump, len(b), len(a))
				continue
			}
			for i := range b {
				f := &b[i]
				// The outermost caller is an address where nothing is.
				if f.PC != a[i].PC || !reflect.DeepEqual(f.Regs, a[i].Regs) || f.Source != a[i].Source || f.Module >= 0 && (f.Function.Raw == "" || f.Line == 0 && !strings.Contains(f.Function.Raw, "chkstk")) {
					t.Errorf("%s: frame %d: 0x%x %s %s:%d by %s, without the PDB 0x%x by %s", d.Dump, i, f.PC, f.Function.Raw, f.File, f.Line, f.Source, a[i].PC, a[i].Source)
				}
			}
		}
	}
}

// A module says which of its files is missing: of a program its PDB with its id, of a PDB the
// program that the dump names. One of another build says so.
func TestPDBMissing(t *testing.T) {
	corpus(t)
	wine, other := filepath.Join(corpusRoot, "winapple/wine"), filepath.Join(corpusRoot, "other/made-here/wine")
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"chain64-O2.cv.dmp", "chain64-O2.pdb"}, "the program itself, chain64-O2.exe: without it callers on x86_64 are guesses"},
		{[]string{"chain32-O2.cv.dmp", "chain32-O2.pdb"}, ""},
		{[]string{"chain64-O2.cv.dmp", "chain64-O2.exe"}, "the debug information chain64-O2.pdb (id AF39DD20F7DE752D4C4C44205044422E1)"},
		{[]string{"chain64-O2.cv.dmp", "chain64-O2.exe", "chain64-O2.pdb"}, ""},
	} {
		var paths []string
		for _, f := range c.files {
			paths = append(paths, filepath.Join(wine, f))
		}
		r := walkedWith(t, paths[0], paths[1:]...)
		i := slices.IndexFunc(r.Modules, func(m report.Module) bool { return strings.Contains(m.Name, "chain") })
		if i < 0 || strings.Join(r.Modules[i].Has.Missing, "; ") != c.want {
			t.Errorf("%v: missing %q, not %q", c.files, r.Modules[max(i, 0)].Has.Missing, c.want)
		}
	}
	data, err := os.ReadFile(filepath.Join(other, "crash64c.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	s := session.NewFiles(session.Options{OpenBinary: readers.Open})
	s.Add(fileSource(t, filepath.Join(wine, "chain64-O2.cv.dmp")))
	s.Add(fileSource(t, filepath.Join(wine, "chain64-O2.exe")))
	if it := s.Add(input.FromBytes("chain64-O2.pdb", data))[0]; !strings.Contains(s.Items()[it.ID].Message, "AF39DD20F7DE752D4C4C44205044422E1, which chain64-O2.exe names") {
		t.Errorf("%+v", s.Items()[it.ID])
	}
}

// A dump with all memory holds the program: with its PDB it is unwound by that program, and named
// by the PDB.
func TestUnwindFromMemoryWithPDB(t *testing.T) {
	corpus(t)
	const base, stackAt = 0x180000000, 0x10000
	root := filepath.Join(corpusRoot, "winapple/emulated/deep-x86_64-O0")
	file, err := os.ReadFile(root + ".dll")
	if err != nil {
		t.Fatal(err)
	}
	f, err := pe.Open(input.FromBytes("deep.dll", file))
	if err != nil {
		t.Fatal(err)
	}
	img := make([]byte, f.ImageSize)
	copy(img, file[:0x400])
	for _, s := range f.Sections {
		copy(img[s.RVA:], file[s.Offset:s.Offset+min(s.Size, s.FileSize)])
	}
	pdb, err := binary.Open(fileSource(t, root+".pdb"))
	if err != nil {
		t.Fatal(err)
	}
	// In the first function that makes a frame and has lines, which called itself.
	var rva uint64
	program, err := binary.Open(input.FromBytes("deep.dll", file))
	if err != nil {
		t.Fatal(err)
	}
	for at := uint64(0x1000); rva == 0 && at < 0x2000; at++ {
		row, _, err := program.Row(at)
		if sym, _, _ := pdb.Lookup(at); err == nil && row.CFA.Offset > 0x30 && row.CFA.Reg == cpu.AMD64.SP && sym.HasLine {
			rva = at
		}
	}
	row, _, err := program.Row(rva)
	if err != nil || rva == 0 {
		t.Fatal(rva, err)
	}
	stack := make([]byte, 0x1000)
	for i := range 8 {
		stack[row.CFA.Offset-8+int64(i)] = byte(uint64(base+rva+1) >> (8 * i))
	}
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Module(base, f.ImageSize, `C:\deep.dll`, nil).Thread(1, dumptest.AMD64(map[string]uint64{"rip": base + rva, "rsp": stackAt, "rbp": 0}), stackAt, stack)
	d.Memory64(base, img)
	opened := 0
	s := session.NewFiles(session.Options{OpenBinary: readers.Open, OpenImage: func(d *core.Dump, module int) symbols.Binary {
		opened++
		return readers.Image(d, module)
	}})
	s.Add(input.FromBytes("full.dmp", d.Bytes()))
	it := s.Add(fileSource(t, root+".pdb"))[0]
	if err := s.Assign(it.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	r := s.Report(0)
	th := &r.Threads[0]
	if len(th.Frames) < 2 || th.Frames[1].Source != "cfi" || !strings.Contains(th.Frames[1].Origin, "memory of deep.dll") || th.Frames[1].Line == 0 || opened == 0 {
		t.Errorf("%+v", th.Frames)
	}
	if m := &r.Modules[0]; len(m.Has.Missing) > 0 || !m.Has.CFI || !m.Has.Lines {
		t.Errorf("%+v", m.Has)
	}
}
