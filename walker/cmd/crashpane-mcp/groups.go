package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/session"
)

// grouped has what is known about the dumps, so that each is read once.
type grouped struct {
	turn    chan bool        // has an element while no call reads dumps: the workers of one take all processors
	known   map[string]known // by the name of the file
	library *disk.Library    // the symbols, once they were needed
	symbols uint64           // the stamp of the symbols in it
}

// known is a file and what groups need of the records of its dumps.
type known struct {
	from    inputs
	records []*batch.Record // none: it is not a dump
	lacks   bool            // a stack lacks symbols
	failed  error           // why the file could not be opened: the next call tries again
	whole   bool            // the call was not cancelled while the records were made
}

func (g *grouped) close() {
	if g.library != nil {
		g.library.Close()
	}
	g.library = nil
}

// of returns what is known about a file as it is now.
func (g *grouped) of(file *groupedFile) (known, bool) {
	k, ok := g.known[file.name]
	return k, ok && k.from.size == file.from.size && k.from.modified == file.from.modified
}

// forgetOthers forgets files that are not there any more. files are all that are.
func (g *grouped) forgetOthers(files []groupedFile) {
	if len(g.known) <= len(files) {
		return
	}
	there := map[string]bool{}
	for i := range files {
		there[files[i].name] = true
	}
	maps.DeleteFunc(g.known, func(name string, _ known) bool { return !there[name] })
}

// toRead returns the files without known records. Then come those whose stacks lack symbols, if the symbols have
// changed.
func (g *grouped) toRead(files []groupedFile) []groupedFile {
	var out, outdated []groupedFile
	for _, f := range files {
		switch k, ok := g.of(&f); {
		case !ok || k.failed != nil:
			out = append(out, f)
		case k.lacks && k.from.symbols != f.from.symbols:
			outdated = append(outdated, f)
		}
	}
	return append(out, outdated...)
}

// groupsFor is how long a call reads dumps before it answers with what it has: clients give up after a minute.
const groupsFor = 20 * time.Second

// maxKnown is how many files are grouped. A record that is kept takes some 300 bytes.
const maxKnown = 200_000

// groupsPage is how many groups an answer has.
const groupsPage = 40

type groupsQuestion struct {
	Folder string `json:"folder,omitempty" jsonschema:"a folder's name, to group only the dumps in it and below it"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the answer before, to go on"`
}

func (s *server) groups(ctx context.Context, q *groupsQuestion) (*answer, error) {
	from, err := cursor(q.Cursor)
	if err != nil {
		return nil, err
	}
	g := &s.grouped
	select {
	case <-g.turn:
		defer func() { g.turn <- true }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var files []groupedFile
	symbols := s.symbolFiles.stamp(s.symbols)
	un := &unreadable{}
	err = s.walk(ctx, q.Folder, "", un, func(name string, d fs.DirEntry) error {
		if st, err := d.Info(); err == nil { // else it is gone since
			files = append(files, groupedFile{name, inputs{st.Size(), st.ModTime().UnixNano(), symbols}})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.Folder == "" {
		g.forgetOthers(files)
	}
	if err := s.read(ctx, g.toRead(files), symbols); err != nil {
		return nil, err
	}
	var all []*batch.Record
	none, unread, outdated := 0, 0, 0
	for i := range files {
		k, ok := g.of(&files[i])
		switch {
		case !ok:
			unread++
		case k.failed != nil:
			un.add(k.failed)
		case len(k.records) == 0:
			none++
		case k.lacks && k.from.symbols != symbols:
			outdated++
		}
		if ok {
			all = append(all, k.records...)
		}
	}
	groups := batch.Groups(all)
	names := map[string]bool{}
	for i := range groups {
		names[groups[i].Example] = true
	}
	a, err := window(from, len(groups), groupsPage, func(from, count int) ([]byte, error) {
		var b bytes.Buffer
		p := jsonwriter.New(&b, jsonwriter.Compact)
		p.Text = func(t string) string {
			if names[t] { // the other tools want the name as it is
				return t
			}
			return s.text(t)
		}
		p.PutObject(func() {
			p.Int("dumps", int64(len(all)))
			p.Int("files_not_read_yet", int64(unread))
			p.Int("files_without_dump", int64(none))
			p.List("groups", count, func(i int) { batch.PutGroup(p, &groups[from+i]) })
		})
		err := p.Flush()
		return b.Bytes(), err
	})
	if err != nil {
		return nil, err
	}
	if note := un.note(); note != "" {
		a.notes = append(a.notes, note)
	}
	if outdated > 0 {
		a.notes = append(a.notes, fmt.Sprintf("%d files were read before there were other symbols: ask again without a cursor to read them again", outdated))
	}
	if unread > 0 {
		more := "ask again without a cursor to read on"
		if len(g.known) >= maxKnown {
			more = "more files than this server groups; crashpane batch --db groups any number"
		}
		a.notes = append(a.notes, fmt.Sprintf("%d files are not read yet: %s", unread, more))
	}
	return a, nil
}

// groupedFile is a file that may have dumps.
type groupedFile struct {
	name string
	from inputs
}

// read makes the records of the first of the files, as far as the time goes, and of a call that is cancelled those that
// were made before.
func (s *server) read(ctx context.Context, files []groupedFile, symbols uint64) error {
	g := &s.grouped
	files = files[:min(len(files), max(0, maxKnown-len(g.known)))]
	if len(files) == 0 {
		return nil
	}
	opt := batch.Options{Session: session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize}, Frames: 1, Lists: signature.Own, Private: s.private, Context: ctx}
	readers.Add(&opt.Session)
	if err := s.openLibrary(symbols); err != nil {
		return err
	}
	if g.library != nil {
		opt.Session.Store = g.library.Files.Store()
	}
	out := make([]known, len(files))
	until := time.Now().Add(groupsFor)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				out[i] = s.records(&files[i], opt)
			}
		})
	}
	n := 0
	for ; n < len(files) && ctx.Err() == nil && time.Now().Before(until); n++ {
		next <- n
	}
	close(next)
	workers.Wait()
	for i := range n {
		if out[i].whole {
			g.known[files[i].name] = out[i]
		}
	}
	return context.Cause(ctx)
}

// openLibrary opens the symbols, unless they are open and have not changed.
func (s *server) openLibrary(symbols uint64) error {
	g := &s.grouped
	if len(s.symbols) == 0 || g.library != nil && g.symbols == symbols {
		return nil
	}
	g.close()
	l := disk.NewLibrary(io.Discard)
	l.Roots = s.symbols
	for _, root := range s.symbols {
		if err := l.Add(root.Name()); err != nil {
			l.Close()
			return err
		}
	}
	g.library, g.symbols = l, symbols
	return nil
}

// records makes the records of a file.
func (s *server) records(file *groupedFile, opt batch.Options) (out known) {
	out.from = file.from
	f, _, _, err := s.file(file.name)
	if err != nil {
		out.failed, out.whole = err, true
		return out
	}
	defer f.Close()
	spools := &disk.Spools{}
	defer spools.Close()
	opt.Session.Limits = intake.Limits{Spool: spools.Create}
	if s.grouped.library != nil {
		s.grouped.library.Files.Budget().Begin()
	}
	for _, r := range batch.Describe(input.New(file.name, f, file.from.size), opt) {
		if r.Error == "" {
			out.lacks = out.lacks || len(r.Missing) > 0
			out.records = append(out.records, &batch.Record{Name: r.Name, Time: r.Time, Version: r.Version, Signature: r.Signature, Reason: r.Reason, Process: r.Process})
		}
	}
	out.whole = opt.Context.Err() == nil
	return out
}
