package app

import (
	"testing"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits zone.Limits
		act    string
		no     bool
	}{
		{zone.Limits{}, "pick-files", false},
		{zone.Limits{NoFiles: true}, "pick-files", true},
		{zone.Limits{NoFiles: true}, "pick-store", true},
		{zone.Limits{NoFiles: true}, "ask", false},
		{zone.Limits{NoFiles: true}, "sources", false},
		{zone.Limits{NoFiles: true, NoNetwork: true}, "sources", true},
		{zone.Limits{NoNetwork: true}, "sources", false},
		{zone.Limits{NoNetwork: true}, "ask", true},
		{zone.Limits{NoFiles: true, NoNetwork: true}, "assign-", false},
		{zone.Limits{ReadOnly: true}, "assign-", true},
		{zone.Limits{ReadOnly: true}, "policy", true},
		{zone.Limits{ReadOnly: true}, "pick-files", true},
		{zone.Limits{Redact: true}, "make", true},
		{zone.Limits{Redact: true}, "policy", false},
		{zone.Limits{Redact: true}, "private", true},
		{zone.Limits{ReadOnly: true, NoFiles: true, NoNetwork: true, Redact: true}, "copy", false},
		{zone.Limits{ReadOnly: true, NoFiles: true, NoNetwork: true, Redact: true}, "thread", false},
	} {
		p, _, _ := newTestPage("")
		p.HostPage.SetLimits(c.limits)
		if got := forbids(t, p, c.act); got != c.no {
			t.Errorf("%+v: %s forbidden %v", c.limits, c.act, got)
		}
	}
}

// forbids reports whether limits forbid an action or a field.
func forbids(t *testing.T, p *Page, name string) bool {
	t.Helper()
	for _, a := range p.actions {
		if a.id == name {
			return !p.Limits.Allows(a.limit)
		}
	}
	for _, in := range inputTable {
		if in.field == name {
			return !p.Limits.Allows(in.limit)
		}
	}
	t.Fatalf("there is no action %q", name)
	return false
}

func TestWhatMayNotBeDoneIsNotDone(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	p.HostPage.SetLimits(zone.Limits{NoFiles: true, ReadOnly: true})
	n := len(e.sent)
	p.Act("use", "1.0")
	p.Input("policy", "scan")
	p.Input("assign-1", "0")
	p.Reading.Offer([]host.File{fakeFile("other.dmp")})
	for _, r := range e.sent[n:] {
		if _, ok := r.Request.(*protocol.Query); !ok {
			t.Errorf("%T was sent", r.Request)
		}
	}
	if p.HostPage.startTitle() != "No crash dump is open" {
		t.Errorf("the start says %q", p.HostPage.startTitle())
	}
}

func TestEveryRequestSaysWhatIsPrivate(t *testing.T) {
	p, _, e := newTestPage("")
	p.HostPage.SetLimits(zone.Limits{Redact: true})
	drop(p, e)
	p.Work.Exports.Export(protocol.ExportJSON, func(string, string) {})
	for _, r := range e.sent {
		if !r.Redact {
			t.Errorf("%T does not say so", r.Request)
		}
	}
}

func TestExportIsAnsweredOnceWhateverHappens(t *testing.T) {
	p, _, e := newTestPage("")
	told := []string{}
	done := func(text, problem string) { told = append(told, text+"/"+problem) }
	p.Work.Exports.Export(protocol.ExportJSON, done)
	drop(p, e)
	answered(p, e)
	p.Work.Exports.Export(protocol.ExportJSON, done)
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Exported{Text: "{}"}})
	p.Work.Exports.Export(protocol.ExportJSON, done)
	p.Clear()
	want := []string{"/there is no dump", "{}/", "/it was cancelled, or the engine has ended"}
	if len(told) != 3 || told[0] != want[0] || told[1] != want[1] || told[2] != want[2] {
		t.Errorf("%q, want %q", told, want)
	}
	if !p.Empty() || len(p.Reading.accepted) != 0 || e.restarts == 0 {
		t.Error("clearing leaves something")
	}
}

func TestWatchIsTold(t *testing.T) {
	p, _, e := newTestPage("")
	kinds := map[string]int{}
	p.HostPage.Watch = func(ev Event) { kinds[ev.Kind]++ }
	p.HostPage.Mark = 7
	drop(p, e)
	for p.Screen.AskAll(); p.Pace.asking; {
		r := screen()
		r.Revision = 1 // as engines count
		say(p, r)
	}
	for _, k := range []string{EventProgress, EventReport, EventIdle, EventSelect} {
		if kinds[k] == 0 {
			t.Errorf("%s was not told: %v", k, kinds)
		}
	}
	if kinds[EventReport] != 1 {
		t.Errorf("one report was told of %d times", kinds[EventReport])
	}
	p.Notices.Problem("something")
	p.Reading.EngineStopped("out of memory", false)
	if kinds[EventError] != 2 {
		t.Errorf("two problems, told of %d", kinds[EventError])
	}
}
