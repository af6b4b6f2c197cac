package app

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Missing symbol files may be asked for of a server or taken out of a folder, when somebody says so: nothing is asked before the
// addresses were shown and the button was pressed. What a server is sent is the names and ids in these addresses, and a token if one
// was typed.

// Sources is that panel.
type Sources struct {
	page     *Page
	Open     bool
	Typed    string // the address in the field
	Token    string // in memory only, and of this address only
	Remember bool   // the address is for the next visit too
	Folder   string // the folder that was chosen, or ""
	Missing  []view.MissingRow
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

// renewed asks again for what is missing, if that is of another report.
func (z *Sources) renewed(of protocol.Edition) {
	if of != z.of {
		z.of = of
		z.askMissing()
	}
}

// load begins with the address that was remembered, or with the first one that the page was built with.
func (z *Sources) load() {
	s := z
	if s.Typed = z.page.Host.Load("symbols"); s.Typed != "" {
		s.Remember = true
	} else if bases, _ := z.page.Host.SymbolBases(); len(bases) > 0 {
		s.Typed = bases[0]
	}
}

// toggle opens the panel, or closes it.
func (z *Sources) toggle() {
	if z.Open = !z.Open; z.Open {
		z.page.Panel.show("wanted", false)
		z.askMissing()
		z.recallFolder()
		z.page.Host.Focus("symbols-base")
	}
}

// toggleRemember keeps the source for the next visit, or does not.
func (z *Sources) toggleRemember() {
	z.Remember = !z.Remember
	z.save()
}

// pickFolder has a person choose a folder of symbol files, and looks into it.
func (z *Sources) pickFolder() {
	if !z.page.Host.CanPickStore() {
		z.page.Host.PickFolder()
		return
	}
	z.page.Host.PickStore(func(name, problem string) {
		if problem == "" && name != "" {
			z.Folder = name
			z.save()
			z.fromFolder()
		}
	})
}

// setBase takes another address. A token is of the one that it was typed for.
func (z *Sources) setBase(text string) {
	if text = strings.TrimSpace(text); text != z.Typed {
		z.Typed, z.Token = text, ""
		z.save()
	}
}

func (z *Sources) save() {
	s := z
	if s.Remember {
		z.page.Host.Store("symbols", s.Typed)
	} else if z.page.Host.Load("symbols") != "" {
		z.page.Host.Store("symbols", "")
	}
	if z.page.Host.CanPickStore() && s.Folder != "" {
		z.page.Host.KeepStore(s.Remember)
	}
}

// recallFolder asks for the folder of an earlier visit, if anything was remembered.
func (z *Sources) recallFolder() {
	if s := z; s.Remember && s.Folder == "" && z.page.Host.CanPickStore() {
		z.page.Host.RecallStore(func(name string) { s.Folder = name })
	}
}

// askMissing has the engine list what is missing, as far as the stacks are walked.
func (z *Sources) askMissing() {
	if z.Open && !z.page.Reading.dead && len(z.page.Dumps.List) > 0 {
		z.page.send(&protocol.ListMissing{Dump: z.page.Dumps.Open}, nil)
	}
}

// layoutOf divides the address of a source, "microsoft+https://host/path", into its layout and the address by itself.
func layoutOf(base string) (layout, address string) {
	if layout, address, ok := strings.Cut(base, "+"); ok && !strings.Contains(layout, "/") {
		return layout, address
	}
	return report.LayoutBreakpad, base
}

// fileAddress is where a source has a symbol file; "" for one that has no name or id.
func fileAddress(base, storePath string) string {
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
func (z *Sources) toAsk() (rows []*Asked, problem string) {
	s := z
	if s.Typed == "" {
		return nil, ""
	}
	base, allowed, problem := z.page.Host.ResolveBase(s.Typed)
	switch {
	case problem != "":
		return nil, problem
	case !allowed:
		return nil, z.notListed(base)
	}
	seen := map[string]bool{}
	for _, a := range z.page.Work.Downloads.Asked {
		seen[a.URL] = a.State != askedNot || strings.HasPrefix(a.Text, "not there")
	}
	layout, base := layoutOf(base)
	for _, w := range s.Missing {
		for _, f := range w.Stores {
			if url := fileAddress(base, f.Path); f.Layout == layout && url != "" && !seen[url] {
				seen[url] = true
				rows = append(rows, &Asked{URL: url, Else: fileAddress(base, f.Else), ID: strings.Split(f.Path, "/")[1], token: s.Token})
			}
		}
	}
	return rows, ""
}

// notListed says why a source cannot be asked by this page, and what would help.
func (z *Sources) notListed(base string) string {
	if z.page.Around.Inside {
		return "Nothing was asked: " + base + " is not among the sources that the page around this viewer has named. " +
			"That page allows it: in the element's network attribute and its own policy (connect-src); for a frame, whoever builds the site by make site SYMBOL_ORIGINS"
	}
	if _, ok := z.page.Host.SymbolBases(); !ok {
		return "This copy of the page forbids every request, so it can ask no server (Content-Security-Policy: connect-src 'none'). A hosted copy can."
	}
	return "Nothing was asked: this page may not reach " + base + ", since its policy (Content-Security-Policy) lists the servers that it was built with. " +
		"Whoever builds the page allows it: make site SYMBOL_ORIGINS=\"" + base + "\""
}

// askAll asks for everything that was shown.
func (z *Sources) askAll() {
	rows, problem := z.toAsk()
	if problem != "" || len(rows) == 0 {
		return
	}
	z.save()
	z.page.Work.Downloads.Asked = append(z.page.Work.Downloads.Asked, rows...)
	z.page.Work.Downloads.next()
}

// fromFolder takes what is missing out of the folder.
func (z *Sources) fromFolder() {
	var paths []string
	for _, w := range z.Missing {
		for _, f := range w.Stores {
			for _, path := range [...]string{f.Path, f.Else} {
				if fileAddress("", path) != "" {
					paths = append(paths, path)
				}
			}
		}
	}
	name := z.Folder
	z.page.Host.FromStore(paths, maxFolder, func(found []File, problem string) {
		switch {
		case problem != "":
			z.page.Notices.say("warning", "The folder "+view.Clean(name)+" could not be read: "+view.Clean(problem))
		case len(found) == 0:
			z.page.Notices.say("note", "The folder "+view.Clean(name)+" has none of the files that are missing.")
		default:
			z.page.Reading.Add(found)
		}
	})
}

// problem says why nothing can be asked, or is "".
func (z *Sources) problem() string {
	_, problem := z.toAsk()
	return problem
}

// addresses are the lines that say what the button asks for.
func (z *Sources) addresses() string {
	rows, _ := z.toAsk()
	lines := make([]string, len(rows))
	for i, a := range rows {
		if lines[i] = a.URL; a.Else != "" {
			lines[i] += "\n" + a.Else + " if that is not there"
		}
	}
	return strings.Join(lines, "\n")
}

// askText is the button's.
func (z *Sources) askText() string {
	rows, _ := z.toAsk()
	switch len(rows) {
	case 0:
		return "Nothing to ask for"
	case 1:
		return "Ask for this file"
	}
	return "Ask for these " + files(len(rows))
}

// leadText says what is sent, and what not.
func (z *Sources) leadText() string {
	if !z.known {
		return "Finding out what is missing…"
	}
	rows, _ := z.toAsk()
	if len(rows) == 0 {
		return "Of a source only the addresses of missing symbol files are asked: their names and ids. Nothing of the dump is sent."
	}
	return "These addresses would be asked, and no others. Nothing else is sent: no cookie, no referrer, nothing of the dump."
}

// askedText says what was asked, and what came from where.
func (z *Sources) askedText() string {
	var lines []string
	for _, a := range z.page.Work.Downloads.Asked {
		lines = append(lines, a.URL+"\n"+a.says())
	}
	return strings.Join(lines, "\n")
}

// class makes room beside the table for the panel.
func (z *Sources) class() string {
	if !z.Open {
		return "beside"
	}
	return "beside open"
}

// bases are the sources that the page was built with.
func (z *Sources) bases() []string {
	list, _ := z.page.Host.SymbolBases()
	return list
}

func (z *Sources) storeText() string {
	if z.Folder != "" {
		return "Look in the folder " + view.Clean(z.Folder)
	}
	return ""
}
