package session_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// realCore opens the core that the kernel wrote of testdata/core's program.
func realCore(t *testing.T) *report.Report {
	t.Helper()
	fs := session.NewFiles(session.Options{OpenBinary: readers.Open})
	for _, name := range []string{"core.crash.zst", "crash", "crash.debug"} {
		data, err := os.ReadFile("../../testdata/core/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fs.Add(input.FromBytes(name, data))
	}
	r := fs.Report(0)
	if r == nil {
		t.Fatal("no dump")
	}
	return r
}

// TestRealCore: a core of the kernel, packed as systemd-coredump does, is shown as it was when it was read and
// believed: nothing that a core has not, no module that is missing. -update rewrites it.
func TestRealCore(t *testing.T) {
	r := realCore(t)
	var b bytes.Buffer
	b.WriteString(r.Crash.Sentence() + "\n\n")
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	const path = "../../testdata/core/crash.txt"
	compareGolden(t, path, b.Bytes())
}

// TestRealCoreIsGDB: each thread of the core has gdb's frames, in gdb's order. Without libc's file scanning may find more, and
// says that it did.
func TestRealCoreIsGDB(t *testing.T) {
	truth, err := os.ReadFile("../../testdata/core/gdb.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := realCore(t)
	var thread *report.Thread
	at := 0
	for _, line := range strings.Split(strings.TrimSpace(string(truth)), "\n") {
		words := strings.Fields(line)
		if words[0] == "Thread" {
			thread, at = nil, 0
			for i := range r.Threads {
				if strconv.Itoa(int(r.Threads[i].ID)) == words[2] {
					thread = &r.Threads[i]
				}
			}
			if thread == nil {
				t.Fatalf("no thread %s", words[2])
			}
			continue
		}
		pc, err := strconv.ParseUint(words[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		for at++; at < len(thread.Frames) && thread.Frames[at].PC != pc; at++ { // gdb prints no address of the first frame
			if f := &thread.Frames[at]; f.Trust != "scan" {
				t.Errorf("thread %d: frame %d, 0x%x (%s), is not among gdb's", thread.ID, at, f.PC, f.Trust)
			}
		}
		if at == len(thread.Frames) {
			t.Errorf("thread %d: no frame 0x%x %s", thread.ID, pc, words[2])
		}
	}
}
