package session

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report"
)

// The ids of one build of app: appID in the dump, and the others that writers may give it.
const (
	// swappedID is appID with the bytes of its first three numbers the other way round, as
	// Mozilla's dump_syms writes it of a big-endian file.
	swappedID = "33221100554477668899AABBCCDDEEFF0"
	// buildID is that of the build id where the dump has a hash of the code, appID.
	buildID = "0123456789ABCDEF0123456789ABCDEF0"
)

// zeroID is what tools write that do not know the id.
const zeroID = "000000000000000000000000000000000"

// info puts an INFO record behind the MODULE record of a symbol file.
func info(sym, record string) string { return strings.Replace(sym, "\n", "\nINFO "+record+"\n", 1) }

// A module finds its symbols by each id that a writer may have given them, in any case, and no
// other's.
func TestIDs(t *testing.T) {
	const code, sym, none = "app:crash_me app:main", "crash_me main", "? ?"
	for _, tc := range []struct {
		name, sym, elf, want string
	}{
		{"a symbol file with the bytes of the id swapped", appSym(swappedID), "", sym},
		{"in small letters", appSym(strings.ToLower(swappedID)), "", sym},
		{"swapped, of another age", appSym(swappedID[:32] + "1"), "", none},
		{"only the first number swapped", appSym("33221100" + appID[8:]), "", none},
		{"a binary with the bytes of the id swapped", "", swappedID + " app code", code},
		{"a debug file with the bytes of the id swapped", "", swappedID + " app debug", code},
		{"a binary with a build id, whose code has the dump's hash", "", buildID + " app code " + appID, code},
		{"any of its hashes", "", buildID + " app code " + otherID + " " + swappedID, code},
		{"one without a build id", "", appID + " app code " + appID, code},
		{"the code of another program that begins alike", "", buildID + " other code " + appID, none},
		{"and has no build id", "", appID + " other code " + appID, none},
		{"another build id and hash", "", buildID + " app code " + otherID, none},
		{"the symbol file of the build id alone", appSym(buildID), "", none},
		{"and with the binary that knows both", appSym(buildID), buildID + " app code " + appID, sym},
		{"with an id that other writers use", info(appSym(buildID), "OTHER_ID "+appID), "", sym},
		{"swapped", info(appSym(buildID), "OTHER_ID "+swappedID), "", sym},
		{"and of another program", strings.Replace(info(appSym(buildID), "OTHER_ID "+appID), " app\n", " other\n", 1), "", none},
		{"without an id, by the code id", info(appSym(zeroID), "CODE_ID 00112233445566778899AABBCCDDEEFF"), "", none},
		{"whose bytes are as they are in the file", info(appSym(zeroID), "CODE_ID 33221100554477668899aabbccddeeff"), "", sym},
		{"without an id word", info(strings.Replace(appSym(zeroID), zeroID+" ", "", 1), "CODE_ID 33221100554477668899AABBCCDDEEFF"), "", sym},
		{"without MODULE", strings.TrimPrefix(info(appSym(zeroID), "CODE_ID 33221100554477668899AABBCCDDEEFF"), strings.SplitAfter(appSym(zeroID), "\n")[0]), "", sym},
		{"with an id of another build and the code id", info(appSym(otherID), "CODE_ID 33221100554477668899AABBCCDDEEFF"), "", none},
		{"of another build, with the binary", appSym(otherID), buildID + " app code " + appID, code},
	} {
		for _, elfFirst := range []bool{false, true} {
			s := withFakes()
			s.Add(source("x.dmp", appDump()))
			add := []func(){
				func() {
					if tc.sym != "" {
						s.Add(source("a.sym", []byte(tc.sym)))
					}
				},
				func() {
					if tc.elf != "" {
						s.Add(source("app.elf", fake(tc.elf)))
					}
				}}
			if elfFirst {
				add[0], add[1] = add[1], add[0]
			}
			add[0]()
			s.Report(0)
			add[1]()
			r := s.Report(0)
			if got := functions(r); got != tc.want {
				t.Errorf("%s, binary first: %v: %q, want %q", tc.name, elfFirst, got, tc.want)
			}
			if state := r.Modules[0].State; tc.want != none && state != report.SymbolsLoaded {
				t.Errorf("%s: symbols are %s", tc.name, state)
			}
		}
	}
}

// IDInUse is the id that a symbol file made of a binary must have to be found for the dump in hand.
func TestIDInUse(t *testing.T) {
	for _, tc := range []struct{ name, elf, want string }{
		{"by its build id", appID + " app code", appID},
		{"by a hash", buildID + " app code " + appID, appID},
		{"swapped", swappedID + " app code", appID},
		{"not at all", otherID + " app code", ""},
		{"by its name alone", "- app code", ""},
	} {
		s := withFakes()
		s.Add(source("x.dmp", appDump()))
		it := s.Add(source("app.elf", fake(tc.elf)))[0]
		if got := s.IDInUse(it.ID); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// A big-endian dump has its build ids as they are in the file, and takes symbols with either order
// of the bytes.
func TestIDsBigEndian(t *testing.T) {
	order := dumptest.BigEndian
	ctx := dumptest.Context(order, "mips", map[string]uint64{"pc": 0x401010, "sp": 0x7ffe0000, "ra": 0x402020})
	id := []byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	mem := binary.BigEndian.AppendUint64(nil, 0)
	dump := dumptest.New(order).System(dumptest.System{Processor: dumptest.CPUMIPS, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", dumptest.ELF(id)).Thread(7, ctx, 0x7ffe0000, mem).Exception(7, 11, 1, 0x45, ctx).Bytes()
	for _, symID := range []string{swappedID, appID} {
		s := NewFiles(Options{})
		s.Add(source("x.dmp", dump))
		s.Add(source("a.sym", []byte("MODULE Linux mips "+symID+" app\nFUNC 1000 100 0 crash_me\n")))
		if got := s.Report(0).Threads[0].Frames[0].Function.Raw; got != "crash_me" {
			t.Errorf("symbols with id %s: %q", symID, got)
		}
	}
}

// A Windows program without a debug id is the module's by name and size, or by name and time stamp:
