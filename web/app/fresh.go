package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// freshFor is how long rows that changed are marked, in milliseconds; the style sheet fades them in the same time.
const freshFor = 2400

// renewed notes the edition of a list that came, and reports whether it is a later one of the same dump: then what differs
// has changed under the reader's eyes. Scrolling and selecting do not make editions,
// and what comes with a dump in one drop is its first state and not a change.
func (p *Page) renewed(list string, now protocol.Edition) bool {
	before, known := p.editions[list]
	p.editions[list] = now
	return !p.opening && known && before.Dump == now.Dump && before.Revision != now.Revision
}

// mark takes the rows that changed, by their ids, and has the marks fade.
func (p *Page) mark(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		p.fresh[id] = true
	}
	p.freshes++
	mine := p.freshes
	p.Host.After(freshFor, func() (draw bool) {
		if draw = p.freshes == mine; draw {
			clear(p.fresh)
		}
		return draw
	})
}

// withFresh adds the mark to a row's class.
func (p *Page) withFresh(class, id string) string {
	if p.fresh[id] {
		return class + " fresh"
	}
	return class
}

// sameRow compares what a person sees of two rows.
func sameRow(a, b view.StackRow) bool {
	return a.Function == b.Function && a.Source == b.Source && a.Word == b.Word && a.Module == b.Module && a.Forced == b.Forced
}

// freshFrames are the rows of a stack that are not as they were, among the frames that were shown.
func (p *Page) freshFrames(s *view.StackPage) (ids []string) {
	old := map[string]view.StackRow{}
	last := -1
	for _, r := range p.Stack.Rows {
		old[p.frameKey(r)] = r
		last = max(last, r.Frame)
	}
	for _, r := range s.Rows {
		if r.Kind == view.RowStop || r.Frame < p.firstFrame() || r.Frame > last {
			continue
		}
		if was, ok := old[p.frameKey(r)]; !ok || !sameRow(was, r) {
			ids = append(ids, p.frameID(r))
		}
	}
	return ids
}

func (p *Page) firstFrame() int {
	if len(p.Stack.Rows) == 0 {
		return 0
	}
	return p.Stack.Rows[0].Frame
}

// keepPlace moves the list with the selected row, when rows have come or gone above it. A list that stands at its top stays
// there.
func (p *Page) keepPlace(s *view.StackPage) {
	if p.Stack.Selected >= 0 && s.Selected >= 0 && s.Selected != p.Stack.Selected && p.visible["stack"].From > 0 {
		p.Host.Shift("stack", s.Selected-p.Stack.Selected)
	}
}

func (p *Page) freshThreads(t *view.ThreadPage) (ids []string) {
	old := map[int]view.ThreadRow{}
	for _, r := range p.Threads.Rows {
		old[r.Index] = r
	}
	for _, r := range t.Rows {
		if was, ok := old[r.Index]; ok && (was.Top != r.Top && !(was.Pending && was.Top == "") || was.Name != r.Name) {
			ids = append(ids, rowID("thread", r.Index))
		}
	}
	return ids
}

func (p *Page) freshModules(m *view.ModulePage) (ids []string) {
	old := map[int]view.ModuleRow{}
	for _, r := range p.Modules.Rows {
		old[r.Index] = r
	}
	for _, r := range m.Rows {
		if was, ok := old[r.Index]; ok && was.Word != r.Word {
			ids = append(ids, rowID("module", r.Index))
		}
	}
	return ids
}

func (p *Page) moduleClass(m view.ModuleRow) string {
	class := "row choice-row"
	if m.Index == p.Module {
		class += " selected"
	}
	return p.withFresh(class, rowID("module", m.Index))
}

// showModule goes to a module's row in the lower panel.
func (p *Page) showModule(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return
	}
	p.Module, p.seekModule = n, true
	p.State.Tab, p.State.Closed = "modules", false
	p.address()
	p.ask(partModules)
}

// tookModules takes a window of the modules, and goes on to the one that is looked for.
func (p *Page) tookModules(m *view.ModulePage) {
	p.Modules, p.Listed = *m, true
	if !p.seekModule || m.Selected < 0 {
		return
	}
	p.seekModule = false
	v := p.visible["modules"]
	p.visible["modules"] = protocol.Span{From: max(0, m.Selected-v.Count/2), Count: v.Count}
	p.Host.Reveal("modules", m.Selected)
	if m.Selected < m.From || m.Selected >= m.From+len(m.Rows) {
		p.ask(partModules)
	}
}
