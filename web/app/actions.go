package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/web/protocol"
)

// Act does what an element with data-act asks for. One native listener at the root hears all clicks: Vugu's own would
// serialise the element's whole content at each.
func (p *Page) Act(act, arg string) {
	if act != "menu" {
		defer func() { p.Menu = "" }()
	}
	if p.forbidden(act) {
		return
	}
	switch act {
	case "pick-files":
		p.Host.PickFiles()
	case "pick-folder":
		p.Host.PickFolder()
	case "sample":
		p.Host.OpenSample()
	case "cancel":
		p.Cancel()
	case "stop-later":
		p.stopExact()
		p.say("note", "Stopped: the symbol files stay searched, and are not read as a whole.")
	case "keep":
		p.keepIndexes()
	case "clear-kept":
		p.clearKept()
	case "menu":
		if p.Menu == arg {
			p.Menu = ""
		} else {
			p.Menu = arg
			p.Host.Focus("menu-" + arg)
		}
	case "theme":
		p.toggleTheme()
	case "help":
		p.Help = !p.Help
		if p.Help {
			p.Host.Focus("help-close")
		} else {
			p.Host.Focus("help-button")
		}
	case "dismiss":
		for i, n := range p.Notices {
			if strconv.Itoa(n.ID) == arg {
				p.Notices = append(p.Notices[:i:i], p.Notices[i+1:]...)
				break
			}
		}
	case "dump":
		if n, err := strconv.Atoi(arg); err == nil {
			p.open(n, false)
		}
	case "find":
		p.Find(map[string]int{"next": 1, "previous": -1}[arg])
	case "close-dump":
		p.closeDump()
	case "copy-row":
		p.copyRow(arg)
		p.Host.Focus("stack")
	case "why":
		p.choose("side", "why")
		p.Host.Focus("stack")
	case "show-module":
		p.showModule(arg)
	case "module":
		p.selectModule(arg)
	case "ignore":
		p.ignoreCFI(arg)
	case "make":
		p.makeSym(arg)
	case "copy", "download":
		p.export(act, arg)
	case "findings":
		p.selectTab("findings", false)
	case "copy-signature":
		if p.Summary != nil {
			p.copy(p.Summary.Signature, "Signature copied")
		}
	case "copy-command":
		for _, f := range p.Files.Rejected {
			if strconv.Itoa(f.Item) == arg {
				p.copy(p.nextCommand(f), "Command copied")
			}
		}
	case "copy-finding":
		p.copyFinding(arg)
	default:
		if !p.sourcesAct(act, arg) {
			p.choose(act, arg)
		}
	}
}

// choose is for actions that select something in the lists.
func (p *Page) choose(act, arg string) {
	switch act {
	case "thread":
		if n, err := strconv.Atoi(arg); err == nil {
			p.selectThread(n)
		}
	case "frame":
		frame, inline, ok := frameArg(arg)
		if ok {
			p.selectFrame(frame, inline)
		}
	case "tab":
		p.selectTab(arg, true)
	case "show":
		p.selectTab(arg, false)
	case "side":
		p.State.Side = arg
		p.address()
	case "inlines":
		p.State.HideInlines = !p.State.HideInlines
		if p.State.HideInlines {
			p.State.Inline = -1
		}
		p.address()
		p.ask(partStack | partFrame)
	case "choose-thread":
		p.Choosing = !p.Choosing
	case "use", "assign", "unuse":
		p.assign(act, arg)
	case "stream", "stream-bytes", "stream-private", "reveal":
		p.rawAct(act, arg)
	case "compared":
		if n, err := strconv.Atoi(arg); err == nil {
			p.selectCompared(n)
		}
	case "more-findings":
		p.Findings += findingsShown
	case "policy":
		p.setPolicy(arg)
		p.address()
	}
}

func frameArg(arg string) (frame, inline int, ok bool) {
	a, b, _ := strings.Cut(arg, ".")
	frame, err := strconv.Atoi(a)
	inline, err2 := strconv.Atoi(b)
	return frame, inline, err == nil && err2 == nil && frame >= 0
}

// assign takes symbols for a module by a person's word. arg is "ITEM.MODULE".
func (p *Page) assign(act, arg string) {
	item, module, ok := frameArg(arg)
	if !ok || module < 0 {
		return
	}
	if act == "unuse" {
		p.decide(&protocol.Unassign{Dump: p.Dump, Module: module})
	} else {
		p.decide(&protocol.Assign{Item: item, Dump: p.Dump, Module: module})
	}
	p.ask(partsAll)
}

func (p *Page) setPolicy(name string) {
	if name == "best" {
		name = ""
	}
	p.State.Policy = name
	if name == "" {
		name = "best"
	}
	p.decide(&protocol.SetPolicy{Policy: name})
	p.ask(partsAll)
}

func (p *Page) toggleTheme() {
	next := map[string]string{"": "dark", "dark": "light", "light": ""}[p.State.Theme]
	p.State.Theme = next
	p.Host.Store("theme", next)
	p.Host.SetTheme(next)
	p.Host.Announce("Theme: " + p.ThemeWord())
}

// ThemeWord names the theme.
func (p *Page) ThemeWord() string {
	if p.State.Theme == "" {
		return "as the system"
	}
	return p.State.Theme
}

func (p *Page) selectThread(n int) {
	p.Choosing = false
	if n == p.State.Thread {
		return
	}
	p.State.Thread, p.State.Frame, p.State.Inline, p.top = n, 0, -1, true
	p.visible["stack"] = protocol.Span{Count: p.visible["stack"].Count}
	p.Host.Reveal("stack", 0)
	p.address()
	p.forgetCompared()
	p.ask(partThreads | partStack | partFrame | partCompare)
}

func (p *Page) selectFrame(frame, inline int) {
	p.top = false
	p.State.Frame, p.State.Inline = frame, inline
	p.address()
	p.ask(partStack | partFrame)
}

// selectTab shows a tab of the lower panel; a click on the open one folds the panel.
func (p *Page) selectTab(id string, toggle bool) {
	known := false
	for _, t := range Tabs {
		known = known || t.ID == id
	}
	if !known || p.disabled(id) {
		return
	}
	p.State.Closed = toggle && !p.State.Closed && p.State.Tab == id
	p.State.Tab = id
	p.address()
	p.openTab()
	p.ask(partModules | partWanted | partFiles)
}

// Input takes what is typed into a field.
func (p *Page) Input(field, value string) {
	if name, _, _ := strings.Cut(field, "-"); p.forbidden(name) || p.sourcesInput(field, value) {
		return
	}
	if len(value) > maxStateText {
		value = strings.ToValidUTF8(value[:maxStateText], "")
	}
	switch field {
	case "search":
		p.State.Search = value
		p.Found, p.hit, p.searching = protocol.FoundPage{}, 0, value != ""
		p.address()
		p.ask(partThreads | partStack | partModules | partFound)
	case "threads":
		p.State.ThreadFilter = value
		p.visible["threads"] = protocol.Span{Count: p.visible["threads"].Count}
		p.Host.Reveal("threads", 0)
		p.address()
		p.ask(partThreads)
	case "policy":
		p.setPolicy(value)
		p.address()
	case "use":
		p.assign("use", value+"."+strconv.Itoa(p.detail().Index))
	}
	if item, ok := strings.CutPrefix(field, "assign-"); ok && value != "" {
		p.assign("assign", item+"."+value)
	}
}
