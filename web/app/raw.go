package app

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// The tabs that show the dump itself: its memory map, streams, handles and annotations, and what is private in it.

// gridTabs are the tabs that are tables of the dump's own data.
var gridTabs = []string{"memory", "streams", "handles", "annotations"}

// Raw is what of the dump itself is shown.
type Raw struct {
	Have    []string // tabs that are not empty
	Grid    protocol.GridPage
	Content *protocol.ContentPage
	Stream  int  // selected
	Bytes   bool // its content as bytes
	Private bool // the selected stream was asked for by name
	System  []view.Group
	Secrets int
	// CommandLine and Environment were asked for. They never go into an address, an export or the storage.
	CommandLine, Environment bool
}

// gridName is the open table, or "".
func (p *Page) gridName() string {
	if p.Summary != nil && !p.State.Closed && slices.Contains(gridTabs, p.State.Tab) {
		return p.State.Tab
	}
	return ""
}

// hiddenParts are those that nobody sees now: they are asked for when their tab is opened.
func (p *Page) hiddenParts() int {
	hidden := 0
	if p.gridName() == "" {
		hidden |= partGrid
	}
	if p.gridName() != "streams" {
		hidden |= partContent
	}
	if p.Summary == nil || p.State.Closed || p.State.Tab != "system" {
		hidden |= partSystem
	}
	if p.State.Search == "" {
		hidden |= partFound
	}
	if p.Summary == nil || !p.shows("compare") {
		hidden |= partCompare
	}
	return hidden
}

// disabled reports whether a dump has nothing for a tab.
func (p *Page) disabled(tab string) bool {
	return slices.Contains(gridTabs, tab) && p.Summary != nil && !slices.Contains(p.Raw.Have, tab)
}

// forgetRaw is for another dump: what was asked for of this one was not asked for of that.
func (p *Page) forgetRaw() {
	p.Raw = Raw{}
	p.forgetCompared()
	p.Findings = findingsShown
	for _, list := range []string{"grid", "content"} {
		p.visible[list] = protocol.Span{Count: 8}
	}
}

func (p *Page) tookRaw(r *protocol.Looked) {
	if r.Have != nil || r.Summary != nil {
		p.Raw.Have = r.Have
		if p.disabled(p.State.Tab) {
			p.State.Tab = Tabs[0].ID
		}
	}
	if r.Grid != nil {
		p.Raw.Grid = *r.Grid
	}
	if r.Content != nil {
		p.Raw.Content = r.Content
	}
	if r.System != nil {
		p.Raw.System, p.Raw.Secrets = r.System.Groups, r.System.Secrets
	}
}

// grid is the table to draw: the one of the open tab, once it has come.
func (p *Page) grid() *protocol.GridPage {
	if p.Raw.Grid.Name != p.gridName() {
		return &protocol.GridPage{}
	}
	return &p.Raw.Grid
}

// openTab gets a table ready that was not open before.
func (p *Page) openTab() {
	if p.Raw.Grid.Name != p.gridName() {
		p.visible["grid"] = protocol.Span{Count: p.visible["grid"].Count}
		p.Host.Reveal("grid", 0)
	}
	p.ask(partGrid | partContent | partSystem | partCompare)
}

func (p *Page) rawAct(act, arg string) {
	switch act {
	case "stream":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 {
			return
		}
		p.Raw.Stream, p.Raw.Bytes, p.Raw.Private, p.Raw.Content = n, false, false, nil
	case "stream-bytes":
		p.Raw.Bytes = !p.Raw.Bytes
	case "stream-private":
		p.Raw.Private = true
	case "reveal":
		p.Raw.CommandLine = p.Raw.CommandLine || arg == "Command line"
		p.Raw.Environment = p.Raw.Environment || arg == "Environment"
		p.ask(partSystem)
		return
	}
	p.visible["content"] = protocol.Span{Count: p.visible["content"].Count}
	p.Host.Reveal("content", 0)
	p.ask(partContent)
}

func (p *Page) gridClass() string { return "table grid-" + p.gridName() }

func (p *Page) gridRowClass(r protocol.GridRow) string {
	class := "row"
	if r.Mark != "" {
		class += " mark-" + r.Mark
	}
	class = p.marks(class, joinLines(r.Cells))
	if h := p.Found.Hit; p.Found.At > 0 && p.State.Search != "" && h.Tab == p.gridName() && h.Row == r.Index {
		class += " current"
	}
	if p.gridName() == "streams" {
		class += " choice-row"
		if r.Index == p.Raw.Stream {
			class += " selected"
		}
	}
	return class
}

func (p *Page) gridAct() any {
	if p.gridName() == "streams" {
		return "stream"
	}
	return nil
}

// content is never nil, so that the components need not ask.
func (p *Page) content() *protocol.ContentPage {
	if p.Raw.Content == nil {
		return &protocol.ContentPage{}
	}
	return p.Raw.Content
}

func (p *Page) contentCount() string {
	c := p.content()
	switch {
	case c.Title == "" || c.Private:
		return ""
	case c.Total == 1:
		return "1 line"
	}
	return view.Number(c.Total) + " lines"
}

// isSecret reports whether a group of the System tab waits to be asked for.
// flagsText gives constants that stand for bits room to break between them ("0x3 A_FLAG|ANOTHER").
func flagsText(s string) string {
	for i := range len(s) {
		if c := s[i]; !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '|' || c == ' ' || c == 'x' || c >= 'a' && c <= 'f') {
			return s
		}
	}
	return strings.ReplaceAll(s, "|", " | ")
}

func isSecret(g view.Group) bool { return len(g.Facts) == 0 }

func revealText(g view.Group) string { return "Show the " + lower(g.Title) }

func lower(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}
