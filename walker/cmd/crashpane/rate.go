package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// rate shows on a terminal, in one line, how many files are done, how fast, and how long the others
// will take, if total is known. Elsewhere it shows nothing.
type rate struct {
	w     io.Writer // nil: no terminal
	began time.Time
	total int // 0: unknown

	mu   sync.Mutex
	n    int
	last time.Time
}

func newRate(stderr io.Writer) *rate { return &rate{w: terminal(stderr), began: time.Now()} }

// done counts a dump, and shows the count five times a second.
func (r *rate) done() {
	if r.w == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if time.Since(r.last) < 200*time.Millisecond {
		return
	}
	r.last = time.Now()
	each := time.Since(r.began).Seconds() / float64(r.n)
	text := fmt.Sprintf("%s, %.0f a second", counted(r.n, "file", "files"), 1/each)
	if r.total > 0 {
		text += fmt.Sprintf(", %.0f s left", each*float64(max(0, r.total-r.n)))
	}
	fmt.Fprint(r.w, "\r\x1b[K"+text)
}

// end replaces the line by the last count.
func (r *rate) end() {
	if r.w != nil {
		took := time.Since(r.began)
		fmt.Fprintf(r.w, "\r\x1b[K%s in %.1f s, %s a second\n", counted(r.n, "file", "files"), took.Seconds(), rows.Number(int(float64(r.n)/took.Seconds())))
	}
}
