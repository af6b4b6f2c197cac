package session_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// objectsDump is a dump in a function of package macho's program without a dSYM, called by another.
func objectsDump(t testing.TB, program *input.Source) []byte {
	t.Helper()
	const base, sp = 0x100000000, 0x7ff0000
	m, err := macho.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	uuid, _ := hex.DecodeString(m.DebugID()[:32])
	stack := make([]byte, 256)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(stack[off:], v) }
	put(32, sp+128)
	put(40, base+0x41c) // in fromB, behind the call
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUARM64, Platform: dumptest.OSMac}).
		Module(base, 0x8000, "/bin/program", dumptest.RSDS(binary.BigEndian.Uint32(uuid), binary.BigEndian.Uint16(uuid[4:]), binary.BigEndian.Uint16(uuid[6:]), [8]byte(uuid[8:]), 0, "program")).
		Thread(7, dumptest.ARM64(map[string]uint64{"pc": base + 0x460, "sp": sp, "fp": sp + 32, "lr": 0}), sp, stack).
		Bytes()
}

// objectsOf returns the program, and the objects and libraries, out of package macho's archive.
func objectsOf(t testing.TB) (program *input.Source, objects []*input.Source, archive []byte) {
	t.Helper()
	archive = testfile.Read(t, "../../symfile/macho/testdata/objects/arm64-5.tar.gz")
	files, err := intake.Expand(input.FromBytes("build", archive), intake.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name, "/arm64-5") {
			program = f
		} else {
			objects = append(objects, f)
		}
	}
	return program, objects, archive
}

// TestDroppedObjects: a program and the objects that it was linked from, in any order, name the frames.
func TestDroppedObjects(t *testing.T) {
	program, objects, archive := objectsOf(t)
	dump := input.FromBytes("x.dmp", objectsDump(t, program))
	for what, files := range map[string][]*input.Source{
		"objects last":   append([]*input.Source{dump, program}, objects...),
		"objects first":  append(append([]*input.Source{}, objects...), program, dump),
		"in one archive": {dump, input.FromBytes("build.tar", archive)},
	} {
		var opt session.Options
		readers.Add(&opt)
		s := session.NewFiles(opt)
		for _, f := range files {
			for _, it := range s.Add(f) {
				if !it.Usable || it.Message != "" {
					t.Errorf("%s: %+v", what, it)
				}
			}
		}
		r := s.Report(0)
		frames := r.Threads[0].Frames
		f := &frames[0]
		if f.Function.Raw != "_ZL6helperi" || f.Line != 6 || f.File != "/src/b.cc" {
			t.Errorf("%s: %+v", what, f)
		}
		if len(frames) < 2 || frames[1].Function.Raw != "_Z5fromBi" || frames[1].Line != 10 {
			t.Errorf("%s: %d frames, %+v", what, len(frames), frames[len(frames)-1])
		}
		if mod := &r.Modules[0]; mod.State != "loaded" || len(mod.Has.Missing) > 0 || len(mod.Warnings) != 1 || !strings.Contains(mod.Warnings[0], "the times of its objects are not known") {
			t.Errorf("%s: %+v", what, mod)
		}
		for _, it := range s.Items() {
			if u := s.Unused(it.ID, 0); u.Reason != session.NotUnused {
				t.Errorf("%s: %s: %+v", what, it.Name, u)
			}
		}
	}
}

// TestManyObjects: of many objects only those are read that the stack is in.
func TestManyObjects(t *testing.T) {
	program, objects, _ := objectsOf(t)
	var opt session.Options
	readers.Add(&opt)
	s := session.NewFiles(opt)
	s.Add(input.FromBytes("x.dmp", objectsDump(t, program)))
	s.Add(program)
	read := map[string]int64{}
	for _, o := range objects {
		b, err := o.Bytes(0, o.Size)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 500 {
			name := o.Name
			if i > 0 {
				name = fmt.Sprintf("%d/%s", i, o.Name[strings.LastIndex(o.Name, "/")+1:])
			}
			s.Add(input.New(name, countedReader{b, read, name}, o.Size))
		}
	}
	clear(read) // of recognizing the files
	if f := s.Report(0).Threads[0].Frames[0]; f.Line != 6 {
		t.Errorf("%+v", f)
	}
	if len(read) > 2 {
		t.Errorf("%d files are read", len(read))
	}
}

// countedReader counts the bytes that are read of a file.
type countedReader struct {
	data []byte
	read map[string]int64
	name string
}

// ReadAt implements io.ReaderAt.
func (r countedReader) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, r.data[off:])
	r.read[r.name] += int64(n)
	return n, nil
}
