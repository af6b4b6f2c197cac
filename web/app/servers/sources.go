// Package servers gets symbol files from servers and from a folder of the user. Begin with sources.go,
// the panel, which shows each address before it is requested; downloads.go requests them, request.go is
// one request, and paths.go makes addresses and commands.
package servers

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Sources is the panel for getting missing symbol files from a server or a folder. It sends nothing
// before it has shown the addresses and the user has pressed the button. A server gets only these
// addresses, which have names and ids of modules, and the token if the user has typed one.
type Sources struct {
	page      *zone.Shared
	Downloads *Downloads
	Open      bool
	Typed     string // the address in the field
	Token     string // in memory only, and only for this address
	Remember  bool   // store the address and the folder for the next visit
	Folder    string // name of the chosen folder, or ""
	Missing   []rows.MissingRow
	of        protocol.ReportID // the report that Missing belongs to
	known     bool              // Missing has arrived
	// asks, problem, all and base are the result of work for the drawing.
	asks    []*Request // what the button would request
	Problem string
	all     []*Request // the same, if the page may not ask the server, too
	base    string     // its address
}

// maxAsking is how many requests run at a time.
const maxAsking = 4

// maxFolder is how many files are read from a folder that is not a symbol store.
const maxFolder = 2000

// Renewed queries the missing files again if there is a new report.
func (z *Sources) Renewed(of protocol.ReportID) {
	if of != z.of {
		z.of = of
		z.askMissing()
	}
}

// NewSources makes the panel, with the stored address, or the first one that the page was built with.
func NewSources(s *zone.Shared, d *Downloads) *Sources {
	z := &Sources{page: s, Downloads: d}
	if z.Typed = s.Host.Load("symbols"); z.Typed != "" {
		z.Remember = true
	} else if bases, _ := s.Host.SymbolBases(); len(bases) > 0 {
		z.Typed = bases[0]
	}
	return z
}

// Has notes which symbol files are missing.
func (z *Sources) Has(list []rows.MissingRow) { z.Missing, z.known = list, true }

// Toggle opens or closes the panel.
func (z *Sources) Toggle() {
	if z.Open = !z.Open; z.Open {
		z.page.ShowPart("wanted")
		z.askMissing()
		z.recallFolder()
		z.page.Host.Focus("symbols-base")
	}
}

// ToggleRemember switches whether the address and the folder are stored for the next visit.
func (z *Sources) ToggleRemember() {
	z.Remember = !z.Remember
	z.save()
}

// PickFolder has the user choose a folder of symbol files, and looks in it.
func (z *Sources) PickFolder() {
	if !z.page.Host.CanPickStore() {
		z.page.Host.PickFolder()
		return
	}
	z.page.Host.PickStore(func(name, problem string) {
		if problem == "" && name != "" {
			z.Folder = name
			z.save()
			z.FromFolder()
		}
	})
}

// SetBase sets the address. It clears the token, which the user has typed for the address before.
func (z *Sources) SetBase(text string) {
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
	if z.Open && len(z.page.Dumps.List) > 0 {
		z.page.Send(&protocol.ListMissing{Dump: z.page.Dumps.Open})
	}
}

// work finds out what the button would send: requests for missing files that were not yet requested
// from this server.
func (z *Sources) work() {
	z.asks, z.all, z.base, z.Problem = nil, nil, "", ""
	if z.Typed == "" {
		return
	}
	var allowed bool
	if z.base, allowed, z.Problem = z.page.Host.ResolveBase(z.Typed); z.Problem != "" {
		return
	}
	if z.all = z.from(z.base); allowed {
		z.asks = z.all
	} else {
		z.Problem = z.notListed(z.base)
	}
}

// from returns the requests for the missing files that a server was not yet asked for.
func (z *Sources) from(base string) (rows []*Request) {
	// Do not repeat requests, except failed ones: a server may accept another token, or work again.
	// What it does not have, it will not have now.
	seen := map[string]bool{}
	for _, a := range z.Downloads.Requests {
		seen[a.URL] = a.State != Failed || a.absent
	}
	layout, base := Layout(base)
	for _, w := range z.Missing {
		for _, f := range w.Stores {
			if url := FileAddress(base, f.Path); f.Layout == layout && url != "" && !seen[url] {
				seen[url] = true
				rows = append(rows, &Request{URL: url, Else: FileAddress(base, f.Else), ID: strings.Split(f.Path, "/")[1], token: z.Token})
			}
		}
	}
	return rows
}

// notListed says why this page cannot reach a server, and what the user can do.
func (z *Sources) notListed(base string) string {
	why := "This page may not ask " + base + ": its policy (Content-Security-Policy) allows other servers only."
	if z.page.Inside {
		why = "The host page has not allowed " + base + "."
	} else if _, ok := z.page.Host.SymbolBases(); !ok {
		why = "This copy of Crashpane cannot ask a server: its policy forbids every request (Content-Security-Policy: connect-src 'none')."
	}
	return why + " Your system can: copy the command for curl, run it, and drop the folder “" + curlFolder + "” that it makes. The command-line tool does the same: crashpane fetch DUMP --from " + base
}

// CopyCurl copies the command.
func (z *Sources) CopyCurl() {
	if len(z.all) == 0 {
		return
	}
	said := "Command copied. Run it, and drop the folder “" + curlFolder + "” here"
	if z.Token != "" {
		said = "Command copied. Put your token in place of TOKEN, run it, and drop the folder “" + curlFolder + "” here"
	}
	z.page.Notices.Copy(z.curlCommand(), said)
}

// AskAll requests all the files that were shown.
func (z *Sources) AskAll() {
	if z.work(); len(z.asks) == 0 {
		return
	}
	z.save()
	z.Downloads.Requests = append(z.Downloads.Requests, z.asks...)
	z.Downloads.Next()
}

// FromFolder adds the missing files that are in the folder.
func (z *Sources) FromFolder() {
	var paths []string
	for _, w := range z.Missing {
		for _, f := range w.Stores {
			for _, path := range [...]string{f.Path, f.Else} {
				if FileAddress("", path) != "" {
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
			z.page.AddFiles(found)
		}
	})
}

// Compute implements vugu's callback before each drawing. Several texts need the requests, and there
// can be hundreds.
func (z *Sources) Compute() { z.work() }

// Addresses returns the addresses that the button would request, a line each.
func (z *Sources) Addresses() string {
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

// AskedText lists the requests and their results.
func (z *Sources) AskedText() string {
	var lines []string
	for _, a := range z.Downloads.Requests {
		lines = append(lines, a.URL+"\n"+a.status())
	}
	return strings.Join(lines, "\n")
}

// Class makes room next to the table for the panel.
func (z *Sources) Class() string {
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

// readAllText is the text of the button that fetches all of a file which is read in parts.
func readAllText(a *Request) string {
	return fmt.Sprintf("Read all of %s (%s)", rows.BaseName(a.URL), rows.Size(a.file.Size()))
}
