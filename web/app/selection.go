package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file changes the selection: thread, frame and unwind policy.

// Select selects a thread, a frame, a tab and an address; -1 and "" leave them unchanged. An address
// without a tab is shown in Memory.
func (p *Page) Select(thread, frame int, tab, address string) {
	if thread >= 0 {
		p.selectThread(thread)
	}
	if frame >= 0 {
		p.selectFrame(frame, -1)
	}
	if at, ok := words.ParseAddress(address); ok {
		if p.Empty() {
			p.State.At = at
		} else if tab == "" || zone.ShowsAddress(tab) {
			p.GoToAddress(at)
		} else {
			p.Memory.Visit(p.State.At, at)
			p.State.At = at
		}
	}
	if tab != "" && !p.Empty() {
		p.Panel.show(tab, false)
	} else if tab != "" {
		p.State.Tab = parseState("tab=" + tab).Tab
	}
}

// selectThread selects a thread, and its first row when that is known.
func (p *Page) selectThread(n int) {
	p.Threads.Choosing = false
	if n == p.State.Thread {
		return
	}
	p.State.Thread, p.State.Frame, p.State.Inline, p.Screen.Top = n, 0, -1, true
	p.Stack.list.Visible.From = 0
	p.Host.Reveal("stack", 0)
	p.Address.write()
	p.Panel.threadSelected()
	p.Screen.Ask(&p.Threads, &p.Stack, &p.Stack.Words, &p.Frame, &p.Frame.Code)
}

// selectFrame selects a frame, or with inline >= 0 an inlined call in it.
func (p *Page) selectFrame(frame, inline int) {
	p.Screen.Top = false
	p.State.Frame, p.State.Inline = frame, inline
	p.Address.write()
	p.Screen.Ask(&p.Stack, &p.Stack.Words, &p.Frame, &p.Frame.Code, p.Panel.tab("threads"))
	if p.State.At == 0 && zone.ShowsAddress(p.State.Tab) {
		p.Screen.Ask(p.Panel.tab(p.State.Tab)) // it shows the frame's stack pointer
	}
}

// GoToAddress selects an address, and shows it in the tab Memory; without a dump in the outline.
func (p *Page) GoToAddress(address uint64) {
	if p.Empty() {
		if z := p.Panel.Outline; z.alone() {
			z.goTo(address)
		}
		return
	}
	p.Memory.Visit(p.State.At, address)
	p.State.At = address
	part := p.State.Tab
	if !zone.ShowsAddress(part) {
		part = p.Memory.Form
	}
	if part == "" {
		part = rows.MemoryWords
	}
	p.Panel.show(part, false)
}

// setPolicy walks the stacks again with another unwind policy.
func (p *Page) setPolicy(name string) {
	if name == "best" {
		name = ""
	}
	p.State.Policy = name
	if name == "" {
		name = "best"
	}
	p.Reading.decide(&protocol.SetPolicy{Policy: name})
	p.Screen.AskAll()
}

// choosePolicy is setPolicy for the user's choice, which goes into the address.
func (p *Page) choosePolicy(name string) {
	p.setPolicy(name)
	p.Address.write()
}

// toggleTheme changes from the system's theme to dark, to light, and back.
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
		return "system"
	}
	return p.State.Theme
}
