package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/web/app/sourcelinks"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// action is what a click, a key or a menu item does. Elements name it in data-act, with an argument
// in data-arg.
type action struct {
	id    string
	keys  []string               // keys that also do it
	limit func(zone.Limits) bool // reports whether the host page forbids it; nil: it is always allowed
	start bool                   // its keys also work on the start screen
	help  string                 // what the help says about its first key, and about that of the action with; "" for no line
	with  string
	do    func(p *Page, arg string)
	doN   func(p *Page, n int) // in place of do, if the argument is a number
	tab   zone.Action          // in place of both, if a tab does it
}

// actionTable has a row for each action, except those of a single tab, which that tab returns
// itself (its method actions).
var actionTable = []action{
	{id: "pick-files", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Host.PickFiles() }},
	{id: "pick-folder", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Host.PickFolder() }},
	{id: "sample", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Host.OpenSample() }},
	{id: "load-engine", do: func(p *Page, _ string) { p.Work.Program.again() }},
	{id: "cancel", do: func(p *Page, _ string) { p.Reading.Cancel() }},
	{id: "dump", doN: func(p *Page, n int) { p.Menu.show(n, false) }},
	{id: "all-dumps", keys: []string{"b"}, help: "back to the table of all dumps", do: func(p *Page, _ string) {
		if len(p.Dumps.List) > 1 {
			p.Table.show()
		}
	}},
	{id: "open-dump", do: func(p *Page, dump string) { p.Table.open(dump) }},
	{id: "dump-group", do: func(p *Page, row string) { p.Table.choose(row) }},
	{id: "sort-dumps", doN: func(p *Page, column int) {
		p.Table.change(&p.Table.Dumps, func() { p.Table.Dumps.SortBy(column) })
	}},
	{id: "sort-groups", doN: func(p *Page, column int) {
		p.Table.change(&p.Table.Groups, func() { p.Table.Groups.SortBy(column) })
	}},
	{id: "export-dumps", do: func(p *Page, arg string) { p.Table.export(arg) }},
	{id: "close-dump", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Menu.closeOpen() }},
	{id: "menu", do: func(p *Page, menu string) { p.Menus.toggle(menu) }},
	{id: "theme", do: func(p *Page, _ string) { p.toggleTheme() }},
	{id: "help", keys: []string{"?"}, start: true, do: func(p *Page, _ string) { p.Menus.toggleHelp() }},
	{id: "dismiss", do: func(p *Page, id string) { p.Notices.Dismiss(id) }},
	{id: "find", do: func(p *Page, to string) { p.Search.Find(map[string]int{"next": 1, "previous": -1}[to]) }},
	{id: "focus-search", keys: []string{"/"}, help: "search; Enter and Shift+Enter go to the next and the previous hit", do: func(p *Page, _ string) { p.Host.Focus("search") }},

	{id: "go-to", keys: []string{"g"}, help: "go to an address, a register, a name or an action; also Ctrl+K", do: func(p *Page, _ string) { p.Menus.GoTo.toggle() }},
	{id: "go", do: func(p *Page, arg string) { p.Menus.GoTo.choose(arg) }},
	{id: "address", do: func(p *Page, arg string) {
		if address, ok := words.ParseAddress(arg); ok {
			p.GoToAddress(address)
		}
	}},

	{id: "thread", doN: (*Page).selectThread},
	{id: "next-thread", keys: []string{"n"}, help: "next, previous thread", with: "previous-thread", do: func(p *Page, _ string) { p.Threads.move(1) }},
	{id: "previous-thread", keys: []string{"p"}, do: func(p *Page, _ string) { p.Threads.move(-1) }},
	{id: "crashed", keys: []string{"x"}, help: "go to the crashed thread", do: func(p *Page, _ string) { p.Threads.crashed() }},
	{id: "choose-thread", do: func(p *Page, _ string) { p.Threads.Choosing = !p.Threads.Choosing }},

	{id: "frame", do: func(p *Page, arg string) {
		if frame, inline, ok := words.ParsePair(arg); ok {
			p.selectFrame(frame, inline)
		}
	}},
	{id: "next-frame", keys: []string{"j", "ArrowDown"}, help: "next, previous frame; also arrow keys, Page Up, Home", with: "previous-frame", do: func(p *Page, _ string) { p.Stack.move(1) }},
	{id: "previous-frame", keys: []string{"k", "ArrowUp"}, do: func(p *Page, _ string) { p.Stack.move(-1) }},
	{id: "next-page", keys: []string{"PageDown"}, do: func(p *Page, _ string) { p.Stack.move(p.Stack.pageful()) }},
	{id: "previous-page", keys: []string{"PageUp"}, do: func(p *Page, _ string) { p.Stack.move(-p.Stack.pageful()) }},
	{id: "first-frame", keys: []string{"Home"}, do: func(p *Page, _ string) { p.Stack.toRow(0) }},
	{id: "last-frame", keys: []string{"End"}, do: func(p *Page, _ string) { p.Stack.toRow(p.Stack.Total - 1) }},
	{id: "inlines", keys: []string{"i"}, help: "show or hide inlined calls", do: func(p *Page, _ string) { p.Stack.toggleInlines() }},
	{id: "stack-words", keys: []string{"w"}, help: "show the words of the stack, or its frames", do: func(p *Page, _ string) { p.Stack.Words.toggle() }},
	{id: "guesses", keys: []string{"s"}, help: "show or hide folded frames: many possible callers, recursions", do: func(p *Page, _ string) { p.Stack.toggleGuesses() }},
	{id: "offsets", keys: []string{"o"}, help: "show or hide the offset in the function after each name", do: func(p *Page, _ string) { p.State.ShowOffsets = !p.State.ShowOffsets; p.Address.write() }},
	{id: "policy", limit: zone.Changes, do: func(p *Page, name string) { p.choosePolicy(name) }},
	{id: "side", do: func(p *Page, side string) { p.Frame.show(side) }},
	{id: "toggle-why", keys: []string{"e"}, help: "show why this frame is here, or its registers", do: func(p *Page, _ string) { p.Frame.toggle("why") }},
	{id: "toggle-code", keys: []string{"d"}, help: "show the code around this frame, or its registers", do: func(p *Page, _ string) { p.Frame.toggle("code") }},
	{id: "code-go", do: func(p *Page, address string) { p.Frame.Code.goTo(address) }},
	{id: "code-source", do: func(p *Page, _ string) { p.Frame.Code.toggleSource() }},
	{id: "source-links", do: func(p *Page, _ string) { p.Frame.Code.Links.Toggle(p.Frame.Code.Path) }},
	{id: "link-example", doN: func(p *Page, n int) {
		p.Frame.Code.Links.Template = sourcelinks.Examples[min(max(n, 0), len(sourcelinks.Examples)-1)].Template
	}},
	{id: "link-add", do: func(p *Page, _ string) { p.Frame.Code.Links.Add() }},
	{id: "link-remove", doN: func(p *Page, n int) { p.Frame.Code.Links.Remove(n) }},
	{id: "code-back", do: func(p *Page, _ string) { p.Frame.Code.back() }},
	{id: "code-bytes", do: func(p *Page, _ string) { p.Frame.Code.bytes = !p.Frame.Code.bytes }},
	{id: "why", do: func(p *Page, _ string) { p.Frame.show("why"); p.Host.Focus("stack") }},

	// What the page shows already: a list, a comparison.
	{id: "copy", do: func(p *Page, kind string) { p.Work.Exports.copy(kind) }},
	{id: "copy-stack", keys: []string{"c"}, help: "show the stack as text without private texts; Enter copies it", do: func(p *Page, _ string) { p.Menus.Preview.open("copy", protocol.ExportStack, "stack") }},
	{id: "export", do: func(p *Page, kind string) { p.Menus.Preview.open(p.Menus.Open, kind, "menu-"+p.Menus.Open) }},
	{id: "private", limit: zone.ShowsPrivate, do: func(p *Page, _ string) { p.Menus.Preview.toggle() }},
	{id: "done-preview", do: func(p *Page, act string) { p.Menus.Preview.done(act) }},
	{id: "close-preview", do: func(p *Page, _ string) { p.Menus.Preview.close() }},
	{id: "copy-row", do: func(p *Page, what string) { p.Menus.copyRow(what); p.Host.Focus("stack") }},
	{id: "copy-link", do: func(p *Page, names string) { p.Address.copyLink(names == "names") }},
	{id: "copy-signature", do: func(p *Page, _ string) { p.Verdict.copySignature() }},
	{id: "copy-command", do: func(p *Page, item string) { p.Panel.Files.CopyCommand(item) }},
	{id: "copy-finding", do: func(p *Page, which string) { p.Verdict.copyFinding(which) }},

	{id: "tab", do: func(p *Page, id string) { p.Panel.show(id, true) }},
	{id: "show", do: func(p *Page, id string) { p.Panel.show(id, false) }},
	{id: "findings", do: func(p *Page, _ string) { p.Panel.show("findings", false) }},
	{id: "anyway", limit: zone.AddsFiles, do: func(p *Page, name string) { p.Reading.unpackAnyway(name) }},
	{id: "module", do: func(p *Page, arg string) { p.Panel.Modules.Choose(arg) }},
	{id: "show-module", do: func(p *Page, arg string) { p.Panel.Modules.Show(arg) }},
	{id: "sort-modules", doN: func(p *Page, column int) { p.Panel.Modules.Reorder(func(o *table.Order) { o.SortBy(column) }) }},
	{id: "copy-make", do: func(p *Page, _ string) { p.Notices.Copy(tabs.MakeCommand(p.Panel.Modules), "Command copied") }},
	{id: "ignore", limit: zone.Changes, do: func(p *Page, arg string) { p.Panel.Modules.IgnoreCFI(arg) }},
	{id: "use", limit: zone.Changes, do: func(p *Page, arg string) { p.Panel.Modules.Assign(arg) }},
	{id: "unuse", limit: zone.Changes, do: func(p *Page, arg string) { p.Panel.Modules.Unassign(arg) }},
	{id: "make", limit: zone.WritesSymbols, do: func(p *Page, name string) { p.Work.Making.begin(name) }},

	{id: "sources", limit: zone.GetsSymbols, do: func(p *Page, _ string) { p.Panel.Sources.Toggle() }},
	{id: "base", limit: zone.AsksServers, do: func(p *Page, base string) { p.Panel.Sources.SetBase(base) }},
	{id: "remember", limit: zone.AsksServers, do: func(p *Page, _ string) { p.Panel.Sources.ToggleRemember() }},
	{id: "ask", limit: zone.AsksServers, do: func(p *Page, _ string) { p.Panel.Sources.AskAll() }},
	{id: "copy-curl", limit: zone.AsksServers, do: func(p *Page, _ string) { p.Panel.Sources.CopyCurl() }},
	{id: "read-all", limit: zone.AsksServers, do: func(p *Page, url string) { p.Work.Downloads.ReadAllOf(url) }},
	{id: "pick-store", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Panel.Sources.PickFolder() }},
	{id: "store", limit: zone.AddsFiles, do: func(p *Page, _ string) { p.Panel.Sources.FromFolder() }},
	{id: "keep", limit: zone.Changes, do: func(p *Page, _ string) { p.Panel.Files.Kept.Toggle() }},
	{id: "clear-kept", limit: zone.Changes, do: func(p *Page, _ string) { p.Panel.Files.Kept.Clear() }},
	{id: "outline", doN: func(p *Page, item int) { p.Panel.Outline.show(item, -1) }},
	{id: "outline-module", doN: func(p *Page, module int) { p.Panel.Outline.show(-1, module) }},
	{id: "outline-close", do: func(p *Page, _ string) { p.Panel.Outline.close() }},
	{id: "outline-enter", do: func(p *Page, _ string) { p.Panel.Outline.enter() }},
	{id: "outline-at", do: func(p *Page, at string) {
		if address, ok := words.ParseAddress(at); ok {
			p.Panel.Outline.goTo(address)
		}
	}},
	{id: "outline-source", do: func(p *Page, path string) { p.Panel.Outline.relist(false, path+":") }},
	{id: "outline-list", do: func(p *Page, what string) { p.Panel.Outline.relist(what == "files", "") }},
	{id: "outline-code", do: func(p *Page, at string) {
		if p.Empty() {
			p.Frame.toggle("code")
			return
		}
		p.Frame.show("code")
		p.Frame.Code.openAt(at)
	}},
	{id: "stop-indexing", do: func(p *Page, _ string) { p.Work.Indexing.stopByUser() }},
}

// input is a field of the page. Elements name it in data-input.
type input struct {
	field string // if it ends in "-", data-input has an argument after it
	limit func(zone.Limits) bool
	long  bool // its text may be longer than maxStateText, since it is not part of the address
	do    func(p *Page, arg, value string)
}

// inputTable has a row for each field.
var inputTable = []input{
	{field: "search", do: func(p *Page, _, text string) { p.Search.search(text) }},
	{field: "dumps-filter", do: func(p *Page, _, text string) { p.Table.search(text) }},
	{field: "go-to", do: func(p *Page, _, text string) { p.Menus.GoTo.typed(text) }},
	{field: "memory-kind", do: func(p *Page, _, kind string) { p.Panel.Finder.Kind = kind }},
	{field: "memory-text", do: func(p *Page, _, text string) { p.Panel.Finder.Text = text }},
	{field: "outline", long: true, do: func(p *Page, _, text string) { p.Panel.Outline.typed(text) }},
	{field: "outline-file", do: func(p *Page, _, item string) {
		if n, err := strconv.Atoi(item); err == nil {
			p.Panel.Outline.show(n, -1)
		}
	}},
	{field: "threads", do: func(p *Page, _, text string) { p.Threads.filter(text) }},
	{field: "modules", do: func(p *Page, _, text string) { p.Panel.Modules.Reorder(func(o *table.Order) { o.Filter = text }) }},
	{field: "other-dump", do: func(p *Page, _, dump string) { p.Panel.tab("dumps").(*tabs.Difference).Choose(dump) }},
	{field: "policy", limit: zone.Changes, do: func(p *Page, _, name string) { p.choosePolicy(name) }},
	{field: "use", limit: zone.Changes, do: func(p *Page, _, item string) {
		p.Panel.Modules.Assign(item + "." + strconv.Itoa(p.Panel.Modules.Chosen().Index))
	}},
	{field: "assign-", limit: zone.Changes, do: func(p *Page, item, module string) { p.Panel.Modules.Assign(item + "." + module) }},
	{field: "link-prefix", long: true, do: func(p *Page, _, text string) { p.Frame.Code.Links.Prefix = text }},
	{field: "link-template", long: true, do: func(p *Page, _, text string) { p.Frame.Code.Links.Template = text }},
	{field: "symbols-base", limit: zone.AsksServers, long: true, do: func(p *Page, _, text string) { p.Panel.Sources.SetBase(text) }},
	{field: "symbols-token", limit: zone.AsksServers, long: true, do: func(p *Page, _, text string) { p.Panel.Sources.Token = strings.TrimSpace(text) }},
}

// Act does an action. The host has one native listener at the page's root for all clicks, because
// Vugu's listeners would serialize the clicked element with its content at each event.
func (p *Page) Act(act, arg string) {
	if act != "menu" {
		defer func() { p.Menus.Open = "" }()
	}
	for i := range p.actions {
		a := &p.actions[i]
		if a.id != act || !p.Limits.Allows(a.limit) {
			continue
		}
		switch n, err := strconv.Atoi(arg); {
		case a.do != nil:
			a.do(p, arg)
		case a.tab.Do != nil:
			a.tab.Do(arg)
		case err != nil:
		case a.doN != nil:
			a.doN(p, n)
		default:
			a.tab.DoN(n)
		}
		return
	}
}

// Input handles text that the user has typed into a field.
func (p *Page) Input(field, value string) {
	for _, in := range inputTable {
		arg, ok := strings.CutPrefix(field, in.field)
		if !ok || arg != "" && !strings.HasSuffix(in.field, "-") || !p.Limits.Allows(in.limit) {
			continue
		}
		if !in.long && len(value) > state.MaxText {
			value = strings.ToValidUTF8(value[:state.MaxText], "")
		}
		in.do(p, arg, value)
		return
	}
}
