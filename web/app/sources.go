package app

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Sources is the panel for getting missing symbol files from a server or a folder. It sends nothing
// before it has shown the addresses and the user has pressed the button. A server gets only these
// addresses, which have names and ids of modules, and the token if the user has typed one.
type Sources struct {
	page     *Page
	Open     bool
	Typed    string // the address in the field
	Token    string // in memory only, and only for this address
	Remember bool   // store the address and the folder for the next visit
	Folder   string // name of the chosen folder, or ""
	Missing  []rows.MissingRow
	of       protocol.ReportID // the report that Missing belongs to
	known    bool              // Missing has arrived
	// asks, problem, all and base are the result of work for the drawing.
	asks    []*Asked // what the button would request
	problem string
	all     []*Asked // the same, if the page may not ask the server, too
	base    string   // its address
}

// Asked is a request for a symbol file.
type Asked struct {
	URL, ID string
	Else    string // requested if the server has nothing at URL, or ""
	At      string // where the server redirected to, or ""
	State   asked
	Text    string // the result, in words
	file    host.File
	item    int  // its number in the engine, -1 while the engine has not read it
	all     bool // the user wants all of a file that is read in parts
	done    int64
	total   int64
	stop    func()
	token   string
	again   bool // it changed on the server, and was requested once more
	absent  bool // the server does not have it
}

type asked int

// States of a request.
const (
	askedWaiting asked = iota
	askedRunning
	askedReceived // received
	askedPartial  // available, and read in parts
	askedFailed   // failed, or cancelled
)

// maxAsking is how many requests run at a time.
const maxAsking = 4

// maxFolder is how many files are read from a folder that is not a symbol store.
const maxFolder = 2000

// renewed queries the missing files again if there is a new report.
func (z *Sources) renewed(of protocol.ReportID) {
	if of != z.of {
		z.of = of
		z.askMissing()
	}
}

// load fills in the stored address, or the first one that the page was built with.
func (z *Sources) load() {
	if z.Typed = z.page.Host.Load("symbols"); z.Typed != "" {
		z.Remember = true
	} else if bases, _ := z.page.Host.SymbolBases(); len(bases) > 0 {
		z.Typed = bases[0]
	}
}

// toggle opens or closes the panel.
func (z *Sources) toggle() {
	if z.Open = !z.Open; z.Open {
		z.page.Panel.show("wanted", false)
		z.askMissing()
		z.recallFolder()
		z.page.Host.Focus("symbols-base")
	}
}

// toggleRemember switches whether the address and the folder are stored for the next visit.
func (z *Sources) toggleRemember() {
	z.Remember = !z.Remember
	z.save()
}

// pickFolder has the user choose a folder of symbol files, and looks in it.
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

// setBase sets the address. It clears the token, which the user has typed for the address before.
func (z *Sources) setBase(text string) {
	if text = strings.TrimSpace(text); text != z.Typed {
		z.Typed, z.Token = text, ""
		z.save()
	}
}

// save stores the address and the folder, or deletes what was stored.
func (z *Sources) save() {
	if z.Remember {
		z.page.Host.Store("symbols", z.Typed)
	} else if z.page.Host.Load("symbols") != "" {
		z.page.Host.Store("symbols", "")
	}
	if z.page.Host.CanPickStore() && z.Folder != "" {
		z.page.Host.KeepStore(z.Remember)
	}
}

// recallFolder gets the stored folder of an earlier visit.
func (z *Sources) recallFolder() {
	if z.Remember && z.Folder == "" && z.page.Host.CanPickStore() {
		z.page.Host.RecallStore(func(name string) { z.Folder = name })
	}
}

// askMissing queries the missing symbol files, as far as the stacks are walked.
func (z *Sources) askMissing() {
	if z.Open && !z.page.Reading.stopped && len(z.page.Dumps.List) > 0 {
		z.page.send(&protocol.ListMissing{Dump: z.page.Dumps.Open}, nil)
	}
}

// layoutOf divides the address of a server, "microsoft+https://host/path", into the layout and the
// address itself.
func layoutOf(base string) (layout, address string) {
	if layout, address, ok := strings.Cut(base, "+"); ok && !strings.Contains(layout, "/") {
		return layout, address
	}
	return rows.LayoutBreakpad, base
}

// fileAddress returns the address of a symbol file on a server; "" if the file has no proper name
// or id. The names come from an untrusted dump, so they are escaped, and "." and ".." are refused:
// the request must not reach another path of the server.
func fileAddress(base, storePath string) string {
	parts := strings.Split(storePath, "/")
	if len(parts) != 3 || len(parts[1]) < 9 || strings.Trim(parts[1], "0123456789abcdefABCDEF") != "" {
		return ""
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		base += "/" + words.Escape(part, "-._~!$&()*+,;=:@") // a segment (RFC 3986, section 3.3)
	}
	return base
}

// work finds out what the button would send: requests for missing files that were not yet requested
// from this server.
func (z *Sources) work() {
	z.asks, z.all, z.base, z.problem = nil, nil, "", ""
	if z.Typed == "" {
		return
	}
	var allowed bool
	if z.base, allowed, z.problem = z.page.Host.ResolveBase(z.Typed); z.problem != "" {
		return
	}
	if z.all = z.from(z.base); allowed {
		z.asks = z.all
	} else {
		z.problem = z.notListed(z.base)
	}
}

// from returns the requests for the missing files that a server was not yet asked for.
func (z *Sources) from(base string) (rows []*Asked) {
	// Do not repeat requests, except failed ones: a server may accept another token, or work again.
	// What it does not have, it will not have now.
	seen := map[string]bool{}
	for _, a := range z.page.Work.Downloads.Asked {
		seen[a.URL] = a.State != askedFailed || a.absent
	}
	layout, base := layoutOf(base)
	for _, w := range z.Missing {
		for _, f := range w.Stores {
			if url := fileAddress(base, f.Path); f.Layout == layout && url != "" && !seen[url] {
				seen[url] = true
				rows = append(rows, &Asked{URL: url, Else: fileAddress(base, f.Else), ID: strings.Split(f.Path, "/")[1], token: z.Token})
			}
		}
	}
	return rows
}

// notListed says why this page cannot reach a server, and what the user can do.
func (z *Sources) notListed(base string) string {
	why := "This page may not ask " + base + ": its policy (Content-Security-Policy) allows other servers only."
	if z.page.HostPage.Inside {
		why = "The host page has not allowed " + base + "."
	} else if _, ok := z.page.Host.SymbolBases(); !ok {
		why = "This copy of Crashpane cannot ask a server: its policy forbids every request (Content-Security-Policy: connect-src 'none')."
	}
	return why + " Your system can: copy the command for curl, run it, and drop the folder “" + curlFolder + "” that it makes. The command-line tool does the same: crashpane fetch DUMP --from " + base
}

// curlFolder is the folder into which the command for curl downloads.
const curlFolder = "symbols"

// curlCommand returns a command for the user's system that downloads what the page would ask for, a
// line for each file: for servers that the page may not ask, or that do not let it read their answers.
// On Windows it is for PowerShell. "" if there is nothing to ask for.
//
//	curl -fL --create-dirs -C - -o 'symbols/app/5A98…1/app.sym' 'https://symbols.example/app/5A98…1/app.sym'
func (z *Sources) curlCommand() string {
	curl, otherwise, end := "curl", " || ", ""
	if z.page.Host.System() == host.Windows {
		curl, otherwise, end = "curl.exe", "; if (-not $?) { ", " }"
	}
	if z.Token != "" {
		curl += " -H 'Authorization: Bearer TOKEN'"
	}
	_, root := layoutOf(z.base)
	one := func(url string) string {
		// A name of the dump is not trusted. In quotes the address has nothing that a shell reads.
		return curl + " -fL --create-dirs -C - -o '" + curlFolder + plainPath(strings.TrimPrefix(url, root)) + "' '" + strings.ReplaceAll(url, "'", "%27") + "'"
	}
	var lines []string
	for _, a := range z.all {
		line := one(a.URL)
		if a.Else != "" {
			line += otherwise + one(a.Else) + end
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plainPath replaces what is special to a shell or a file system in the path of an address. Symbol files
// are known by their content, so their names do not matter.
func plainPath(path string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+", c) {
			return c
		}
		return '_'
	}, path)
}

// copyCurl copies the command.
func (z *Sources) copyCurl() {
	if len(z.all) == 0 {
		return
	}
	said := "Command copied. Run it, and drop the folder “" + curlFolder + "” here"
	if z.Token != "" {
		said = "Command copied. Put your token in place of TOKEN, run it, and drop the folder “" + curlFolder + "” here"
	}
	z.page.Notices.Copy(z.curlCommand(), said)
}

// askAll requests all the files that were shown.
func (z *Sources) askAll() {
	if z.work(); len(z.asks) == 0 {
		return
	}
	z.save()
	z.page.Work.Downloads.Asked = append(z.page.Work.Downloads.Asked, z.asks...)
	z.page.Work.Downloads.next()
}

// fromFolder adds the missing files that are in the folder.
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
	z.page.Host.FromStore(paths, maxFolder, func(found []host.File, problem string) {
		switch {
		case problem != "":
			z.page.Notices.Show("warning", "The folder "+rows.Clean(name)+" could not be read: "+rows.Clean(problem))
		case len(found) == 0:
			z.page.Notices.Show("note", "The folder "+rows.Clean(name)+" has none of the missing files.")
		default:
			z.page.Reading.Add(found)
		}
	})
}

// Compute implements vugu's callback before each drawing. Several texts need the requests, and there
// can be hundreds.
func (z *Sources) Compute() { z.work() }

// addresses returns the addresses that the button would request, a line each.
func (z *Sources) addresses() string {
	lines := make([]string, len(z.asks))
	for i, a := range z.asks {
		if lines[i] = a.URL; a.Else != "" {
			lines[i] += "\n" + a.Else + " if the server does not have that"
		}
	}
	return strings.Join(lines, "\n")
}

// askText is the text of the button.
func (z *Sources) askText() string {
	switch len(z.asks) {
	case 0:
		return "Ask the server"
	case 1:
		return "Ask the server for this file"
	}
	return "Ask the server for these " + words.Count(len(z.asks), "file")
}

// leadText says what the button would send.
func (z *Sources) leadText() string {
	if !z.known {
		return "Finding out what is missing…"
	}
	if len(z.asks) == 0 {
		return "No file to ask this server for. Crashpane asks only for missing symbol files, by name and id, and sends nothing else from the dump."
	}
	also := ""
	if z.Token != "" {
		also = "your token with them, and "
	}
	return "Crashpane will ask only for these addresses, and with a large .sym file for its index: the same address with .index at the end. It sends " +
		also + "nothing else: no cookie, no referrer, no other part of the dump."
}

// askedText lists the requests and their results.
func (z *Sources) askedText() string {
	var lines []string
	for _, a := range z.page.Work.Downloads.Asked {
		lines = append(lines, a.URL+"\n"+a.status())
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

// bases returns the servers that the page was built with.
func (z *Sources) bases() []string {
	list, _ := z.page.Host.SymbolBases()
	return list
}

// storeText is the text of the button that looks in the chosen folder again.
func (z *Sources) storeText() string {
	return "Look in the folder " + rows.Clean(z.Folder)
}

// status describes the state of a request.
func (a *Asked) status() string {
	text := a.Text
	switch a.State {
	case askedWaiting:
		text = "waiting"
	case askedRunning:
		if text = "asking"; a.done > 0 {
			text = "receiving, " + rows.Size(a.done)
			if a.total > 0 {
				text += " of " + rows.Size(a.total)
			}
		}
	}
	if a.At != "" {
		text += "; redirected to " + rows.Clean(a.At)
	}
	return "    " + text
}

// readAllText is the text of the button that fetches all of a file which is read in parts.
func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s (%s)", rows.BaseName(a.URL), rows.Size(a.file.Size()))
}
