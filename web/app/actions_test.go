package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// sources returns the files of the page's packages with an extension, without tests and generated files.
func sources(t *testing.T, ending string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if name := e.Name(); err == nil && strings.HasSuffix(name, ending) && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_gen.go") && name != "actions.go" {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all.Write(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// An action that an element names must be in a table, or the element does nothing. An action in a
// table must be named by an element, or the user cannot do it.
func TestEveryElementHasItsRow(t *testing.T) {
	p, _, _ := newTestPage("")
	templates, code := sources(t, ".vugu"), sources(t, ".go")
	ids := map[string]bool{}
	for _, a := range p.actions {
		if ids[a.id] {
			t.Errorf("action %q has two rows", a.id)
		}
		ids[a.id] = true
		does := 0
		for _, is := range []bool{a.do != nil, a.doN != nil, a.tab.Do != nil, a.tab.DoN != nil} {
			if is {
				does++
			}
		}
		if does != 1 {
			t.Errorf("action %q does nothing, or two things", a.id)
		}
		if len(a.keys) == 0 && !strings.Contains(templates, `"`+a.id+`"`) && !strings.Contains(code, `"`+a.id+`"`) {
			t.Errorf("nothing asks for action %q", a.id)
		}
	}
	acts := regexp.MustCompile(`data-act='"([^"]+)"'|data-act="([^"]+)"`).FindAllStringSubmatch(templates, -1)
	if len(acts) < 40 {
		t.Errorf("%d elements were found", len(acts))
	}
	for _, m := range acts {
		if id := m[1] + m[2]; !ids[id] {
			t.Errorf("an element asks for %q, which no row of actionTable has", id)
		}
	}
	fields := regexp.MustCompile(`data-input='(?:rowID\()?"([^"]+)"`).FindAllStringSubmatch(templates, -1)
	if len(fields) < 6 {
		t.Errorf("%d fields were found", len(fields))
	}
	for _, m := range fields {
		if !slices.ContainsFunc(inputTable, func(in input) bool { return strings.TrimSuffix(in.field, "-") == m[1] }) {
			t.Errorf("what is typed into %q goes nowhere: no row of inputTable has it", m[1])
		}
	}
}

// A key has one action, and the help dialog lists only existing keys.
func TestKeys(t *testing.T) {
	p, _, _ := newTestPage("")
	taken := map[string]string{}
	for _, t := range Tabs {
		taken[t.Key] = "the tab " + t.Title
	}
	for _, a := range p.actions {
		for _, key := range a.keys {
			if taken[key] != "" {
				t.Errorf("key %q is of %q and of %s", key, a.id, taken[key])
			}
			taken[key] = a.id
		}
	}
	for _, line := range helpKeys() {
		if slices.Contains(line.Keys, "") || len(line.Keys) == 0 {
			t.Errorf("%q is without a key: %q", line.What, line.Keys)
		}
	}
}

// Each tab has a text for the case without rows, a list with the id of its element, and clears its
// state when another dump is opened.
func TestTabs(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	lists := map[string]bool{}
	for i, row := range Parts() {
		p.Have = []string{row.ID, "memory"}
		p.Dumps.List = []protocol.DumpName{{Name: "a.dmp"}, {Dump: 1, Name: "b.dmp"}}
		p.Panel.show(row.ID, false)
		if p.State.Tab != row.ID || !strings.Contains(render(t, p), `id="tab-`+row.ID+`"`) {
			t.Errorf("%s cannot be shown", row.ID)
		}
		l := listOf(p.Panel.tabs[i])
		if l == nil {
			continue
		}
		if heard, _ := p.Screen.List(l.ID); heard != l {
			t.Errorf("%s: scrolling its list is heard by another", row.ID)
		}
		if !strings.Contains(render(t, p), `id="`+l.ID+`"`) {
			t.Errorf("%s has no element %q", row.ID, l.ID)
		}
		lists[l.ID] = true
	}
	if len(lists) < 5 {
		t.Errorf("lists %v", lists)
	}
}

// Everything visible is queried, each part by its own zone.
func TestZonesAskForTheirOwn(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	p.Have, p.State.Tab = []string{"streams"}, "streams"
	e.sent = nil
	p.Screen.AskAll()
	q := last[protocol.Query](e)
	if q == nil || !q.Summary || q.Threads == nil || q.Stack == nil || !q.Detail || q.Modules == nil || q.Missing == nil || q.Files == nil || q.Grid == nil || q.Content == nil {
		t.Errorf("%+v", q)
	}
	if q.Memory != (protocol.MemoryQuery{}) {
		t.Errorf("memory is asked for before it is opened: %+v", q.Memory)
	}
	if q.System != nil || q.Compare != nil || q.Find != nil {
		t.Errorf("what nobody sees is asked for: %+v", q)
	}
	answered(p, e)
	e.sent = nil
	p.Screen.Ask(&p.Threads)
	if q := last[protocol.Query](e); q == nil || q.Threads == nil || q.Stack != nil || q.Summary {
		t.Errorf("%+v", q)
	}
}
