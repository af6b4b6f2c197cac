package engine

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// A query that is cancelled at any moment leaves nothing behind: the next one has all that it would
// have had, also of the files that were being read. What a cancelled Add has brought is removed.
func TestCancel(t *testing.T) {
	names := []string{"tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym"}
	cancelAt, pauses := 0, 0
	var k *talk
	start := func() {
		pauses, cancelAt = 0, 0
		k = newTalkWith(t, Options{Pause: func() {
			if pauses++; pauses == cancelAt {
				k.e.Cancel()
			}
		}})
		for _, name := range names {
			data, err := os.ReadFile(sample + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, problem := k.add(name, data); problem != "" {
				t.Fatal(problem)
			}
		}
	}
	stack := func() string {
		k.ask(&protocol.Query{Selection: protocol.Selection{Thread: -1, Top: true}, Stack: &protocol.Span{Count: 100}, Files: &protocol.Span{Count: 100}}, nil)
		r, _ := last[*protocol.QueryResult](k)
		if r.Stack == nil {
			return ""
		}
		var b strings.Builder
		for _, f := range r.Stack.Rows {
			b.WriteString(f.Function + " " + f.Word + "\n")
		}
		for _, f := range r.Files.Rows {
			b.WriteString(f.Name + " " + f.Message + strings.Join(f.Warnings, "") + "\n")
		}
		return b.String()
	}
	start()
	added := pauses
	whole := stack()
	query := pauses - added
	if !strings.Contains(whole, "tile::blend_edges") || query < 2 {
		t.Fatalf("%d pauses, and the stack %s", query, whole)
	}
	for at := 1; at <= query; at += max(1, query/20) {
		start()
		cancelAt = pauses + at
		if cut := stack(); cut == whole && at < query {
			t.Errorf("nothing was cancelled at pause %d of %d", at, query)
		}
		k.ask(&protocol.LeaveOut{}, nil)
		if again := stack(); again != whole {
			t.Errorf("cancelled at pause %d: then the stack is %s, not %s", at, again, whole)
		}
	}

	start()
	cancelAt = pauses + 1
	data := append([]byte("MODULE Linux x86_64 000000000000000000000000000000010 other\n"), bytes.Repeat([]byte("FILE 0 a\n"), 1<<20)...)
	k.ask(&protocol.Add{Names: []string{"other.sym"}}, input.New("other.sym", bytes.NewReader(data), int64(len(data))))
	k.ask(&protocol.LeaveOut{Items: []int{1, 2, 3}, Last: true}, nil)
	if r, _ := last[*protocol.Closed](k); len(r.Dumps) != 1 {
		t.Errorf("left are %v", r.Dumps)
	}
	if left := stack(); strings.Contains(left, "other.sym") || strings.Contains(left, "libtilecodec.so.sym") || strings.Contains(left, "tile::blend_edges") {
		t.Errorf("of the symbols is left %s", left)
	}
	k.ask(&protocol.LeaveOut{Items: []int{0}}, nil)
	if r, _ := last[*protocol.Closed](k); len(r.Dumps) != 0 {
		t.Errorf("left are %v", r.Dumps)
	}
}
