package app

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Downloads are the symbol files that servers were asked for.
type Downloads struct {
	page    *Page
	Asked   []*Asked // in the order in which they were asked
	running int
}

// inParts are the files that could be read as a whole.
func (z *Downloads) inParts() (out []*Asked) {
	for _, a := range z.Asked {
		if a.State == askedParts && z.page.Work.Exact.passOf(a.item) == nil && len(out) < 20 {
			out = append(out, a)
		}
	}
	return out
}

// readWhole takes that a file was read as a whole.
func (z *Downloads) readWhole(item int) {
	for _, a := range z.Asked {
		if a.State == askedParts && a.item == item {
			a.State, a.Text = askedHere, "came, "+view.Size(a.file.Size())+", and was read as a whole"
		}
	}
}

// text says what goes on.
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
	text := "Asking for " + files(n)
	if done > 0 {
		text += ", " + view.Size(done)
		if known {
			text += " of " + view.Size(total)
		}
	}
	return text
}

// askedWord says in the row of a missing file what a source said.
func (z *Downloads) askedWord(w view.MissingRow) string {
	for i := len(z.Asked) - 1; i >= 0; i-- {
		a := z.Asked[i]
		for _, f := range w.Stores {
			for _, path := range [...]string{f.Path, f.Else} {
				if at := fileAddress("", path); at != "" && strings.HasSuffix(a.URL, at) {
					return strings.TrimSpace(a.says())
				}
			}
		}
	}
	return ""
}

// next asks for the next files.
func (z *Downloads) next() {
	s := z
	for _, a := range s.Asked {
		if s.running >= maxAsking {
			return
		}
		if a.State == askedWaiting {
			z.fetch(a, false)
		}
	}
}

// fetch asks for a file; whole: at once, although the server sends parts.
func (z *Downloads) fetch(a *Asked, whole bool) {
	a.State, a.done, a.total = askedRunning, 0, 0
	z.running++
	a.stop = z.page.Host.Fetch(a.URL, a.token, whole, func(done, total int64) { a.done, a.total = done, total },
		func(f Fetched) { z.fetched(a, f) })
}

// fetched takes a server's answer.
func (z *Downloads) fetched(a *Asked, f Fetched) {
	s := z
	if a.State != askedRunning {
		return // it was stopped
	}
	s.running--
	a.stop, a.At = nil, f.At
	if f.File == nil {
		a.State, a.Text = askedNot, z.failure(a, f)
		if a.Else != "" && strings.HasPrefix(a.Text, "not there") {
			s.Asked = append(s.Asked, &Asked{URL: a.Else, ID: a.ID, token: a.token})
		}
	} else {
		a.State, a.file = askedHere, f.File
		a.Text = "came, " + view.Size(f.File.Size())
		if isRemote(f.File) {
			a.State, a.Text = askedParts, "there, "+view.Size(f.File.Size())+"; only the parts that stacks need are read"
		}
		z.page.Reading.Add([]File{f.File})
	}
	z.next()
	if s.running == 0 {
		n, came := len(s.Asked), 0
		for _, a := range s.Asked {
			if a.State == askedHere || a.State == askedParts {
				came++
			}
		}
		z.page.Host.Announce(fmt.Sprintf("%s of %s found", view.Number(came), files(n)))
	}
}

// failure says why a file did not come.
func (z *Downloads) failure(a *Asked, f Fetched) string {
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

// took takes what the engine made of a file, and reports whether it came from a server.
func (z *Downloads) took(f File, r *protocol.Added, problem string) bool {
	for _, a := range z.Asked {
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
func (z *Downloads) remoteFailed(r *protocol.RemoteFailed, problem string) {
	for _, a := range z.Asked {
		if a.file == nil || a.URL != r.URL || a.State != askedParts {
			continue
		}
		was := a.file
		a.file = nil
		again := r.Changed && !a.again
		a.State, a.Text = askedNot, "could not be read to the end: "+view.Clean(problem)
		if !again {
			z.page.Notices.say("warning", a.URL+" could not be read to the end: "+view.Clean(problem)+". Some frames may lack what it knows; ask for it again in the Wanted tab.")
		}
		// What was read of it does not fit what is there now: the engine begins without it.
		z.page.Reading.without(was)
		if again {
			a.again = true
			z.fetch(a, false)
		}
	}
}

// readAllOf is readAll for the file at an address.
func (z *Downloads) readAllOf(url string) {
	for _, a := range z.Asked {
		if a.URL == url && a.State == askedParts {
			z.readAll(a)
		}
	}
}

// readAll reads a file as a whole that is read in parts: its pieces, by the workers that do so with a dropped one.
func (z *Downloads) readAll(a *Asked) {
	x := &z.page.Work.Exact
	if z.page.Work.Exact.passOf(a.item) != nil || x.sources[a.item] != a.file {
		return
	}
	x.passes = append(x.passes, &pass{item: a.item, file: a.file})
	z.page.send(&protocol.PlanIndex{Item: a.item, Cores: z.page.Work.Exact.indexers(), Keep: z.page.Work.Kept.On}, nil)
}

// stop gives up what is asked for, and answers how many files that are.
func (z *Downloads) stop() (n int) {
	for _, a := range z.Asked {
		if a.State == askedRunning || a.State == askedWaiting {
			if a.stop != nil {
				a.stop()
			}
			a.State, a.Text, a.stop = askedNot, "cancelled", nil
			n++
		}
	}
	z.running = 0
	return n
}
