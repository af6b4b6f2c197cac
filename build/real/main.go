//go:build linux

// Command real compares the walker with gdb on real programs. For each program of its table
// (programs.go) that the machine has, it starts the program and stops it. gdb then writes every
// thread's physical frames, and the Rust crate minidump-writer writes a dump. The walker walks the
// dump with the program's own files, and the command compares pc and sp of each frame with gdb's.
// It prints a table and exits with 1 if an installed program differs.
//
//	real [-run NAMES] [-keep] [-all]
//
// The dumps contain memory of this machine's processes. The command writes them to a temporary
// folder and removes it at the end, unless
// -keep is given.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sources is where the programs' sources are, from the repository's root.
const sources = "testdata/real"

// harness is one run of the command.
type harness struct {
	dir, symbols string // temporary folders
	all          bool
	peer         string
	writers      writers
	table        table
}

func main() {
	names := flag.String("run", "", "the `programs` to capture, with commas between; all if empty")
	keep := flag.Bool("keep", os.Getenv("KEEP") == "1", "keep the folder with dumps and gdb's frames (or KEEP=1)")
	all := flag.Bool("all", false, "print every thread's first difference and not only the first thread's")
	flag.Parse()
	failed, err := run(*names, *keep, *all)
	if err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
	}
	if err != nil || failed {
		os.Exit(1)
	}
}

func run(names string, keep, all bool) (failed bool, err error) {
	chosen, err := choose(names)
	if err != nil {
		return false, err
	}
	for _, tool := range []need{{"gdb", "apt-get install gdb"}, {"cargo", "https://rustup.rs"}} {
		if _, err := find(tool.what); err != nil {
			return false, fmt.Errorf("%s is not installed: %s", tool.what, tool.install)
		}
	}
	h := &harness{all: all, peer: findPeer()}
	if h.dir, err = os.MkdirTemp("", "crashpane-real-"); err != nil {
		return false, err
	}
	if keep {
		fmt.Println("kept:", h.dir)
	} else {
		defer os.RemoveAll(h.dir)
	}
	h.symbols = filepath.Join(h.dir, "symbols")
	if h.peer == "" {
		fmt.Println("skipped: minidump-stackwalk is not installed: cargo install minidump-stackwalk")
	}
	h.table.begin()
	for i := range chosen {
		h.try(chosen[i])
	}
	h.table.end()
	return h.table.failed > 0, nil
}

// choose returns the programs of a list of names, or all.
func choose(names string) ([]*program, error) {
	var out []*program
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for i := range programs {
			if name == "" || programs[i].name == name {
				out, found = append(out, &programs[i]), true
			}
		}
		if !found {
			return nil, fmt.Errorf("the table has no program %q", name)
		}
	}
	return out, nil
}

// try builds, captures and compares one program, and adds its rows to the table.
func (h *harness) try(p *program) {
	if n := p.absent(); n != nil {
		h.table.skip(p.name, fmt.Sprintf("%s is not installed: %s", n.what, n.install))
		return
	}
	writer, err := h.writers.get(p.bits32)
	if errors.Is(err, errNoTarget) {
		h.table.skip(p.name, err.Error())
		return
	}
	dir := filepath.Join(h.dir, p.name)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = h.capture(p, dir, writer)
	}
	if err != nil {
		h.table.fail(p.name, err)
	}
}

func (h *harness) capture(p *program, dir, writer string) error {
	for _, command := range p.build {
		words := fill(command, dir)
		if text, err := runTool(5*time.Minute, dir, nil, words[0], words[1:]...); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, lastLine(text))
		}
	}
	r, err := start(p, dir)
	if err != nil {
		return err
	}
	defer r.kill()
	if p.unlink != "" {
		file := fill(p.unlink, dir)[0]
		if err := errors.Join(os.Link(file, kept(dir)), os.Remove(file)); err != nil {
			return err
		}
	}
	// Children before their parent: some children end when the parent is stopped.
	for _, text := range append(append([]string{}, p.children...), "") {
		pid, row, folder := r.pid, p.name, dir
		if text != "" {
			if pid = descendant(r.pid, text); pid == 0 {
				h.table.skip(p.name+" "+text, "no such process was started")
				continue
			}
			row, folder = p.name+" "+text, filepath.Join(dir, strings.Trim(strings.ReplaceAll(text, "=", "-"), "-"))
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
		}
		c, err := captureProcess(pid, p, folder, writer)
		if err != nil {
			h.table.fail(row, err)
			continue
		}
		if err := h.compare(row, p, c, text == ""); err != nil {
			h.table.fail(row, err)
		}
	}
	return nil
}

func (h *harness) compare(row string, p *program, c *capture, main bool) error {
	w, err := walk(c.dump, c.files)
	defer w.close()
	if err != nil {
		return err
	}
	as := &process{at: func(pc uint64) code { return codeAt(c.maps, pc) }, word: 8, hasMemory: w.hasMemory, complete: p.complete}
	if p.bits32 {
		as.word = 4
	}
	if main {
		as.landmarks = p.landmarks
	}
	if p.noRules {
		c.gdb = contexts(c.gdb)
	}
	r := as.compare(w.threads, c.gdb)
	if h.peer != "" {
		if err := makeSymbols(w, h.symbols); err != nil {
			return err
		}
		// rust-minidump can read symbol files or the binaries. Count the better result of the two.
		for _, symbols := range [][]string{{"--symbols-path", h.symbols}, {"--use-local-debuginfo"}} {
			if stacks, err := peerStacks(h.peer, c.dump, symbols...); err == nil {
				r.peer = max(r.peer, as.comparePeer(stacks, w.threads, c.gdb))
			}
		}
	}
	h.table.add(row, r, h.all)
	return nil
}
