package app

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// GoTo is the dialog that goes to an address, a register of the selected frame, a function, a module,
// a tab or an action, by what the user types.
type GoTo struct {
	page *Page
	Open bool
	text string
	// places are what the text of may mean, from the engine.
	places []rows.PlaceRow
	of     string
	// symbols are functions of the symbol files, as far as they were searched for the text symbolsOf.
	symbols   []rows.PlaceRow
	symbolsOf string
	searched  bool       // all of them were
	in        string     // what was searched, in words
	items     []goToItem // of text
	at        int        // the selected one
}

// goToItem is a line of the dialog. act and arg are the action that it does.
type goToItem struct{ Title, Note, Key, act, arg string }

// maxItems is how many lines the dialog has: a person types on rather than read more.
const maxItems = 24

// toggle opens the dialog, or closes it.
func (z *GoTo) toggle() {
	if z.Open {
		z.close()
		return
	}
	if z.page.Menus.Help || z.page.Menus.Preview.isOpen() {
		return
	}
	z.Open, z.text, z.places, z.of, z.symbols, z.symbolsOf = true, "", nil, "", nil, ""
	z.list()
	z.page.Host.Focus("go-to")
}

func (z *GoTo) close() {
	z.Open = false
	z.page.Host.Focus("stack")
}

// typed lists what a text may mean.
func (z *GoTo) typed(text string) {
	z.text = text
	z.list()
	z.page.Screen.Ask(z)
}

// Hidden implements Zone.
func (z *GoTo) Hidden() bool { return !z.Open || strings.TrimSpace(z.text) == "" }

// Want implements Zone.
func (z *GoTo) Want(q *protocol.Query) {
	if z.of != z.text || z.places == nil {
		q.Memory.Places = &protocol.PlacesQuery{Text: z.text}
	}
	if z.searches() {
		q.Memory.Symbols = &protocol.SymbolsQuery{Text: strings.TrimSpace(z.text)}
	}
}

// searches reports whether symbol files are searched for the text: a short one is in too many names.
func (z *GoTo) searches() bool {
	text := strings.TrimSpace(z.text)
	return len(text) > 2 && !strings.HasPrefix(strings.ToLower(text), "0x") && (z.symbolsOf != text || !z.searched)
}

// Apply implements Zone.
func (z *GoTo) Apply(r *protocol.QueryResult) {
	if r.Memory.Places != nil && r.Memory.Places.Of == z.text {
		z.places, z.of = r.Memory.Places.Rows, r.Memory.Places.Of
		z.list()
	}
	if s := r.Memory.Symbols; s != nil && s.Of == strings.TrimSpace(z.text) {
		more := len(s.Rows) > len(z.symbols) || z.symbolsOf != s.Of
		z.in = "the stacks"
		if s.Files > 0 {
			z.in += ", " + words.Count(s.Files, "symbol file")
		}
		if s.Tables > 0 {
			z.in += ", the symbol tables of " + words.Count(s.Tables, "program")
		}
		if z.symbols, z.symbolsOf, z.searched = s.Rows, s.Of, s.Ended; more {
			at := z.at
			z.list()
			z.at = at
		}
	}
	if !z.Hidden() && z.of == z.text && z.searches() { // the next query reads on
		z.page.Screen.Ask(z)
	}
}

// list makes the lines. Those that need the engine follow when its answer is there.
func (z *GoTo) list() {
	text := strings.ToLower(strings.TrimSpace(z.text))
	z.items, z.at = nil, 0
	add := func(is bool, item goToItem) {
		if is && len(z.items) < maxItems {
			z.items = append(z.items, item)
		}
	}
	if d := z.page.Frame.Detail; d != nil {
		for _, r := range d.Registers {
			is := text != "" && strings.HasPrefix(strings.ToLower(r.Name), text) || text == "" && r.Role != ""
			add(is && words.AddressAct(r.Value) != nil, goToItem{Title: r.Name, Note: strings.TrimSpace(r.Value + "  " + r.Note), act: "address", arg: r.Value})
		}
	}
	if z.of == z.text {
		for _, r := range z.places {
			add(true, goToItem{Title: r.Title, Note: r.Note, act: "address", arg: r.Address})
		}
		if z.symbolsOf == strings.TrimSpace(z.text) {
			for _, r := range z.symbols {
				known := slices.ContainsFunc(z.places, func(p rows.PlaceRow) bool { return sameAddress(p.Address, r.Address) })
				add(!known, goToItem{Title: r.Title, Note: r.Note, act: "address", arg: r.Address})
			}
		}
	} else if a, ok := words.ParseAddress(text); ok && strings.HasPrefix(text, "0x") {
		add(true, goToItem{Title: "0x" + strconv.FormatUint(a, 16), act: "address", arg: text})
	}
	for _, t := range Parts() {
		add(text != "" && strings.Contains(strings.ToLower(t.Title), text) && !z.page.Panel.disabled(t.ID), goToItem{Title: "Open " + t.Title, act: "show", arg: t.ID})
	}
	for i := range z.page.actions {
		a := &z.page.actions[i]
		is := a.help != "" && a.id != "go-to" && strings.Contains(a.help, text) && z.page.Limits.Allows(a.limit)
		add(is, goToItem{Title: words.Capital(a.help), Key: a.keys0(), act: a.id})
	}
}

// sameAddress reports whether two texts are the same address.
func sameAddress(a, b string) bool {
	x, isAddress := words.ParseAddress(a)
	y, is := words.ParseAddress(b)
	return isAddress && is && x == y
}

// keys0 is the action's first key, or "".
func (a *action) keys0() string {
	if len(a.keys) == 0 {
		return ""
	}
	return a.keys[0]
}

// key handles a key while the dialog is open, and reports whether it has one.
func (z *GoTo) key(key string) bool {
	switch n := len(z.items); {
	case key == "Escape":
		z.close()
	case key == "Enter":
		z.choose(strconv.Itoa(z.at))
	case key == "ArrowDown" && n > 0:
		z.at = (z.at + 1) % n
	case key == "ArrowUp" && n > 0:
		z.at = (z.at + n - 1) % n
	default:
		return false
	}
	return true
}

// choose does what a line says.
func (z *GoTo) choose(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n >= len(z.items) {
		return
	}
	item := z.items[n]
	z.close()
	z.page.Act(item.act, item.arg)
}

// active is the id of the selected line, for aria-activedescendant; nil leaves the attribute out.
func (z *GoTo) active() any {
	if len(z.items) == 0 {
		return nil
	}
	return words.RowID("go", z.at)
}

func (z *GoTo) class(n int) string {
	if n == z.at {
		return "go-item selected"
	}
	return "go-item"
}

// status says what was searched for a name, and whether nothing has it.
func (z *GoTo) status() string {
	searched := z.symbolsOf != "" && z.symbolsOf == strings.TrimSpace(z.text)
	switch {
	case z.of != z.text && len(z.items) == 0, z.searches():
		return "Looking for it …"
	case len(z.items) > 0 && !searched:
		return ""
	case len(z.items) > 0:
		return "Functions are those of " + z.in + "."
	case searched:
		return "No function of " + z.in + ", and no module, register, tab or action has this name."
	}
	return "No function of the stacks, and no module, register, tab or action has this name."
}
