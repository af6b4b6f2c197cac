package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/session"
)

var batchCommand = command{
	name:  "batch",
	line:  "batch [--db FILE] [--all-threads] [--frames N] [--private] [--unordered] [--workers N] [--signature-lists DIR] DIR|FILE|- [SYMBOLS…]",
	about: "describe many dumps, with one line of JSON each",
	help: `Prints one line of JSON for each crash dump in the folder DIR and below it, in FILE (a dump, or an archive of dumps), or at the
paths on standard input (-), one per line. A line has the dump's id, which is the same for equal dumps, its signature and address
signature, the reason, what happened as a sentence, the first frames of the crashed thread, their modules with versions
and ids, the missing symbols, and how long it took. The schema is in docs/COMMAND.md.

The address signature needs no symbols: dumps that share it crashed in the same code of the same build. The signature groups dumps
across builds. --signature-lists makes it with lists in the format of Mozilla's siggen.

--db keeps the records in a file, once for equal dumps. Dumps that are already in it are not read again, so a run resumes an
interrupted one, and tomorrow's run adds to it. crashpane groups prints its groups.

SYMBOLS are files, archives and folders as for crashpane walk. All dumps share them, and each is opened once. A dump in an
archive with symbols is walked with these symbols only.

For a file that is not a dump or cannot be read, batch prints a line with the error and goes on; it then exits with 1. Lines come in
the order of the files, unless you give --unordered. Texts that may be private (annotations) are left out, unless you give --private.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		b := batchRun{options: batch.Options{Lists: signature.Own}}
		fs.BoolVar(&b.options.AllThreads, "all-threads", false, "walk all threads and print their stacks")
		fs.IntVar(&b.options.Frames, "frames", 10, "`number` of frames to print per stack")
		fs.BoolVar(&b.options.Private, "private", false, "also print annotations, which may be private")
		fs.BoolVar(&b.unordered, "unordered", false, "print each line when it is ready")
		fs.IntVar(&b.workers, "workers", runtime.GOMAXPROCS(0), "`number` of dumps at a time")
		fs.StringVar(&b.db, "db", "", "keep the records in `file`, an SQLite database, and do not print them")
		fs.StringVar(&b.lists, "signature-lists", "", "make signatures with the lists in `folder`, in the format of Mozilla's siggen")
		return b.run
	},
}

// batchMemory is how many bytes the process may take before it collects garbage more often.
const batchMemory = 256 << 20

// batchRun is one run of batch.
type batchRun struct {
	options   batch.Options
	unordered bool
	workers   int
	lists, db string
}

func (b *batchRun) run(args []string, stdout, stderr io.Writer) error {
	switch {
	case len(args) == 0:
		return usageError("name a folder, a file or -")
	case b.workers < 1 || b.options.Frames < 0:
		return usageError("--workers is at least 1, --frames at least 0")
	}
	if b.lists != "" {
		lists, err := readSignatureLists(b.lists)
		if err != nil {
			return err
		}
		b.options.Lists = lists
	}
	debug.SetMemoryLimit(batchMemory)
	library := disk.NewLibrary(stderr)
	defer library.Close()
	for _, path := range args[1:] {
		if err := library.Add(path); err != nil {
			return err
		}
	}
	library.Summary()
	b.options.Session = session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize}
	readers.Add(&b.options.Session)
	if library.Files.HasSymbols() {
		b.options.Session.Store = library.Files.Store()
	}
	paths, err := dumpPaths(args[0])
	if err != nil {
		return err
	}
	var to sink = printer{bufio.NewWriterSize(stdout, 1<<16)}
	if b.db != "" {
		if to, err = openKeeper(b.db); err != nil {
			return err
		}
	}
	lines := &inOrder{to: to, ordered: !b.unordered, waiting: map[int]fileRecords{}, ready: make(chan bool, 4*b.workers+64)}
	watch := newRate(stderr)
	if watch.w != nil && args[0] != "-" {
		paths(func(string) error { watch.total++; return nil }) // what fails fails again below
	}
	var failed failures
	var workers sync.WaitGroup
	type job struct {
		n    int
		path string
	}
	jobs := make(chan job)
	for range b.workers {
		workers.Go(func() {
			for j := range jobs {
				d := b.describe(j.path, library)
				for i := range d.records {
					failed.add(d.records[i].Error)
				}
				lines.put(j.n, d)
				watch.done()
			}
		})
	}
	n, skipped := 0, 0
	err = paths(func(path string) error {
		if err := lines.failed(); err != nil {
			return err
		}
		if has, err := to.has(path); has || err != nil {
			skipped++
			return err
		}
		lines.ready <- true // so that what waits for its turn stays small
		jobs <- job{n, path}
		n++
		return nil
	})
	close(jobs)
	workers.Wait()
	watch.end()
	if err := errors.Join(err, lines.failed(), to.close()); err != nil {
		return err
	}
	if b.db != "" {
		fmt.Fprintf(stdout, "%s added to %s; %s in it before\n", counted(n, "file", "files"), visible.Text(b.db), counted(skipped, "was", "were"))
	}
	if failed.n > 0 {
		return fmt.Errorf("%s; the first: %s", counted(failed.n, "file is not a dump or cannot be read", "files are not dumps or cannot be read"), failed.first)
	}
	if n+skipped == 0 {
		return fmt.Errorf("%s: no files", args[0])
	}
	return nil
}

// fileRecords are a file and the records of its dumps.
type fileRecords struct {
	path           string
	size, modified int64
	records        []batch.Record
}

// describe makes the records of a file.
func (b *batchRun) describe(path string, library *disk.Library) fileRecords {
	f, src, err := disk.OpenFile(path)
	if err != nil {
		return fileRecords{path: path, records: []batch.Record{{Name: path, Error: err.Error()}}}
	}
	defer f.Close()
	spools := &disk.Spools{}
	defer spools.Close()
	opt := b.options
	opt.Session.Limits = intake.Limits{Spool: spools.Create}
	library.Files.Budget().Begin()
	return fileRecords{path, src.Size, src.Modified, batch.Describe(src, opt)}
}

// failures counts the files that are not dumps.
type failures struct {
	mu    sync.Mutex
	n     int
	first string
}

func (f *failures) add(why string) {
	if why == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		f.first = why
	}
}

// sink takes the records of files, one file after the other.
type sink interface {
	// has reports whether a file need not be read again.
	has(path string) (bool, error)
	put(d fileRecords) error
	close() error
}

// printer is the sink that prints a line for each record.
type printer struct{ w *bufio.Writer }

func (p printer) has(string) (bool, error) { return false, nil }

func (p printer) put(d fileRecords) error {
	for i := range d.records {
		if err := batch.WriteJSON(p.w, &d.records[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p printer) close() error { return p.w.Flush() }

// inOrder gives the records of files to a sink, in the files' order or as they come.
type inOrder struct {
	to      sink
	ordered bool
	ready   chan bool // has an element for each file that is begun and not written

	mu      sync.Mutex
	next    int
	waiting map[int]fileRecords
	err     error
}

func (l *inOrder) put(n int, d fileRecords) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[n] = d
	if !l.ordered {
		l.next = n
	}
	for {
		d, ok := l.waiting[l.next]
		if !ok {
			return
		}
		delete(l.waiting, l.next)
		l.next++
		<-l.ready
		if l.err == nil {
			l.err = l.to.put(d)
		}
	}
}

func (l *inOrder) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// dumpPaths returns a function that calls another with the path of each file: those below a folder in
// the order of their names, those that standard input has, or the one that is named.
func dumpPaths(from string) (func(do func(path string) error) error, error) {
	if from == "-" {
		return func(do func(string) error) error {
			lines := bufio.NewScanner(os.Stdin)
			for lines.Scan() {
				if path := lines.Text(); path != "" {
					if err := do(path); err != nil {
						return err
					}
				}
			}
			return lines.Err()
		}, nil
	}
	st, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return func(do func(string) error) error { return do(from) }, nil
	}
	root := disk.WalkRoot(from)
	return func(do func(string) error) error {
		return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && path == root:
				return err
			case err == nil && d.Type()&fs.ModeSymlink != 0: // to a file; one to a folder may lead round
				if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
					return nil
				}
			case err == nil && !d.Type().IsRegular():
				return nil
			}
			return do(path) // a folder that cannot be read is a line with its error, too
		})
	}, nil
}
