package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/fetch"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
)

var fetchCommand = command{
	name:  "fetch",
	line:  "fetch --from SERVER [--to FOLDER] [--token-file FILE] DUMP [SYMBOLS…]",
	about: "download the missing symbol files of a dump from the servers that you name",
	help: `Walks the stacks of DUMP, asks the servers for the symbol files that the stacks lack, and walks again with the new files, until
nothing is missing or no server has it. The files go to FOLDER in the servers' layout: drop that folder on the page, or name
it as SYMBOLS of any command. fetch does not download a file again that is in FOLDER or among SYMBOLS.

A server gets addresses of files, which contain names and ids of modules, and nothing else from the dump. fetch asks only the servers of
--from, and no other command asks any. You may give --from several times; the first server that has a file is used. SERVER is an address.
fetch asks it in the layouts of Breakpad, Microsoft (SSQP) and debuginfod, or in only one of them if it begins with breakpad+,
microsoft+ or debuginfod+: microsoft+https://msdl.microsoft.com/download/symbols. For a two-tier store, begin with two-tier+.

A debug file may refer to a supplementary file that dwz made, with a build id of its own; fetch asks for that too. Servers of
these layouts have no .dwo and .dwp files, since these have no build id, and no dSYM bundles. For macOS use servers of Breakpad's layout.

The next run resumes an interrupted download. Compressed files stay compressed. A file whose id is not the module's is refused.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		f := fetchRun{}
		fs.Func("from", "`address` of a symbol server; may be given several times", func(text string) error {
			s, err := fetch.ParseServer(text)
			f.servers = append(f.servers, s)
			return err
		})
		fs.StringVar(&f.to, "to", "symbols", "`folder` for the files")
		fs.StringVar(&f.tokenFile, "token-file", "", "`file` with a token for the servers, sent as Authorization: Bearer")
		f.UseFlag(fs)
		return f.run
	},
}

// maxFetching is how many files are asked for at a time.
const maxFetching = 4

// fetchRun is one run of the command.
type fetchRun struct {
	servers       []fetch.Server
	to, tokenFile string
	disk.Choices
	asked  map[string]bool // paths on servers
	came   int
	bytes  int64
	absent []string // what no server has
	failed []error
	mu     sync.Mutex // guards came, bytes, absent and failed
}

func (c *fetchRun) run(args []string, stdout, stderr io.Writer) error {
	switch {
	case len(c.servers) == 0:
		return usageError("name a server with --from")
	case len(args) == 0:
		return usageError("name a dump")
	}
	client := fetch.New(c.servers, c.to)
	if c.tokenFile != "" {
		token, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return err
		}
		client.Token = strings.TrimSpace(string(token))
	}
	if st, err := os.Stat(c.to); err == nil && st.IsDir() {
		args = append(args, c.to)
	}
	files := disk.New(session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize, Workers: runtime.GOMAXPROCS(0)}, c.Choices, stderr)
	defer files.Close()
	if _, err := files.Read(args); err != nil {
		return err
	}
	client.Check = func(path, id string) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return files.Check(path, id)
	}
	show := newProgress(stderr)
	client.Progress = show.set
	c.asked = map[string]bool{}
	for {
		paths := c.round(client, files.Dump.Report(), show, stderr)
		if !files.AddNew(paths) {
			break
		}
	}
	show.clear()
	for _, line := range c.absent {
		fmt.Fprintln(stderr, line)
	}
	for _, err := range c.failed {
		fmt.Fprintln(stderr, err)
	}
	c.summary(stdout, args[0])
	if n := len(c.failed); n > 0 {
		return fmt.Errorf("%s; the next run goes on where this one ended", counted(n, "problem", "problems"))
	}
	return nil
}

// summary says what came, and what to do with it.
func (c *fetchRun) summary(stdout io.Writer, dump string) {
	if c.came == 0 {
		fmt.Fprint(stdout, "No file was fetched.\n")
		return
	}
	fmt.Fprintf(stdout, "Fetched %s, %s, into %s. Drop this folder on the page together with the dump, or run: crashpane walk %s %s\n", counted(c.came, "file", "files"), rows.Size(c.bytes),
		visible.Text(c.to), visible.Text(dump), visible.Text(c.to))
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return rows.Number(n) + " " + many
}

// round asks for the missing files of a report for which the servers were not asked before, and
// returns the paths of those that came.
func (c *fetchRun) round(client *fetch.Client, r *report.Report, show *progress, stderr io.Writer) (paths []string) {
	var wait sync.WaitGroup
	free := make(chan bool, maxFetching)
	for i := range r.Missing {
		w := &r.Missing[i]
		var files []report.StoreFile
		for _, f := range w.Stores {
			if !c.asked[f.Path] {
				c.asked[f.Path] = true
				files = append(files, f)
			}
		}
		if len(files) == 0 {
			continue
		}
		wait.Go(func() {
			free <- true
			defer func() { <-free }()
			found, problems := client.Fetch(context.Background(), files)
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, err := range problems {
				if !slices.Contains(c.failed, err) { // a server that cannot be reached is one problem
					c.failed = append(c.failed, err)
				}
			}
			if len(found) == 0 && len(problems) == 0 {
				c.absent = append(c.absent, fmt.Sprintf("%s: no server has it (id %s, %s)", w.DebugFile, w.DebugID, counted(w.Frames, "frame", "frames")))
			}
			for _, path := range found {
				c.came++
				if st, err := os.Stat(path); err == nil {
					c.bytes += st.Size()
					show.line(stderr, fmt.Sprintf("%s, %s", path, rows.Size(st.Size())))
				}
			}
			paths = append(paths, found...)
		})
	}
	wait.Wait()
	return paths
}

// progress shows on a terminal, in one line, how far the downloads are. Elsewhere it shows nothing.
type progress struct {
	w    io.Writer // nil: no terminal
	mu   sync.Mutex
	done map[string][2]int64 // by address: bytes so far, and of the whole
	last time.Time
}

// newProgress shows progress if stderr is a terminal's.
func newProgress(stderr io.Writer) *progress {
	return &progress{w: terminal(stderr), done: map[string][2]int64{}}
}

// terminal returns the terminal that stderr is, or nil.
func terminal(stderr io.Writer) io.Writer {
	if m, ok := stderr.(messages); ok {
		if f, ok := m.w.(*os.File); ok {
			if st, err := f.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
				return f
			}
		}
	}
	return nil
}

// set notes the progress of a download, and shows that of all five times a second.
func (p *progress) set(address string, done, total int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[address] = [2]int64{done, total}
	if time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last = time.Now()
	var have, all int64
	known := true
	for _, d := range p.done {
		have, all, known = have+d[0], all+d[1], known && d[1] >= 0
	}
	text := counted(len(p.done), "file", "files") + ", " + rows.Size(have)
	if known {
		text += " of " + rows.Size(all)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// line prints a line in place of the progress.
func (p *progress) line(stderr io.Writer, text string) {
	p.clear()
	fmt.Fprintln(stderr, text)
}

// clear removes the line.
func (p *progress) clear() {
	if p.w != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		io.WriteString(p.w, "\r\x1b[K")
	}
}
