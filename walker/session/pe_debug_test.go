package session_test

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// splitDump is a crash in crash_here, called by start, of one of symfile/pe/testdata/split*.exe, with
// the module's debug record or without.
func splitDump(t *testing.T, name string, program []byte, withRecord bool) []byte {
	t.Helper()
	p, err := pe.Open(input.FromBytes(name, program))
	if err != nil {
		t.Fatal(err)
	}
	const stack = 0x70000
	var id dumptest.CodeView
	if cv := &p.CodeView; cv.Signature == "RSDS" && withRecord {
		le, tail := binary.LittleEndian, [8]byte{}
		copy(tail[:], cv.GUID[8:])
		id = dumptest.RSDS(le.Uint32(cv.GUID[:]), le.Uint16(cv.GUID[4:]), le.Uint16(cv.GUID[6:]), tail, cv.Age, "")
	}
	var ctx, mem []byte
	s := dumptest.System{Processor: dumptest.CPUAMD64, Platform: 2}
	if p.Class == 32 {
		s.Processor = dumptest.CPUX86
		// push %ebp | mov %esp, %ebp | … | call crash_here: the frame pointer is that of start.
		ctx = dumptest.Context(dumptest.LittleEndian, "x86", map[string]uint64{"eip": p.Base + 0x100d, "esp": stack, "ebp": stack})
		for _, w := range []uint32{stack + 16, uint32(p.Base) + 0x1024, 0, 0, 0, 0} {
			mem = binary.LittleEndian.AppendUint32(mem, w)
		}
	} else {
		ctx = dumptest.AMD64(map[string]uint64{"rip": p.Base + 0x100a, "rsp": stack})
		for _, w := range []uint64{p.Base + 0x101a, 0, 0, 0, 0, 0, 0, 0} {
			mem = binary.LittleEndian.AppendUint64(mem, w)
		}
	}
	return dumptest.New(dumptest.LittleEndian).System(s).VersionedModule(p.Base, p.ImageSize, p.Stamp, `C:\app\`+name, id, [4]uint16{}, false).
		Thread(7, ctx, stack, mem).Exception(7, 0xc0000005, 0, 0, ctx, 0, 0).Bytes()
}

// TestMinGWDebugFile: a program of MinGW and its separate debug file give functions, lines and
// callers, in any order of the files, by their build id or by the debug link; a debug file of another
// build is refused, with the reason.
func TestMinGWDebugFile(t *testing.T) {
	both := []string{"crash_here split.c:4", "start split.c:7"}
	for _, name := range []string{"split64-id.exe", "split64.exe", "split32-id.exe", "split32.exe"} {
		var data [2][]byte
		for i, file := range []string{name, name + ".debug"} {
			b, err := os.ReadFile("../../symfile/pe/testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			data[i] = b
		}
		dump := splitDump(t, name, data[0], true)
		other := slices.Clone(data[1])
		withID := strings.Contains(name, "-id")
		if at := strings.Index(string(other), "RSDS"); withID {
			other[at+4]++
		} else {
			other[len(other)-1]++
		}
		sources := map[string]*input.Source{"dump": input.FromBytes("x.dmp", dump), "program": input.FromBytes("d/"+name, data[0]), "debug": input.FromBytes("d/"+name+".debug", data[1]),
			"renamed": input.FromBytes("d/"+strings.TrimSuffix(name, ".exe")+".dbg", data[1]),
			"other":   input.FromBytes("d/"+name+".debug", other)}
		for _, c := range []struct {
			files string
			want  []string
		}{
			{"dump program debug", both}, {"dump debug program", both}, {"debug program dump", both}, {"program debug dump", both},
			{"dump program renamed", both}, {"renamed program dump", both},
			{"dump debug", both[:1]}, {"debug dump", both[:1]},
			{"dump program other", nil}, {"dump other program", nil}, {"other program dump", nil},
		} {
			s := session.NewFiles(session.Options{OpenBinary: readers.Open})
			ids := map[string]int{}
			for _, f := range strings.Fields(c.files) {
				ids[f] = s.Add(sources[f])[0].ID
			}
			r := s.Report(0)
			var got []string
			for _, f := range r.Threads[0].Frames {
				if f.HasLine {
					got = append(got, f.Function.Raw+" "+f.File[strings.LastIndex(f.File, "/")+1:]+":"+string(rune('0'+f.Line)))
				}
			}
			if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) || c.want == nil && got != nil {
				t.Errorf("%s, %s: %q, want %q", name, c.files, got, c.want)
			}
			if len(r.Threads[0].Frames) < len(c.want) {
				t.Errorf("%s, %s: %d frames", name, c.files, len(r.Threads[0].Frames))
			}
			for what, id := range ids {
				it := s.Items()[id]
				reason := it.Message + s.Unused(id, 0).Why
				switch {
				case what != "other" && reason != "":
					t.Errorf("%s, %s: %s: %s", name, c.files, what, reason)
				case what == "other" && withID && !strings.Contains(reason, "another signature") && !strings.Contains(reason, "the id "):
					t.Errorf("%s, %s: not said: %q", name, c.files, reason)
				case what == "other" && !withID && !strings.Contains(reason, "the CRC "):
					t.Errorf("%s, %s: not said: %q", name, c.files, reason)
				}
			}
		}
	}
}

// TestNoDebugRecord: where the dump has no debug record of a module, a file of its name and time
// stamp is that of the module, with a build id and without, and one of another stamp is not.
func TestNoDebugRecord(t *testing.T) {
	for _, name := range []string{"split64-id.exe", "split64.exe", "split32-id.exe", "split32.exe"} {
		program, err := os.ReadFile("../../symfile/pe/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		debug, err := os.ReadFile("../../symfile/pe/testdata/" + name + ".debug")
		if err != nil {
			t.Fatal(err)
		}
		dump := splitDump(t, name, program, false)
		later := slices.Clone(debug)
		later[binary.LittleEndian.Uint32(later[0x3c:])+8]++ // TimeDateStamp
		for _, c := range []struct {
			debug []byte
			used  bool
		}{{debug, true}, {later, false}} {
			s := session.NewFiles(session.Options{OpenBinary: readers.Open})
			s.Add(input.FromBytes("x.dmp", dump))
			id := s.Add(input.FromBytes("d/"+name+".debug", c.debug))[0].ID
			f := s.Report(0).Threads[0].Frames[0]
			if why := s.Unused(id, 0).Why; (f.Function.Raw == "crash_here") != c.used || (why == "") != c.used {
				t.Errorf("%s: %q; %s", name, f.Function.Raw, why)
			} else if !c.used && !strings.Contains(why, "another build, or strip changed") {
				t.Errorf("%s: more is said than is known: %s", name, why)
			}
		}
	}
}
