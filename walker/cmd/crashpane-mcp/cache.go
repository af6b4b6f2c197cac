package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// maxOpen is how many dumps are open at once, with their symbols and stacks: the page keeps as many. A call for a
// further one waits while all are in use.
const maxOpen = 8

// maxHeld is how much memory in bytes the dumps may take that are not in use. One alone may take more, as far as its
// budget goes.
const maxHeld = processMemory / 2

// dump is an open dump. Calls use it one after the other.
type dump struct {
	*disk.Set
	report *report.Report // with all threads walked; without private texts, unless these are asked for
	notes  []string       // messages from when it was opened

	from  inputs
	turn  chan bool // has an element while nobody uses it
	err   error     // why it is not open
	users int       // of the cache
	used  int64     // when it was used last, by a count
}

// inputs are what a dump was read from: its file, and the symbols that there were.
type inputs struct {
	size, modified int64 // bytes, nanoseconds since 1970
	symbols        uint64
}

func (s *server) inputs(st os.FileInfo) inputs {
	return inputs{st.Size(), st.ModTime().UnixNano(), s.symbolFiles.stamp(s.symbols)}
}

// held is how much memory in bytes the dump and what it uses of its symbols take, as its budget counts it.
func (d *dump) held() int64 {
	if d.Set == nil {
		return 0
	}
	b := d.Files.Budget()
	return b.Limit(input.Memory) - b.Left(input.Memory)
}

// cache has the dumps that are open.
type cache struct {
	open func(ctx context.Context, name string, into *dump) error

	mu    sync.Mutex
	dumps map[string]*dump
	count int64
	freed chan bool // closed and replaced when a dump is no longer in use
}

func newCache(open func(context.Context, string, *dump) error) *cache {
	return &cache{open: open, dumps: map[string]*dump{}, freed: make(chan bool)}
}

// with calls do with a dump that nobody else uses meanwhile, opened if need be. What is worked on when the context is
// done ends with its error, and the dump is closed: its stacks may be cut short.
func (c *cache) with(ctx context.Context, name string, current inputs, do func(*dump) error) error {
	for {
		d, created, err := c.take(ctx, name, current)
		if err != nil {
			return err
		}
		if created {
			d.err = c.open(ctx, name, d)
		} else {
			select {
			case <-d.turn:
			case <-ctx.Done():
				c.leave(name, d, false)
				return context.Cause(ctx)
			}
		}
		if err = d.err; err == nil {
			budget := d.Files.Budget()
			budget.Begin()
			stop := budget.Until(ctx)
			err = do(d)
			stop()
		}
		if ctx.Err() != nil {
			d.err, err = errGone, context.Cause(ctx)
		}
		d.turn <- true
		c.leave(name, d, d.err != nil)
		if !errors.Is(err, errGone) {
			return err
		}
	}
}

// errGone is the error of a dump whose call was cancelled: the next call opens it again.
var errGone = errors.New("the dump was closed")

// take returns the dump of a name, for leave. created: the caller opens it.
func (c *cache) take(ctx context.Context, name string, current inputs) (_ *dump, created bool, err error) {
	for {
		c.mu.Lock()
		c.count++
		d := c.dumps[name]
		if d != nil && d.from != current {
			c.forget(name, d) // another file has its name now, or there are other symbols
			d = nil
		}
		if d == nil && c.room() {
			d = &dump{from: current, turn: make(chan bool, 1)}
			c.dumps[name], created = d, true
		}
		if d != nil {
			d.users, d.used = d.users+1, c.count
			c.mu.Unlock()
			return d, created, nil
		}
		freed := c.freed
		c.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// room makes room for a further dump, and reports whether it could.
func (c *cache) room() bool { return len(c.dumps) < maxOpen || c.forgetOldest() }

// forgetOldest closes the dump that has not been used for the longest time, and reports whether there was one that is
// not in use.
func (c *cache) forgetOldest() bool {
	oldest := ""
	for name, d := range c.dumps {
		if d.users == 0 && (oldest == "" || d.used < c.dumps[oldest].used) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	c.forget(oldest, c.dumps[oldest])
	return true
}

// unused returns how many dumps are not in use, and how much memory they take.
func (c *cache) unused() (count int, held int64) {
	for _, d := range c.dumps {
		if d.users == 0 {
			count, held = count+1, held+d.held()
		}
	}
	return count, held
}

// forget takes a dump out of the cache, and closes it as soon as nobody uses it.
func (c *cache) forget(name string, d *dump) {
	if c.dumps[name] == d {
		delete(c.dumps, name)
		d.used = -1
		close(c.freed)
		c.freed = make(chan bool)
	}
	if d.users == 0 && d.Set != nil {
		d.Close()
		d.Set = nil
	}
}

// leave ends what take began. gone: the dump is of no use any more.
func (c *cache) leave(name string, d *dump, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.users--
	if gone || d.used < 0 {
		c.forget(name, d)
		return
	}
	for count, held := c.unused(); count > 1 && held > maxHeld; count, held = c.unused() {
		c.forgetOldest()
	}
	if d.users == 0 {
		close(c.freed)
		c.freed = make(chan bool)
	}
}

// close closes all dumps. No call is under way.
func (c *cache) close() {
	for name, d := range c.dumps {
		c.forget(name, d)
	}
}

// open opens a dump with the symbols that the folders have for it, and walks its stacks.
func (s *server) open(ctx context.Context, name string, into *dump) error {
	f, local, err := s.locate(name)
	if err != nil {
		return err
	}
	file, _, member, err := s.file(name)
	if err != nil {
		return err
	}
	file.Close()
	var said bytes.Buffer
	set := disk.New(session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize, Workers: runtime.GOMAXPROCS(0)}, disk.Choices{}, &said)
	set.Roots = append(disk.Roots{f.root}, s.symbols...)
	set.Member = member
	defer set.Files.Budget().Until(ctx)()
	local = strings.TrimSuffix(strings.TrimSuffix(local, filepath.FromSlash(member)), string(filepath.Separator))
	paths := []string{filepath.Join(f.root.Name(), local)}
	for _, root := range s.symbols {
		paths = append(paths, root.Name())
	}
	if err := set.AddAll(paths); err != nil {
		set.Close()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%q is not a dump that can be read: %s", name, s.inFolders(err.Error()))
	}
	into.report = set.Dump.Report()
	set.WarnProblems(into.report)
	if !s.private {
		into.report = into.report.Redacted()
	}
	if err := set.Files.Budget().Err(); err != nil {
		into.notes = append(into.notes, "something was left out: "+err.Error())
	}
	for line := range strings.Lines(said.String()) {
		into.notes = append(into.notes, s.inFolders(strings.TrimSuffix(line, "\n")))
	}
	into.Set = set
	return nil
}

// inFolders replaces the paths of the folders in a message: those of dumps by their names.
func (s *server) inFolders(message string) string {
	for _, f := range s.folders {
		message = strings.ReplaceAll(message, f.root.Name()+string(filepath.Separator), f.name+"/")
	}
	for _, root := range s.symbols {
		message = strings.ReplaceAll(message, root.Name()+string(filepath.Separator), "")
	}
	return message
}
