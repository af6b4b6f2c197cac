package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
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
}

// known is a file and what groups need of the records of its dumps.
type known struct {
	size, modified int64
	records        []*batch.Record // none: it is not a dump
}

func (g *grouped) close() {
	if g.library != nil {
		g.library.Close()
	}
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
	var all []*batch.Record
	var unread []unreadFile
	none := 0
	err = s.walk(ctx, q.Folder, "", func(name string, d fs.DirEntry) error {
		st, err := d.Info()
		if err != nil { // it is gone since
			return nil
		}
		f := unreadFile{name, st.Size(), st.ModTime().Unix()}
		if k, ok := g.known[name]; ok && k.size == f.size && k.modified == f.modified {
			if all = append(all, k.records...); len(k.records) == 0 {
				none++
			}
			return nil
		}
		unread = append(unread, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	read, err := s.read(ctx, unread)
	if err != nil {
		return nil, err
	}
	for i, k := range read {
		g.known[unread[i].name] = k
		if all = append(all, k.records...); len(k.records) == 0 {
			none++
		}
	}
	unread = unread[len(read):]
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
			p.Int("files_not_read_yet", int64(len(unread)))
			p.Int("files_without_dump", int64(none))
			p.List("groups", count, func(i int) { batch.PutGroup(p, &groups[from+i]) })
		})
		err := p.Flush()
		return b.Bytes(), err
	})
	if err == nil && len(unread) > 0 {
		more := "ask again without a cursor to read on"
		if len(g.known) >= maxKnown {
			more = "more files than this server groups; crashpane batch --db groups any number"
		}
		a.notes = append(a.notes, fmt.Sprintf("%d files are not read yet: %s", len(unread), more))
	}
	return a, err
}

// unreadFile is a file whose dumps are not known yet.
type unreadFile struct {
	name           string
	size, modified int64
}

// read describes the first of the files, as far as the time goes.
func (s *server) read(ctx context.Context, files []unreadFile) ([]known, error) {
	files = files[:min(len(files), max(0, maxKnown-len(s.grouped.known)))]
	if len(files) == 0 {
		return nil, nil
	}
	opt := batch.Options{Session: session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize}, Frames: 1, Lists: signature.Own, Private: s.private, Context: ctx}
	readers.Add(&opt.Session)
	if len(s.symbols) > 0 {
		if s.grouped.library == nil {
			l := disk.NewLibrary(io.Discard)
			l.Roots = s.symbols
			for _, root := range s.symbols {
				if err := l.Add(root.Name()); err != nil {
					l.Close()
					return nil, err
				}
			}
			s.grouped.library = l
		}
		opt.Session.Store = s.grouped.library.Files.Store()
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
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out[:n], nil
}

// records makes the records of a file.
func (s *server) records(file *unreadFile, opt batch.Options) known {
	out := known{size: file.size, modified: file.modified}
	f, _, _, err := s.file(file.name)
	if err != nil {
		return out
	}
	defer f.Close()
	spools := &disk.Spools{}
	defer spools.Close()
	opt.Session.Limits = intake.Limits{Spool: spools.Create}
	if s.grouped.library != nil {
		s.grouped.library.Files.Budget().Begin()
	}
	for _, r := range batch.Describe(input.New(file.name, f, file.size), opt) {
		if r.Error == "" {
			out.records = append(out.records, &batch.Record{Name: r.Name, Time: r.Time, Version: r.Version, Signature: r.Signature, Reason: r.Reason, Process: r.Process})
		}
	}
	return out
}
