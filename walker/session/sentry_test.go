package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/symbols"
)

var sentryID = []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}

// sentrySym is a symbol file of dumptest.Sentry's program. A Mach-O file's id has its bytes in
// their order.
func sentrySym(d dumptest.Sentry) string {
	rule, arch := map[string][2]string{"amd64": {"$rsp 16 + .ra: .cfa -8 + ^", "x86_64"}, "arm64": {"sp 16 + .ra: .cfa -8 + ^", "arm64"},
		"x86": {"$esp 8 + .ra: .cfa -4 + ^", "x86"}, "arm": {"sp 8 + .ra: .cfa -4 + ^", "arm"}}[d.CPU], ""
	arch = rule[1]
	os, id := "Linux", "00112233445566778899AABBCCDDEEFF0"
	if d.Mac {
		os, id = "mac", "33221100554477668899AABBCCDDEEFF0"
	}
	out := "MODULE " + os + " " + arch + " " + id + " app\n"
	for i, name := range []string{"crash_me", "main"} {
		out += fmt.Sprintf("FUNC %x 100 0 %s\n", 0x1000*(i+1), name)
	}
	for _, at := range []string{"1000", "2000"} {
		out += "STACK CFI INIT " + at + " 100 .cfa: " + rule[0] + "\n"
	}
	return out
}

// openSentry is openFake of a program with the segments of dumptest.Sentry's.
func openSentry(src *input.Source) (symbols.Binary, error) {
	b, err := openFake(src)
	if err == nil {
		b.(*fakeBinary).id.Segments = []symbol.Segment{{Range: symbol.Range{Start: 0, Size: 0x800}}, {Range: symbol.Range{Start: 0x1000, Size: 0x1f00}, Exec: true},
			{Range: symbol.Range{Start: 0x3000, Size: 0x1800}}}
	}
	return b, err
}

// Dumps of sentry-native's own writer, of every release with another layout. If the entries are
// mappings of code alone, names come from the place in the program that something proves: the
// program's headers, or a symbol file whose code fills the mapping.
func TestSentry(t *testing.T) {
	for _, c := range []struct {
		releases []int
		mac      bool
		cpus     []string
	}{
		{[]int{132, 133, 134}, false, []string{"amd64", "arm64", "x86"}},
		{[]int{138, 142}, false, []string{"amd64", "arm64", "x86", "arm"}},
		{[]int{132, 133, 138, 142, 150}, true, []string{"amd64", "arm64"}},
	} {
		for _, release := range c.releases {
			for _, cpu := range c.cpus {
				for _, mode := range []string{"stack", "smart", "full"} {
					d := dumptest.Sentry{Release: release, Mode: mode, CPU: cpu, Mac: c.mac, ID: sentryID}
					checkSentry(t, d, sentrySym(d), "crash_me main")
					if release == 132 && !c.mac && mode != "full" {
						short, _, _ := strings.Cut(sentrySym(d), "FUNC 2000")
						checkSentry(t, d, short, "? ?")
					}
				}
			}
		}
	}
	for _, program := range []string{"00112233445566778899AABBCCDDEEFF0 app code", "00112233445566778899AABBCCDDEEFF0 app debug"} {
		checkSentry(t, dumptest.Sentry{Release: 132, Mode: "stack", CPU: "amd64", ID: sentryID}, fake(program), "app:crash_me app:main")
	}
}

func checkSentry[T string | []byte](t *testing.T, d dumptest.Sentry, symbols T, want string) {
	t.Helper()
	s := NewFiles(Options{OpenBinary: openSentry})
	s.Add(source("a.dmp", d.Bytes()))
	s.Add(source("app.sym", []byte(symbols)))
	r := s.Report(0)
	var got []string
	for _, f := range r.Threads[0].Frames[:min(2, len(r.Threads[0].Frames))] {
		if got = append(got, f.Function.Raw); f.Function.Raw == "" {
			got[len(got)-1] = "?"
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%+v: %v, not %s", d, got, want)
	}
	unplaced := false
	for _, f := range r.Findings {
		unplaced = unplaced || f.Kind == "module-start-unknown"
	}
	if unplaced != (want == "? ?") {
		t.Errorf("%+v: findings %v", d, r.Findings)
	}
	if len(r.Diagnostics) > 0 {
		t.Errorf("%+v: %v", d, r.Diagnostics)
	}
	reason := "SIGSEGV"
	switch {
	case d.Mac && d.Release >= 150:
		reason = "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"
	case !d.Mac && d.Release >= 134:
		reason = "SIGSEGV / SEGV_MAPERR"
	}
	if r.Crash.Address != 0x10 || r.Crash.Reason.Name != reason || r.Crash.Thread != 0 {
		t.Errorf("%+v: %+v", d, r.Crash)
	}
}

// A symbol file that is searched does not say how far its code reaches. Its full index does.
func TestSentryIndexed(t *testing.T) {
	d := dumptest.Sentry{Release: 132, Mode: "stack", CPU: "amd64", ID: sentryID}
	module, records, _ := strings.Cut(sentrySym(d), "\n")
	var files strings.Builder
	for i := range 300000 { // a small file is indexed at once
		fmt.Fprintf(&files, "FILE %d a%d.c\n", i, i)
	}
	sym := []byte(module + "\n" + files.String() + records)
	s := NewFiles(Options{IndexOnDemand: true})
	s.Add(source("a.dmp", d.Bytes()))
	s.Add(source("app.sym", sym))
	if f := s.Report(0).Threads[0].Frames[0]; f.Function.Raw != "" {
		t.Fatalf("%q", f.Function.Raw)
	}
	unindexed := s.Unindexed(0, false)
	if len(unindexed) != 1 {
		t.Fatalf("%d files are to be indexed", len(unindexed))
	}
	s.IndexFile(unindexed[0].ID, false, func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	})
	if f := s.Report(0).Threads[0].Frames[0]; f.Function.Raw != "crash_me" {
		t.Errorf("%q", f.Function.Raw)
	}
}

// A module whose entry could be one of two segments has no known place.
func TestSentryAmbiguous(t *testing.T) {
	s := NewFiles(Options{OpenBinary: func(src *input.Source) (symbols.Binary, error) {
		b, err := openFake(src)
		b.(*fakeBinary).id.Segments = []symbol.Segment{{Range: symbol.Range{Start: 0, Size: 0x2000}, Exec: true}, {Range: symbol.Range{Start: 0x2000, Size: 0x1f00}, Exec: true}}
		return b, err
	}})
	s.Add(source("a.dmp", dumptest.Sentry{Release: 132, Mode: "stack", CPU: "amd64", ID: sentryID}.Bytes()))
	s.Add(source("app", fake("00112233445566778899AABBCCDDEEFF0 app code")))
	if f := s.Report(0).Threads[0].Frames[0]; f.Function.Raw != "" {
		t.Errorf("%+v", f.Function)
	}
}

// What was sent with a dump is in the report and its JSON.
func TestUpload(t *testing.T) {
	dump := appDump()
	envelope := `{"event_id":"9ec7"}` + "\n" + `{"type":"event"}` + "\n" + `{"release":"app@1.2","tags":{"gpu":"none"}}` + "\n" +
		fmt.Sprintf(`{"type":"attachment","length":%d,"attachment_type":"event.minidump","filename":"a.dmp"}`, len(dump)) + "\n" + string(dump) + "\n"
	s := NewFiles(Options{})
	s.Add(source("a.envelope", []byte(envelope)))
	var b strings.Builder
	if err := jsonreport.Write(&b, s.Report(0), jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Crashpane struct {
			Upload []struct{ Origin, Key, Value string }
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if want := "[{envelope event_id 9ec7} {envelope release app@1.2} {envelope tag gpu none}]"; fmt.Sprint(got.Crashpane.Upload) != want {
		t.Errorf("%v, not %s", got.Crashpane.Upload, want)
	}
}
