package app

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Missing symbol files may be asked for of a server or taken out of a folder, when somebody says so: nothing is asked before the
// addresses were shown and the button was pressed. What a server is sent is the names and ids in these addresses, and a token if one
// was typed.

// Sources is that panel, and what was asked.
type Sources struct {
	Open     bool
	Typed    string // the address in the field
	Token    string // in memory only, and of this address only
	Remember bool   // the address is for the next visit too
	Folder   string // the folder that was chosen, or ""
	Missing  []view.WantedRow
	Asked    []*Asked // in the order in which they were asked
	running  int
	of       protocol.Edition // of the list of what is missing, as the page last heard of it
	known    bool             // Missing has come
}

// Asked is one file that was asked for.
type Asked struct {
	URL, ID string
	Else    string // asked if there is nothing at URL, or ""
	At      string // where a server led on to, or ""
	State   asked
	Text    string // what came
	file    File
	item    int
	done    int64
	total   int64
	stop    func()
	token   string
	again   bool // it changed on the server, and was asked for once more
}

type asked int

const (
	askedWaiting asked = iota
	askedRunning
	askedHere
	askedParts // here, and read in parts
	askedNot
)

// Fetched is what a server answered.
type Fetched struct {
	Status  int    // of HTTP; 0 if there was no answer
	Problem string // the browser's words, if there was no answer
	At      string // the address that the server led on to, or ""
	File    File   // nil if none came
}

// remote is a File that lies on a server and is read in parts.
type remote interface{ Remote() bool }

func isRemote(f File) bool {
	r, ok := f.(remote)
	return ok && r.Remote()
}

// maxAsking is how many files are asked for at a time.
const maxAsking = 4

// maxFolder is how many files are taken of a folder that is no symbol store.
const maxFolder = 2000

// loadSources begins with the address that was remembered, or with the first one that the page was built with.
func (p *Page) loadSources() {
	s := &p.Sources
	if s.Typed = p.Host.Load("symbols"); s.Typed != "" {
		s.Remember = true
	} else if bases, _ := p.Host.SymbolBases(); len(bases) > 0 {
		s.Typed = bases[0]
	}
}

// sourcesAct does what the panel's buttons ask for, and reports whether it was one of them.
func (p *Page) sourcesAct(act, arg string) bool {
	s := &p.Sources
	switch act {
	case "sources":
		s.Open = !s.Open
		if s.Open {
			p.selectTab("wanted", false)
			p.askMissing()
			p.recallFolder()
			p.Host.Focus("symbols-base")
		}
	case "base":
		p.setBase(arg)
	case "remember":
		s.Remember = !s.Remember
		p.rememberSource()
	case "ask":
		p.askAll()
	case "read-all":
		for _, a := range s.Asked {
			if a.URL == arg && a.State == askedParts {
				p.readAll(a)
			}
		}
	case "pick-store":
		if !p.Host.CanPickStore() {
			p.Host.PickFolder()
			return true
		}
		p.Host.PickStore(func(name, problem string) {
			if problem == "" && name != "" {
				s.Folder = name
				p.rememberSource()
				p.fromFolder()
			}
		})
	case "store":
		p.fromFolder()
	default:
		return false
	}
	return true
}

// setBase takes another address. A token is of the one that it was typed for.
func (p *Page) setBase(text string) {
	if text = strings.TrimSpace(text); text != p.Sources.Typed {
		p.Sources.Typed, p.Sources.Token = text, ""
		p.rememberSource()
	}
}

// sourcesInput takes what is typed into the panel's fields, and reports whether it was one of them.
func (p *Page) sourcesInput(field, value string) bool {
	switch field {
	case "symbols-base":
		p.setBase(value)
	case "symbols-token":
		p.Sources.Token = strings.TrimSpace(value)
	default:
		return false
	}
	return true
}

func (p *Page) rememberSource() {
	s := &p.Sources
	if s.Remember {
		p.Host.Store("symbols", s.Typed)
	} else if p.Host.Load("symbols") != "" {
		p.Host.Store("symbols", "")
	}
	if p.Host.CanPickStore() && s.Folder != "" {
		p.Host.KeepStore(s.Remember)
	}
}

// recallFolder asks for the folder of an earlier visit, if anything was remembered.
func (p *Page) recallFolder() {
	if s := &p.Sources; s.Remember && s.Folder == "" && p.Host.CanPickStore() {
		p.Host.RecallStore(func(name string) { s.Folder = name })
	}
}

// askMissing has the engine list what is missing, as far as the stacks are walked.
func (p *Page) askMissing() {
	if p.Sources.Open && !p.dead && len(p.Dumps) > 0 {
		p.send(&protocol.ListMissing{Dump: p.Dump}, nil)
	}
}

// layoutOf divides the address of a source, "microsoft+https://host/path", into its layout and the address by itself.
func layoutOf(base string) (layout, address string) {
	if layout, address, ok := strings.Cut(base, "+"); ok && !strings.Contains(layout, "/") {
		return layout, address
	}
	return report.LayoutBreakpad, base
}

// Address is where a source has a symbol file; "" for one that has no name or id.
func Address(base, storePath string) string {
	parts := strings.Split(storePath, "/")
	if len(parts) != 3 || len(parts[1]) < 9 || strings.Trim(parts[1], "0123456789abcdefABCDEF") != "" {
		return ""
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		base += "/" + escaped(part)
	}
	return base
}

// escaped is a part of a path as it stands in an address (RFC 3986, 3.3).
func escaped(part string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		c := part[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&()*+,;=:@", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// toAsk are the files that the button would ask for: those that are missing and were not asked for at this source.
func (p *Page) toAsk() (rows []*Asked, problem string) {
	s := &p.Sources
	if s.Typed == "" {
		return nil, ""
	}
	base, allowed, problem := p.Host.ResolveBase(s.Typed)
	switch {
	case problem != "":
		return nil, problem
	case !allowed:
		return nil, p.notListed(base)
	}
	seen := map[string]bool{}
	for _, a := range s.Asked {
		seen[a.URL] = a.State != askedNot || strings.HasPrefix(a.Text, "not there")
	}
	layout, base := layoutOf(base)
	for _, w := range s.Missing {
		for _, f := range w.Stores {
			if url := Address(base, f.Path); f.Layout == layout && url != "" && !seen[url] {
				seen[url] = true
				rows = append(rows, &Asked{URL: url, Else: Address(base, f.Else), ID: strings.Split(f.Path, "/")[1], token: s.Token})
			}
		}
	}
	return rows, ""
}

// notListed says why a source cannot be asked by this page, and what would help.
func (p *Page) notListed(base string) string {
	if p.Inside {
		return "Nothing was asked: " + base + " is not among the sources that the page around this viewer has named. " +
			"That page allows it: in the element's network attribute and its own policy (connect-src); for a frame, whoever builds the site by make site SYMBOL_ORIGINS"
	}
	if _, ok := p.Host.SymbolBases(); !ok {
		return "This copy of the page forbids every request, so it can ask no server (Content-Security-Policy: connect-src 'none'). A hosted copy can."
	}
	return "Nothing was asked: this page may not reach " + base + ", since its policy (Content-Security-Policy) lists the servers that it was built with. " +
		"Whoever builds the page allows it: make site SYMBOL_ORIGINS=\"" + base + "\""
}

// askAll asks for everything that was shown.
func (p *Page) askAll() {
	rows, problem := p.toAsk()
	if problem != "" || len(rows) == 0 {
		return
	}
	p.rememberSource()
	p.Sources.Asked = append(p.Sources.Asked, rows...)
	p.askOn()
}

// askOn asks for the next files.
func (p *Page) askOn() {
	s := &p.Sources
	for _, a := range s.Asked {
		if s.running >= maxAsking {
			return
		}
		if a.State == askedWaiting {
			p.fetch(a, false)
		}
	}
}

// fetch asks for a file; whole: at once, although the server sends parts.
func (p *Page) fetch(a *Asked, whole bool) {
	a.State, a.done, a.total = askedRunning, 0, 0
	p.Sources.running++
	a.stop = p.Host.Fetch(a.URL, a.token, whole, func(done, total int64) { a.done, a.total = done, total },
		func(f Fetched) { p.fetched(a, f) })
}

// fetched takes a server's answer.
func (p *Page) fetched(a *Asked, f Fetched) {
	s := &p.Sources
	if a.State != askedRunning {
		return // it was stopped
	}
	s.running--
	a.stop, a.At = nil, f.At
	if f.File == nil {
		a.State, a.Text = askedNot, p.failure(a, f)
		if a.Else != "" && strings.HasPrefix(a.Text, "not there") {
			s.Asked = append(s.Asked, &Asked{URL: a.Else, ID: a.ID, token: a.token})
		}
	} else {
		a.State, a.file = askedHere, f.File
		a.Text = "came, " + view.Size(f.File.Size())
		if isRemote(f.File) {
			a.State, a.Text = askedParts, "there, "+view.Size(f.File.Size())+"; only the parts that stacks need are read"
		}
		p.Add([]File{f.File})
	}
	p.askOn()
	if s.running == 0 {
		n, came := len(s.Asked), 0
		for _, a := range s.Asked {
			if a.State == askedHere || a.State == askedParts {
				came++
			}
		}
		p.Host.Announce(fmt.Sprintf("%s of %s found", view.Number(came), files(n)))
	}
}

// failure says why a file did not come.
func (p *Page) failure(a *Asked, f Fetched) string {
	switch {
	case f.Status == 0:
		return view.Clean(f.Problem)
	case f.Status == 401, f.Status == 403:
		if a.token != "" {
			return fmt.Sprintf("refused (%d): the token is not accepted", f.Status)
		}
		return fmt.Sprintf("refused (%d): the server wants a token", f.Status)
	case f.Status == 404, f.Status == 410:
		return fmt.Sprintf("not there (%d): the source has nothing for id %s", f.Status, a.ID)
	case f.Status >= 500:
		return fmt.Sprintf("the server has a problem (%d); it may help to ask again later", f.Status)
	}
	return fmt.Sprintf("the server answered %d", f.Status)
}

// tookFile takes what the engine made of a file, and reports whether it came from a server.
func (p *Page) tookFile(f File, r *protocol.Added, problem string) bool {
	for _, a := range p.Sources.Asked {
		if a.file != f {
			continue
		}
		switch {
		case problem != "":
			a.State, a.Text, a.file = askedNot, "not used: "+problem, nil
		case len(r.Items) > 0:
			a.item = r.Items[0].Item
		}
		return true
	}
	return false
}

// remoteFailed takes that parts of a file cannot be read any more. A file that has changed is begun again, once.
func (p *Page) remoteFailed(r *protocol.RemoteFailed, problem string) {
	for _, a := range p.Sources.Asked {
		if a.file == nil || a.URL != r.URL || a.State != askedParts {
			continue
		}
		was := a.file
		a.file = nil
		again := r.Changed && !a.again
		a.State, a.Text = askedNot, "could not be read to the end: "+view.Clean(problem)
		if !again {
			p.say("warning", a.URL+" could not be read to the end: "+view.Clean(problem)+". Some frames may lack what it knows; ask for it again in the Wanted tab.")
		}
		// What was read of it does not fit what is there now: the engine begins without it.
		p.without(was)
		if again {
			a.again = true
			p.fetch(a, false)
		}
	}
}

// without begins the engine again with all files but one.
func (p *Page) without(f File) {
	for i := range p.accepted {
		if p.accepted[i] == f {
			p.accepted = append(p.accepted[:i:i], p.accepted[i+1:]...)
			break
		}
	}
	if p.reading != nil {
		p.queue = append([]File{p.reading}, p.queue...)
		p.reading = nil
	}
	if !p.dead {
		p.Engine.Restart()
	}
	p.revive()
	for list, e := range p.editions {
		e.Revision = -1
		p.editions[list] = e
	}
	p.next()
	p.ask(partsAll)
}

// readAll reads a file as a whole that is read in parts: its pieces, by the workers that do so with a dropped one.
func (p *Page) readAll(a *Asked) {
	x := &p.Exact
	if p.passOf(a.item) != nil || x.sources[a.item] != a.file {
		return
	}
	x.passes = append(x.passes, &pass{item: a.item, file: a.file})
	p.send(&protocol.PlanIndex{Item: a.item, Cores: p.indexers(), Keep: x.Keep}, nil)
}

// stopAsking gives up what is asked for, and answers how many files that are.
func (p *Page) stopAsking() (n int) {
	for _, a := range p.Sources.Asked {
		if a.State == askedRunning || a.State == askedWaiting {
			if a.stop != nil {
				a.stop()
			}
			a.State, a.Text, a.stop = askedNot, "cancelled", nil
			n++
		}
	}
	p.Sources.running = 0
	return n
}

// fromFolder takes what is missing out of the folder.
func (p *Page) fromFolder() {
	var paths []string
	for _, w := range p.Sources.Missing {
		for _, f := range w.Stores {
			for _, path := range [...]string{f.Path, f.Else} {
				if Address("", path) != "" {
					paths = append(paths, path)
				}
			}
		}
	}
	name := p.Sources.Folder
	p.Host.FromStore(paths, maxFolder, func(found []File, problem string) {
		switch {
		case problem != "":
			p.say("warning", "The folder "+view.Clean(name)+" could not be read: "+view.Clean(problem))
		case len(found) == 0:
			p.say("note", "The folder "+view.Clean(name)+" has none of the files that are missing.")
		default:
			p.Add(found)
		}
	})
}
