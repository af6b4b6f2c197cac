//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// walked is a dump with the stacks that the walker found, by thread id.
type walked struct {
	threads map[uint32]*ourThread
	files   *session.Files
	open    []*os.File
}

func (w *walked) close() {
	for _, f := range w.open {
		f.Close()
	}
}

// hasMemory reports whether the dump has the 4 bytes at an address.
func (w *walked) hasMemory(addr uint64) bool {
	_, ok := w.files.Session(0).Dump.Memory.Word(addr, 4)
	return ok
}

// walk reads the dump and the program's files with walker/session, as the page and the command do,
// and walks with the policy "best".
func walk(dump string, files []string) (*walked, error) {
	w := &walked{threads: map[uint32]*ourThread{}}
	w.files = session.NewFiles(session.Options{Demangle: demangle.Name, Workers: runtime.GOMAXPROCS(0),
		OpenBinary: readers.Open})
	if err := w.add(dump); err != nil {
		return w, err
	}
	if w.files.Session(0) == nil {
		return w, fmt.Errorf("%s: %s", dump, w.files.Items()[0].Message)
	}
	for _, m := range w.files.Session(0).Dump.Modules {
		files = append(files, debugFile(strings.ToLower(m.CodeID)))
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		if err := w.add(file); err != nil {
			return w, err
		}
	}
	r := w.files.Report(0)
	r.Demangle(demangle.Name)
	for i := range r.Threads {
		th := &r.Threads[i]
		t := &ourThread{stop: th.Stop.Kind, detail: th.Stop.Detail}
		for j := range th.Frames {
			f := &th.Frames[j]
			t.frames = append(t.frames, ourFrame{pc: f.PC, sp: f.Regs.SP(), name: f.Function.Shown(), trust: f.Trust})
		}
		w.threads[th.ID] = t
	}
	return w, nil
}

func (w *walked) add(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	w.open = append(w.open, f)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	src := input.New(path, f, st.Size())
	src.Parallel = true
	w.files.Add(src)
	return nil
}

// debugFile returns the path of the separate debug file of a build id,
// /usr/lib/debug/.build-id/xx/yyyy.debug, or "".
func debugFile(id string) string {
	if len(id) < 4 {
		return ""
	}
	path := filepath.Join("/usr/lib/debug/.build-id", id[:2], id[2:]+".debug")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
