//go:build linux

package main

import (
	"fmt"
	"strconv"
)

// table prints a row for each process when its result is known, and counts the results.
type table struct {
	failed, skipped, passed int
	known, equal, peer      int
}

const rowFormat = "%-26s %7s %7s %7s %7s  %s\n"

func (t *table) begin() {
	fmt.Printf(rowFormat, "program", "threads", "known", "equal", "rust-md", "first difference")
}

// add prints the result of a process: the first difference, or with all the first of each thread.
func (t *table) add(name string, r *result, all bool) {
	peer := "-"
	if r.peer >= 0 {
		peer = strconv.Itoa(r.peer)
		t.peer += r.peer
	}
	t.known += r.known
	t.equal += r.equal
	note := ""
	if r.absent > 0 {
		note += fmt.Sprintf("; the dump lacks the memory of %d more", r.absent)
	}
	if r.moved > 0 {
		note += fmt.Sprintf("; %d threads ran on and are not compared", r.moved)
	}
	first := "none"
	switch {
	case len(r.diffs) > 0:
		first = r.diffs[0].String()
		if len(r.diffs) > 1 {
			note = fmt.Sprintf("; %d threads differ", len(r.diffs)) + note
		}
	case len(r.missing) > 0:
		first = "no stack has " + r.missing[0]
	case r.known == 0:
		first = "gdb has no frame with unwind rules"
	}
	if r.failed() {
		t.failed++
	} else {
		t.passed++
	}
	fmt.Printf(rowFormat, name, strconv.Itoa(r.threads), strconv.Itoa(r.known), strconv.Itoa(r.equal), peer, first+note)
	if all {
		for _, d := range r.diffs[min(1, len(r.diffs)):] {
			fmt.Printf(rowFormat, "", "", "", "", "", d)
		}
		for _, name := range r.missing {
			fmt.Printf(rowFormat, "", "", "", "", "", "no stack has "+name)
		}
	}
}

// skip prints why a program cannot run here.
func (t *table) skip(name, why string) {
	t.skipped++
	fmt.Printf("%-26s skipped: %s\n", name, why)
}

// fail prints why a program could not be captured.
func (t *table) fail(name string, err error) {
	t.failed++
	fmt.Printf("%-26s FAILED: %v\n", name, err)
}

func (t *table) end() {
	fmt.Printf(rowFormat, "total", "", strconv.Itoa(t.known), strconv.Itoa(t.equal), strconv.Itoa(t.peer), "")
	fmt.Printf("%d processes equal gdb, %d do not, %d were skipped\n", t.passed, t.failed, t.skipped)
}
