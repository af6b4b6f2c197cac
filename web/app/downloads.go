package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Downloads requests symbol files from servers, and keeps a record of each request.
type Downloads struct {
	page    *Page
	Asked   []*Asked // in the order of the requests
	running int
}

// partial returns the files that are read in parts, and that the user can have read completely
// instead. It bounds the number of buttons.
func (z *Downloads) partial() (out []*Asked) {
	for _, a := range z.Asked {
		if a.State == askedPartial && !a.all && !z.page.Work.Indexing.running[a.item] && len(out) < 20 {
			out = append(out, a)
		}
	}
	return out
}

// isPartial reports whether an item is a file that is read in parts.
func (z *Downloads) isPartial(item int) bool {
	for _, a := range z.Asked {
		if a.State == askedPartial && a.item == item {
			return true
		}
	}
	return false
}

// indexed notes that a file is fully indexed.
func (z *Downloads) indexed(item int) {
	for _, a := range z.Asked {
		if a.State == askedPartial && a.item == item {
			a.State, a.Text = askedReceived, "received, "+rows.Size(a.file.Size())+", fully indexed"
		}
	}
}

// text describes the running downloads, for the bar of work.
func (z *Downloads) text() string {
	var done, total int64
	n, known := 0, true
	for _, a := range z.Asked {
		switch a.State {
		case askedRunning:
			done += a.done
			total += a.total
			known = known && a.total > 0
			n++
		case askedWaiting:
			n++
		}
	}
	text := "Asking for " + words.Count(n, "file")
	if done > 0 { // the total is known only if all servers send a length
		text += ", " + rows.Size(done)
		if known {
			text += " of " + rows.Size(total)
		}
	}
	return text
}

// askedWord describes the latest request for a missing file, in its row.
func (z *Downloads) askedWord(w rows.MissingRow) string {
	if len(z.Asked) == 0 {
		return ""
	}
	var ends []string // of the addresses on any server
	for _, f := range w.Stores {
		for _, path := range [...]string{f.Path, f.Else} {
			if at := fileAddress("", path); at != "" {
				ends = append(ends, at)
			}
		}
	}
	for i := len(z.Asked) - 1; i >= 0; i-- {
		for _, end := range ends {
			if strings.HasSuffix(z.Asked[i].URL, end) {
				return strings.TrimSpace(z.Asked[i].status())
			}
		}
	}
	return ""
}

// next starts requests, up to maxAsking at a time.
func (z *Downloads) next() {
	for _, a := range z.Asked {
		if z.running >= maxAsking {
			return
		}
		if a.State == askedWaiting {
			z.fetch(a, false)
		}
	}
}

// fetch requests a file. whole has it sent completely, although the server could send parts.
func (z *Downloads) fetch(a *Asked, whole bool) {
	a.State, a.done, a.total, a.item, a.all = askedRunning, 0, 0, -1, false
	z.running++
	a.stop = z.page.Host.Fetch(a.URL, a.token, whole, func(done, total int64) { a.done, a.total = done, total },
		func(f host.Fetched) { z.fetched(a, f) })
}

// fetched handles a server's answer: it adds the file, or tries the other address, and starts the
// next requests.
func (z *Downloads) fetched(a *Asked, f host.Fetched) {
	if a.State != askedRunning {
		return // it was cancelled
	}
	z.running--
	a.stop, a.At = nil, f.At
	if f.File == nil {
		a.State, a.Text = askedFailed, z.failure(a, f)
		if a.absent = f.Status == 404 || f.Status == 410; a.absent && a.Else != "" {
			z.Asked = append(z.Asked, &Asked{URL: a.Else, ID: a.ID, token: a.token})
		}
	} else {
		a.State, a.file = askedReceived, f.File
		a.Text = "received, " + rows.Size(f.File.Size())
		if host.IsRemote(f.File) {
			a.State, a.Text = askedPartial, "found, "+rows.Size(f.File.Size())+"; Crashpane reads only the parts that it needs"
		}
		z.page.Reading.Add([]host.File{f.File})
	}
	z.next()
	if z.running == 0 {
		n, came := len(z.Asked), 0
		for _, a := range z.Asked {
			if a.State == askedReceived || a.State == askedPartial {
				came++
			}
		}
		z.page.Host.Announce(fmt.Sprintf("%s of %s found", rows.Number(came), words.Count(n, "file")))
	}
}

// failure describes why a request failed.
func (z *Downloads) failure(a *Asked, f host.Fetched) string {
	switch {
	case f.Status == 0:
		return rows.Clean(f.Problem)
	case f.Status == 401, f.Status == 403:
		if a.token != "" {
			return fmt.Sprintf("refused (%d): the server does not accept the token", f.Status)
		}
		return fmt.Sprintf("refused (%d): the server needs a token", f.Status)
	case f.Status == 404, f.Status == 410:
		return fmt.Sprintf("not found (%d): the server has no file for id %s", f.Status, a.ID)
	case f.Status >= 500:
		return fmt.Sprintf("server error (%d); try again later", f.Status)
	}
	return fmt.Sprintf("the server answered %d", f.Status)
}

// forgetItems prepares for a new engine, which numbers its files from the start.
func (z *Downloads) forgetItems() {
	for _, a := range z.Asked {
		a.item = -1
	}
}

// stopAll has the files that are read in parts stay so, until the user wants all of one again.
func (z *Downloads) stopAll() {
	for _, a := range z.Asked {
		a.all = false
	}
}

// added notes the engine's answer to a file, and reports whether the file came from a server.
func (z *Downloads) added(f host.File, r *protocol.Added, problem string) bool {
	for _, a := range z.Asked {
		if a.file != f {
			continue
		}
		switch {
		case problem != "":
			a.State, a.Text, a.file = askedFailed, "not used: "+problem, nil
		case len(r.Items) > 0:
			a.item = r.Items[0].Item
			if a.all {
				z.page.Work.Indexing.begin(a.item)
			}
		}
		return true
	}
	return false
}

// brought reports whether a file is a server's answer.
func (z *Downloads) brought(f host.File) bool {
	return slices.ContainsFunc(z.Asked, func(a *Asked) bool { return a.file == f })
}

// remoteFailed handles a file whose further parts cannot be read. A file that has changed on the
// server is requested again, once.
func (z *Downloads) remoteFailed(r *protocol.RemoteFailed, problem string) {
	for _, a := range z.Asked {
		if a.file == nil || a.URL != r.URL || a.State != askedPartial {
			continue
		}
		was := a.file
		a.file = nil
		again := r.Changed && !a.again
		a.State, a.Text = askedFailed, "could not be read completely: "+rows.Clean(problem)
		if !again {
			z.page.Notices.Show("warning", a.URL+" could not be read completely: "+rows.Clean(problem)+". Some frames may lack names or lines. To ask for it again, open Modules, Missing symbols.")
		}
		// The parts read so far do not match those on the server now, so the engine starts again
		// without the file.
		z.page.Reading.remove(was)
		if again {
			a.again = true
			z.fetch(a, false)
		}
	}
}

// readAllOf fully indexes the file at an address, which is otherwise read in parts.
func (z *Downloads) readAllOf(url string) {
	for _, a := range z.Asked {
		if a.URL == url && a.State == askedPartial {
			z.readAll(a)
		}
	}
}

// readAll has a file fully indexed, as a dropped one is.
func (z *Downloads) readAll(a *Asked) {
	if a.all = true; a.item >= 0 {
		z.page.Work.Indexing.begin(a.item)
	}
}

// stop cancels the requests, and returns how many there were.
func (z *Downloads) stop() (n int) {
	for _, a := range z.Asked {
		if a.State == askedRunning || a.State == askedWaiting {
			if a.stop != nil {
				a.stop()
			}
			a.State, a.Text, a.stop = askedFailed, "cancelled", nil
			n++
		}
	}
	z.running = 0
	return n
}
