//go:build linux

package main

import (
	"fmt"
	"strconv"
)

// table prints a row a process as soon as it is known.
type table struct {
	failed, skipped, passed int
	known, equal, peer      int
}

const rowFormat = "%-26s %7s %7s %7s %7s  %s\n"

func (t *table) begin() {
	fmt.Printf(rowFormat, "program", "threads", "known", "equal", "rust-md", "first difference")
}

// add prints what was found of a process. all: every thread's first difference.
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
	said := "none"
	switch {
	case len(r.diffs) > 0:
		said = r.diffs[0].String()
		if len(r.diffs) > 1 {
			note = fmt.Sprintf("; %d threads differ", len(r.diffs)) + note
		}
	case len(r.missing) > 0:
		said = "no stack has " + r.missing[0]
	case r.known == 0:
		said = "gdb knows no frame"
	}
	if r.failed() {
		t.failed++
	} else {
		t.passed++
	}
	fmt.Printf(rowFormat, name, strconv.Itoa(r.threads), strconv.Itoa(r.known), strconv.Itoa(r.equal), peer, said+note)
	if all {
		for _, d := range r.diffs[min(1, len(r.diffs)):] {
			fmt.Printf(rowFormat, "", "", "", "", "", d)
		}
		for _, name := range r.missing {
			fmt.Printf(rowFormat, "", "", "", "", "", "no stack has "+name)
		}
	}
}

// skip prints that a program is not here.
func (t *table) skip(name, why string) {
	t.skipped++
	fmt.Printf("%-26s skipped: %s\n", name, why)
}

// fail prints that a program could not be captured.
func (t *table) fail(name string, err error) {
	t.failed++
	fmt.Printf("%-26s FAILED: %v\n", name, err)
}

func (t *table) end() {
	fmt.Printf(rowFormat, "total", "", strconv.Itoa(t.known), strconv.Itoa(t.equal), strconv.Itoa(t.peer), "")
	fmt.Printf("%d processes equal gdb, %d do not, %d were skipped\n", t.passed, t.failed, t.skipped)
}
