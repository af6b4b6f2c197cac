package engine

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// grown returns the sample's symbol file with megabytes of functions at higher addresses. moved, if
// not "", is a function to move far from its sorted position: a search does not find it there, and
// what it reads does not show that.
func grown(t testing.TB, megabytes int, moved string) []byte {
	t.Helper()
	f, err := os.Open(sample + "tilecruncher.sym.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sym, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var head, block, tail bytes.Buffer
	into := &head
	for line := range strings.Lines(string(sym)) {
		switch {
		case strings.HasPrefix(line, "FUNC") && moved != "" && strings.Contains(line, moved):
			into = &block
		case strings.HasPrefix(line, "FUNC"):
			into = &head
		case strings.HasPrefix(line, "STACK"):
			into = &tail
		}
		into.WriteString(line)
	}
	if moved != "" && block.Len() == 0 {
		t.Fatalf("the sample has no function %q", moved)
	}
	out := head
	at := 0x1000000
	for i := 0; out.Len() < megabytes<<20; i++ {
		if i == 20_011 {
			out.Write(block.Bytes())
		}
		fmt.Fprintf(&out, "FUNC %x 40 0 filler_%d(int)\n%x 20 %d 0\n%x 20 %d 0\n", at, i, at, i%1000, at+0x20, i%1000+1)
		at += 0x40
	}
	// Linkers leave STACK CFI records in the order of object files.
	records := strings.Split(tail.String(), "STACK CFI INIT ")[1:]
	slices.SortFunc(records, func(a, b string) int { return cmp.Compare(initAddress(a), initAddress(b)) })
	out.WriteString("STACK CFI INIT " + strings.Join(records, "STACK CFI INIT "))
	return out.Bytes()
}

func initAddress(record string) (n uint64) {
	fmt.Sscanf(record, "%x", &n)
	return n
}

// passes has an engine's passes done when a test says so, as if they were done alongside other
// requests.
type passes struct {
	waiting []func()
	kept    map[string][]byte
}

func (p *passes) Load(key string) []byte         { return p.kept[key] }
func (p *passes) Store(key string, index []byte) { p.kept[key] = index }

// run does what waits.
func (p *passes) run() {
	for len(p.waiting) > 0 {
		do := p.waiting[0]
		p.waiting = p.waiting[1:]
		do()
	}
}

// exactTalk is an engine with the sample and a large symbol file.
func exactTalk(t *testing.T, name string, sym []byte) (*talk, *passes) {
	x := &passes{kept: map[string][]byte{}}
	k := newTalkWith(t, Options{Session: session.Options{Indexes: x, Beside: func(work, then func()) { x.waiting = append(x.waiting, work, then) }}})
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	if r, problem := k.add(name, sym); problem != "" || !r.Items[0].Usable {
		t.Fatalf("%+v", r)
	}
	return k, x
}

// begin asks for the full index of a file, which has no answer yet.
func (k *talk) begin(item int, keep bool) {
	k.t.Helper()
	n := len(k.answers)
	k.id++
	k.e.Handle(protocol.Call{ID: k.id, Request: &protocol.IndexFile{Item: item, Keep: keep}})
	if len(k.answers) != n {
		k.t.Fatalf("answered before the pass: %+v", k.answers[n:])
	}
}

// indexed expects that the last answer says how a pass has ended.
func (k *talk) indexed(item int) (problem string) {
	k.t.Helper()
	r, problem := last[*protocol.FileIndexed](k)
	if r.Item != item {
		k.t.Errorf("item %d is indexed", r.Item)
	}
	return problem
}

const largeItem = 3 + 1 // after the dump, two files of symbols, and the archive that one of them came in

// settle does all background work, and returns the last reply without a request.
func (k *talk) settle() (last protocol.Reply) {
	n := len(k.answers)
	for k.e.Idle() {
	}
	for _, r := range k.answers[n:] {
		last = r.Reply
	}
	return last
}

// walked is settle for a last reply of Walked. It returns how many frames have changed.
func (k *talk) walked() int {
	k.t.Helper()
	w, ok := k.settle().(*protocol.Walked)
	if !ok {
		k.t.Error("the stacks are not said to be there")
		return 0
	}
	return w.Changed
}

func moduleWords(m *rows.ModulePage) string {
	for _, r := range m.Rows {
		if r.Name == "tilecruncher" {
			return r.Word
		}
	}
	return ""
}

func functionsOf(s *rows.StackPage) (names []string) {
	for _, r := range s.Rows {
		if r.Kind != rows.RowStop { // it may name a line, and lines are counted by the pass alone
			names = append(names, r.Function)
		}
	}
	return names
}

func TestSearchedFirstExactLater(t *testing.T) {
	for _, tc := range []struct {
		name, moved string
		corrected   bool
		order       func(sym []byte) []byte
	}{
		{"sorted", "", false, bytes.Clone},
		{"sorted, PUBLIC records at the end of the functions", "", false, publicsLast},
		{"a function out of its place", "Pipeline::start()::{lambda()#5}>::_M_invoke", true, bytes.Clone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sym := tc.order(grown(t, 12, tc.moved))
			k, x := exactTalk(t, "tilecruncher.sym", sym)
			first := k.screen(-1)
			if first.Pending == 0 || len(first.Unindexed) != 0 {
				t.Errorf("%d threads pending; %v is to be indexed before they are walked", first.Pending, first.Unindexed)
			}
			if n := k.walked(); n != 0 {
				t.Errorf("when the stacks are there, %d frames have changed", n)
			}
			all := k.screen(-1)
			if all.Pending != 0 || len(all.Unindexed) != 1 || all.Unindexed[0] != largeItem || moduleWords(all.Modules) != "indexed on demand" {
				t.Fatalf("pending %d, unread %v, module %q", all.Pending, all.Unindexed, moduleWords(all.Modules))
			}
			k.begin(largeItem, true)
			x.run()
			if problem := k.indexed(largeItem); problem != "" || len(x.kept) != 1 {
				t.Fatalf("%s; %d indexes are kept", problem, len(x.kept))
			}
			after := k.screen(-1)
			if n := k.walked(); (n > 0) != tc.corrected {
				t.Errorf("%d frames changed", n)
			}
			after = k.screen(-1)
			if moduleWords(after.Modules) != "loaded" || len(after.Unindexed) != 0 || after.Revision == all.Revision {
				t.Errorf("after the pass: module %q, unread %v", moduleWords(after.Modules), after.Unindexed)
			}

			// The same files, fully indexed from the start.
			small := newTalk(t)
			small.addSample("tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz")
			n := len(first.Threads.Rows)
			for thread := range n {
				want := functionsOf(small.screen(thread).Stack)
				got := functionsOf(k.screen(thread).Stack)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("thread %d:\n%q\nwant\n%q", thread, got, want)
				}
			}

			// Another visit uses the stored index, and one that is damaged is made again.
			for key := range x.kept {
				for _, damaged := range []bool{false, true} {
					again, y := exactTalk(t, "tilecruncher.sym", sym)
					again.screen(-1)
					again.settle()
					again.screen(-1)
					y.kept[key] = bytes.Clone(x.kept[key])
					if damaged {
						y.kept[key][20] ^= 1
					}
					was := bytes.Clone(y.kept[key])
					again.begin(largeItem, true)
					y.run()
					if problem := again.indexed(largeItem); problem != "" || bytes.Equal(y.kept[key], was) == damaged {
						t.Errorf("a kept index, damaged %v: %s", damaged, problem)
					}
					again.settle()
					if got := again.screen(-1); moduleWords(got.Modules) != "loaded" ||
						strings.Join(functionsOf(got.Stack), "\n") != strings.Join(functionsOf(after.Stack), "\n") {
						t.Error("with a kept index the stack is another one")
					}
				}
			}
		})
	}
}

// publicsLast moves a file's PUBLIC records behind its functions, where Breakpad's dump_syms writes them.
func publicsLast(sym []byte) []byte {
	var publics, rest bytes.Buffer
	for line := range bytes.Lines(sym) {
		if bytes.HasPrefix(line, []byte("PUBLIC")) {
			publics.Write(line)
		} else {
			rest.Write(line)
		}
	}
	functions, rules, _ := bytes.Cut(rest.Bytes(), []byte("STACK"))
	return slices.Concat(functions, publics.Bytes(), []byte("STACK"), rules)
}

// unsorted puts the second half of a file's STACK CFI records before the first.
func unsorted(sym []byte) []byte {
	mark := []byte("STACK CFI INIT")
	from := bytes.Index(sym, mark)
	middle := from + len(sym[from:])/2
	middle += bytes.Index(sym[middle:], mark)
	return bytes.Join([][]byte{sym[:from], sym[middle:], sym[from:middle]}, nil)
}

// TestThreadsWait: while a file that is not sorted is being indexed, threads that the user has not
// selected wait for the index. A selected thread does not wait, and if indexing ends without an index, none does.
func TestThreadsWait(t *testing.T) {
	for _, end := range []string{"an index", "stopped", "broken"} {
		sym := unsorted(grown(t, 12, ""))
		k, x := exactTalk(t, "tilecruncher.sym", sym)
		first := k.screen(-1)
		if len(first.Unindexed) != 1 || first.Unindexed[0] != largeItem {
			t.Errorf("to be indexed at once: %v", first.Unindexed)
		}
		k.begin(largeItem, false)
		for range 3 {
			k.e.Idle()
		}
		if r := k.screen(-1); r.Pending != first.Pending {
			t.Fatalf("%d of %d threads did not wait", first.Pending-r.Pending, first.Pending)
		}
		other := (first.Stack.Thread + 1) % len(first.Threads.Rows)
		if r := k.screen(other); len(functionsOf(r.Stack)) == 0 || r.Pending != first.Pending-1 {
			t.Errorf("the chosen thread has %d frames, %d threads are left", len(functionsOf(r.Stack)), r.Pending)
		}
		switch end {
		case "an index":
			x.run()
			if problem := k.indexed(largeItem); problem != "" {
				t.Error(problem)
			}
		case "stopped":
			k.ask(&protocol.StopIndexing{}, nil)
			n := len(k.answers)
			x.run()
			if len(k.answers) != n {
				t.Errorf("what was stopped is told of: %+v", k.answers[n:])
			}
		case "broken":
			k.begin(0, false) // the dump
			x.run()
			if problem := k.indexed(0); !strings.Contains(problem, "there is no symbol file number 0") {
				t.Error(problem)
			}
		}
		k.screen(-1)
		k.walked()
		if r := k.screen(-1); r.Pending != 0 {
			t.Errorf("%s: %d threads still wait", end, r.Pending)
		}
	}
}

// TestIndexedAgain: a file whose pass was stopped is indexed when that is asked for again, also
// while the first pass has not ended yet.
func TestIndexedAgain(t *testing.T) {
	k, x := exactTalk(t, "tilecruncher.sym", grown(t, 6, ""))
	k.screen(-1)
	k.begin(largeItem, false)
	k.ask(&protocol.StopIndexing{}, nil)
	k.begin(largeItem, false)
	x.run()
	if problem := k.indexed(largeItem); problem != "" {
		t.Error(problem)
	}
	k.begin(99, false)
	x.run()
	if problem := k.indexed(99); problem == "" {
		t.Error("a file that is not there was indexed")
	}
}

// TestUnpackedHere: a file that is unpacked in the engine's memory is indexed too.
func TestUnpackedHere(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(grown(t, 60, "Pipeline::start()::{lambda()#5}>::_M_invoke"))
	z.Close()
	k, x := exactTalk(t, "tilecruncher.sym.gz", packed.Bytes())
	k.screen(-1)
	k.settle()
	shown := k.screen(-1)
	if len(shown.Unindexed) != 1 || moduleWords(shown.Modules) != "indexed on demand" {
		t.Fatalf("to be read as a whole: %v, %s", shown.Unindexed, moduleWords(shown.Modules))
	}
	k.begin(shown.Unindexed[0], false)
	x.run()
	if problem := k.indexed(shown.Unindexed[0]); problem != "" {
		t.Fatal(problem)
	}
	k.screen(-1)
	if k.walked() == 0 {
		t.Error("what was corrected is not counted")
	}
	if r := k.screen(-1); moduleWords(r.Modules) != "loaded" || len(r.Unindexed) != 0 {
		t.Errorf("afterwards: %s, %v", moduleWords(r.Modules), r.Unindexed)
	}
}
