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

// Downloads requests symbol files from servers, and keeps a record of each request.
type Downloads struct {
	page     *zone.Shared
	index    func(item int)       // has a file fully indexed
	remove   func(file host.File) // has a new engine read all files but one
	Requests []*Request           // in the order of the requests
	Running  int
}

// Init sets what it does with files: index has one fully indexed, remove has a new engine read all files
// but one.
func (z *Downloads) Init(s *zone.Shared, index func(item int), remove func(file host.File)) {
	z.page, z.index, z.remove = s, index, remove
}

// Requested returns the id that a file was requested by; ok is false if it is no server's answer.
func (z *Downloads) Requested(f host.File) (id string, ok bool) {
	for _, a := range z.Requests {
		if a.file == f {
			return a.ID, true
		}
	}
	return "", false
}

// Partial returns the files that are read in parts, and that the user can have read completely
// instead. It bounds the number of buttons.
func (z *Downloads) Partial() (out []*Request) {
	for _, a := range z.Requests {
		if a.State == Partial && !a.all && len(out) < 20 {
			out = append(out, a)
		}
	}
	return out
}

// IsPartial reports whether an item is a file that is read in parts.
func (z *Downloads) IsPartial(item int) bool {
	for _, a := range z.Requests {
		if a.State == Partial && a.item == item {
			return true
		}
	}
	return false
}

// Indexed notes that a file is fully indexed.
func (z *Downloads) Indexed(item int) {
	for _, a := range z.Requests {
		if a.State == Partial && a.item == item {
			a.State, a.Text = Received, "received, "+rows.Size(a.file.Size())+", fully indexed"
		}
	}
}

// Text describes the running downloads, for the bar of work.
func (z *Downloads) Text() string {
	var done, total int64
	n, known := 0, true
	for _, a := range z.Requests {
		switch a.State {
		case Running:
			done += a.done
			total += a.total
			known = known && a.total > 0
			n++
		case Waiting:
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

// Word describes the latest request for a missing file, in its row.
func (z *Downloads) Word(w rows.MissingRow) string {
	if len(z.Requests) == 0 {
		return ""
	}
	var ends []string // of the addresses on any server
	for _, f := range w.Stores {
		for _, path := range [...]string{f.Path, f.Else} {
			if at := FileAddress("", path); at != "" {
				ends = append(ends, at)
			}
		}
	}
	for i := len(z.Requests) - 1; i >= 0; i-- {
		for _, end := range ends {
			if strings.HasSuffix(z.Requests[i].URL, end) {
				return strings.TrimSpace(z.Requests[i].status())
			}
		}
	}
	return ""
}

// Next starts requests, up to maxAsking at a time.
func (z *Downloads) Next() {
	for _, a := range z.Requests {
		if z.Running >= maxAsking {
			return
		}
		if a.State == Waiting {
			z.fetch(a, false)
		}
	}
}

// fetch requests a file. whole has it sent completely, although the server could send parts.
func (z *Downloads) fetch(a *Request, whole bool) {
	a.State, a.done, a.total, a.item, a.all = Running, 0, 0, -1, false
	z.Running++
	a.stop = z.page.Host.Fetch(a.URL, a.token, whole, func(done, total int64) { a.done, a.total = done, total },
		func(f host.Fetched) { z.fetched(a, f) })
}

// fetched handles a server's answer: it adds the file, or tries the other address, and starts the
// next requests.
func (z *Downloads) fetched(a *Request, f host.Fetched) {
	if a.State != Running {
		return // it was cancelled
	}
	z.Running--
	a.stop, a.At = nil, f.At
	if f.File == nil {
		a.State, a.Text = Failed, z.failure(a, f)
		if a.absent = f.Status == 404 || f.Status == 410; a.absent && a.Else != "" {
			z.Requests = append(z.Requests, &Request{URL: a.Else, ID: a.ID, token: a.token})
		}
	} else {
		a.State, a.file = Received, f.File
		a.Text = "received, " + rows.Size(f.File.Size())
		if host.IsRemote(f.File) {
			a.State, a.Text = Partial, "found, "+rows.Size(f.File.Size())+"; Crashpane reads only the parts that it needs"
		}
		z.page.AddFiles([]host.File{f.File})
	}
	z.Next()
	if z.Running == 0 {
		n, came := len(z.Requests), 0
		for _, a := range z.Requests {
			if a.State == Received || a.State == Partial {
				came++
			}
		}
		z.page.Host.Announce(fmt.Sprintf("%s of %s found", rows.Number(came), words.Count(n, "file")))
	}
}

// failure describes why a request failed.
func (z *Downloads) failure(a *Request, f host.Fetched) string {
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

// ForgetItems prepares for a new engine, which numbers its files from the start.
func (z *Downloads) ForgetItems() {
	for _, a := range z.Requests {
		a.item = -1
	}
}

// StopAll has the files that are read in parts stay so, until the user wants all of one again.
func (z *Downloads) StopAll() {
	for _, a := range z.Requests {
		a.all = false
	}
}

// Added notes the engine's answer to a file, and reports whether the file came from a server.
func (z *Downloads) Added(f host.File, r *protocol.Added, problem string) bool {
	for _, a := range z.Requests {
		if a.file != f {
			continue
		}
		switch {
		case problem != "":
			a.State, a.Text, a.file = Failed, "not used: "+problem, nil
		case len(r.Items) > 0:
			a.item = r.Items[0].Item
			if a.all {
				z.index(a.item)
			}
		}
		return true
	}
	return false
}

// RemoteFailed handles a file whose further parts cannot be read. A file that has changed on the
// server is requested again, once.
func (z *Downloads) RemoteFailed(r *protocol.RemoteFailed, problem string) {
	for _, a := range z.Requests {
		if a.file == nil || a.URL != r.URL || a.State != Partial {
			continue
		}
		was := a.file
		a.file = nil
		again := r.Changed && !a.again
		a.State, a.Text = Failed, "could not be read completely: "+rows.Clean(problem)
		if !again {
			z.page.Notices.Show("warning", a.URL+" could not be read completely: "+rows.Clean(problem)+". Some frames may lack names or lines. To ask for it again, open Modules, Missing symbols.")
		}
		// The parts read so far do not match those on the server now, so the engine starts again
		// without the file.
		z.remove(was)
		if again {
			a.again = true
			z.fetch(a, false)
		}
	}
}

// ReadAllOf fully indexes the file at an address, which is otherwise read in parts.
func (z *Downloads) ReadAllOf(url string) {
	for _, a := range z.Requests {
		if a.URL == url && a.State == Partial {
			z.readAll(a)
		}
	}
}

// readAll has a file fully indexed, as a dropped one is.
func (z *Downloads) readAll(a *Request) {
	if a.all = true; a.item >= 0 {
		z.index(a.item)
	}
}

// Stop cancels the requests, and returns how many there were.
func (z *Downloads) Stop() (n int) {
	for _, a := range z.Requests {
		if a.State == Running || a.State == Waiting {
			if a.stop != nil {
				a.stop()
			}
			a.State, a.Text, a.stop = Failed, "cancelled", nil
			n++
		}
	}
	z.Running = 0
	return n
}
