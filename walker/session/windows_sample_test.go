package session_test

import (
	"bytes"
	endian "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

// TestWindowsSample: the crash in testdata/windows with the program, its PDB, both, or all memory
// in the dump: which frames are found, by what, what they are called, and what is then said to be
// missing.
func TestWindowsSample(t *testing.T) {
	const dir = "../../testdata/windows"
	read := func(name string) []byte { return testfile.Read(t, filepath.Join(dir, name)) }
	opt := session.Options{OpenBinary: readers.Open, OpenImage: readers.Image}
	for _, tc := range []struct {
		files  string
		exact  bool // every caller is found by the unwind rules
		named  bool // and has its function and line
		wanted string
		found  string // a part of what the findings say
	}{
		{"app.dmp app.exe app.pdb.gz", true, true, "kernel32.pdb+kernel32.dll", "no symbols for kernel32.dll: 1 frame has no name; add kernel32.pdb with id"},
		{"app.pdb.gz app.exe app.dmp", true, true, "kernel32.pdb+kernel32.dll", "no symbols for kernel32.dll: 1 frame has no name; add kernel32.pdb with id"},
		{"app.dmp app.exe", true, false, "app.pdb kernel32.pdb+kernel32.dll", "app.exe alone has no functions and lines, which are in app.pdb: 4 frames lack them; add app.pdb with id A855514E410DD0664C4C44205044422E1"},
		{"app.dmp app.pdb.gz", false, true, "app.exe kernel32.pdb+kernel32.dll", "app.pdb has names and no unwind rules: the callers of 4 frames were guessed; add app.exe: without it callers on amd64 are guesses"},
		{"app.dmp", false, false, "app.pdb+app.exe kernel32.pdb+kernel32.dll", "no symbols for app.exe"},
		{"app-full.dmp app.pdb.gz", true, true, "kernel32.pdb+kernel32.dll", "no symbols for kernel32.dll: 1 frame has no name; add kernel32.pdb with id"},
		{"app-full.dmp", true, false, "app.pdb kernel32.pdb+kernel32.dll", "no symbols for app.exe and kernel32.dll: 4 frames have no names; add app.pdb with id A855514E410DD0664C4C44205044422E1"},
	} {
		s := session.NewFiles(opt)
		for name := range strings.FieldsSeq(tc.files) {
			for _, it := range s.Add(input.FromBytes(strings.TrimSuffix(name, ".gz"), read(name))) {
				if !it.Usable || it.Message != "" {
					t.Fatalf("%s: %s", tc.files, it.Message)
				}
			}
		}
		r := s.Report(0)
		fs := r.Threads[r.FirstThread].Frames
		i := 1
		exact := true
		for line := range strings.Lines(string(read("golden.txt"))) {
			var pc, sp uint64
			if n, _ := fmt.Sscanf(line, "%x %x", &pc, &sp); n != 2 {
				t.Fatal(line)
			}
			if i >= len(fs) || fs[i].PC != pc || fs[i].Regs.SP() != sp || fs[i].Source != "cfi" {
				exact = false
			}
			i++
		}
		if i != 5 || exact != tc.exact || exact && len(fs) != i {
			t.Errorf("%s: the stack is exact: %v, %d frames, want %d", tc.files, exact, len(fs), i)
		}
		if tc.named {
			for i, want := range []string{"total app.c:27", "print_receipt app.c:33", "print_all app.c:41", "start app.c:50"} {
				name, _, _ := strings.Cut(fs[i].Function.Raw, "(")
				if got := fmt.Sprintf("%s %s:%d", name, report.BaseName(fs[i].File), fs[i].Line); got != want {
					t.Errorf("%s: frame %d is %s, want %s", tc.files, i, got, want)
				}
			}
		}
		var wanted []string
		for _, w := range r.Missing {
			one := w.DebugFile
			switch {
			case w.Partial && w.Program != "":
				one = w.Program
			case w.Program != "":
				one += "+" + w.Program
			}
			wanted = append(wanted, one)
		}
		if got := strings.Join(wanted, " "); got != tc.wanted {
			t.Errorf("%s: wanted are %s, want %s", tc.files, got, tc.wanted)
		}
		if tc.files == "app.dmp" {
			const want = "app.pdb\tA855514E410DD0664C4C44205044422E1\tapp.pdb/A855514E410DD0664C4C44205044422E1/app.sym\t5 frames\n" +
				"app.exe\t167a5eab6000\tapp.exe/167A5EAB6000/app.exe\t5 frames\n"
			if got := view.New(r, nil).MissingText(); !strings.HasPrefix(got, want) {
				t.Errorf("the list to copy is\n%s", got)
			}
		}
		var found []string
		for _, f := range r.Findings {
			found = append(found, f.Text+"; "+f.Suggestion)
		}
		if got := strings.Join(found, "\n"); !strings.Contains(got, tc.found) {
			t.Errorf("%s: found\n%s\nwant\n%s", tc.files, got, tc.found)
		}
		// The line above the stack, the list of missing symbols and the findings begin with the same file.
		first := r.Missing[0].Module
		advised := slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Module == first && f.Suggestion != "" })
		if wants := r.Threads[0].Stop.Wants; !advised || wants >= 0 && wants != first {
			t.Errorf("%s: the stack wants module %d, missing is module %d first, in the findings: %v", tc.files, wants, first, advised)
		}
	}
}

// TestCodeID: a program without a debug record, as MinGW links it, has no debug id. Its symbol file
// is known by the program's time stamp and size, which INFO CODE_ID has, and by no name.
func TestCodeID(t *testing.T) {
	dump, err := os.ReadFile("../../testdata/windows/app.dmp")
	if err != nil {
		t.Fatal(err)
	}
	const guid = "\x4e\x51\x55\xa8\x0d\x41\x66\xd0"
	i := bytes.Index(dump, []byte("RSDS"+guid))
	if i < 0 {
		t.Fatal("the dump has no debug record of app.exe")
	}
	unknown := bytes.Clone(dump)
	where := bytes.Index(unknown, endian.LittleEndian.AppendUint32(nil, uint32(i))) // in MINIDUMP_MODULE.CvRecord, after its size
	clear(unknown[where-4 : where+4])
	const body = "FUNC 1000 b8 0 of_the_file\n"
	for _, tc := range []struct {
		dump []byte
		sym  string
		used bool
	}{
		{unknown, "INFO CODE_ID 167A5EAB6000 app.exe\n", true},
		{unknown, "INFO GENERATOR x\nINFO CODE_ID 167a5eab6000\r\n", true},
		{unknown, "INFO CODE_ID 167A5EAB7000 app.exe\n", false},
		{unknown, "FILE 0 a.c\nINFO CODE_ID 167A5EAB6000 app.exe\n", false},
		{unknown, "", false},
		{dump, "INFO CODE_ID 167A5EAB6000 app.exe\n", false}, // its debug id says that it is of another build
	} {
		s := session.NewFiles(session.Options{})
		s.Add(input.FromBytes("app.dmp", tc.dump))
		s.Add(input.FromBytes("some.sym", []byte("MODULE windows x86_64 0123456789ABCDEF0123456789ABCDEF1 some.pdb\n"+tc.sym+body)))
		r := s.Report(0)
		if got := r.Threads[r.FirstThread].Frames[0].Function.Raw == "of_the_file"; got != tc.used {
			t.Errorf("%q: used is %v, want %v", tc.sym, got, tc.used)
		}
	}
}

// Programs in the dump's memory are known to best alone: with the peers' policies a stack is what the
// peers find, whichever policy came first.
func TestPeersWithoutImages(t *testing.T) {
	s := session.NewFiles(session.Options{OpenBinary: readers.Open, OpenImage: readers.Image})
	s.Add(input.FromBytes("app-full.dmp", testfile.Read(t, "../../testdata/windows/app-full.dmp")))
	for _, p := range []walker.Policy{walker.Best, walker.Breakpad, walker.RustMinidump, walker.Best} {
		s.Session(0).SetPolicy(p)
		f := &s.Report(0).Threads[0].Frames[1]
		want, by := uint64(0x140003018), "scan"
		if p.Images {
			want, by = 0x1400010d1, "cfi"
		}
		if f.PC != want || f.Trust != by {
			t.Errorf("%s: 0x%x by %s, want 0x%x by %s", p.Name, f.PC, f.Trust, want, by)
		}
	}
}
