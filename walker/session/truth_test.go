package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
)

// gdbFrame is a physical frame as gdb (or the system itself) unwound it from the live process or
// the kernel's core file.
type gdbFrame struct {
	pc, sp uint64
	name   string
}

func (f *gdbFrame) UnmarshalJSON(b []byte) error {
	var raw struct {
		PC, SP any
		Name   *string
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	num := func(v any) uint64 {
		switch v := v.(type) {
		case string:
			n, _ := strconv.ParseUint(v, 0, 64)
			return n
		case float64:
			return uint64(v)
		}
		return 0
	}
	f.pc, f.sp = num(raw.PC), num(raw.SP)
	if raw.Name != nil {
		f.name = *raw.Name
	}
	return nil
}

// truth is a dump whose stacks somebody else than a minidump tool has unwound.
type truth struct {
	parityCase
	// frames of each thread, by id; those with id 0 are the crashed thread's.
	frames map[uint32][]gdbFrame
}

func truths(t *testing.T) []truth {
	t.Helper()
	corpus(t) // skips where there is none
	at := func(parts ...string) string {
		return filepath.Join(append([]string{corpusRoot, "other/made-here"}, parts...)...)
	}
	read := func(path string, into any) {
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var out []truth
	for _, cpu := range []string{"x86_64", "aarch64"} {
		var frames []gdbFrame
		read(at("qemu-gdb/t-"+cpu+".gdb-frames.json"), &frames)
		out = append(out, truth{parityCase{name: "t-" + cpu, dump: at("qemu-gdb/t-" + cpu + ".dmp"), symbols: []string{at("qemu-gdb/symbols")}},
			map[uint32][]gdbFrame{0: frames}})
	}
	if syms := unpacked(t, at("core2md/symbols.tar.xz")); syms != "" {
		byID := map[string][]gdbFrame{}
		read(at("core2md/mt-core2md.gdbframes.json"), &byID)
		threads := map[uint32][]gdbFrame{}
		for id, frames := range byID {
			n, _ := strconv.ParseUint(id, 10, 32)
			threads[uint32(n)] = frames
		}
		out = append(out, truth{parityCase{name: "mt-core2md", dump: at("core2md/mt-core2md.dmp"), symbols: []string{filepath.Join(syms, "syms")}}, threads})
	}
	if syms := unpacked(t, at("wine/symbols.tar.xz")); syms != "" {
		out = append(out, truth{parityCase{name: "crash64c-cv", dump: at("wine/crash64c-cv.dmp"), symbols: []string{filepath.Join(syms, "syms")}},
			map[uint32][]gdbFrame{0: windowsFrames(t, at("wine/crash64c.oracle.txt"))}})
	}
	return out
}

// windowsFrames are what the system's own RtlVirtualUnwind found for the crashed thread, a line "VU
// n pc=… sp=… name" each.
func windowsFrames(t *testing.T, path string) []gdbFrame {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []gdbFrame
	for line := range strings.Lines(string(b)) {
		var f gdbFrame
		var n int
		if c, _ := fmt.Sscanf(line, "VU %d pc=%x sp=%x %s", &n, &f.pc, &f.sp, &f.name); c == 4 {
			out = append(out, f)
		}
	}
	return out
}

// Every physical frame that gdb or the system itself finds, with its pc and sp. gdb stops at main
// or clone; what we find above is not compared.
func TestTruthFromOutside(t *testing.T) {
	for _, tr := range truths(t) {
		r := tr.walked(t, walker.Best)
		threads, equal := 0, 0
		for i := range r.Threads {
			th := &r.Threads[i]
			want, ok := tr.frames[th.ID]
			if !ok {
				if want, ok = tr.frames[0]; !ok || i != r.FirstThread {
					continue
				}
			}
			threads++
			good := true
			for j, w := range want {
				have := "nothing: " + th.Stop.Detail
				if j < len(th.Frames) {
					f := &th.Frames[j]
					if f.PC == w.pc && f.Regs.SP() == w.sp {
						continue
					}
					have = fmt.Sprintf("pc 0x%x sp 0x%x (%s, %s)", f.PC, f.Regs.SP(), f.Function.Raw, f.Trust)
				}
				good = false
				t.Errorf("%s thread %d frame %d: the truth is pc 0x%x sp 0x%x (%s), we have %s", tr.name, th.ID, j, w.pc, w.sp, w.name, have)
				break
			}
			if good {
				equal++
			}
		}
		t.Logf("%s: %d of %d threads equal to it", tr.name, equal, threads)
		if threads == 0 {
			t.Errorf("%s: no thread was compared", tr.name)
		}
	}
}
