// Package input is how every reader here gets at bytes: random access to a named file, with errors that say where.
package input

import (
	"fmt"
	"io"
)

// Source is one file: a name to speak of it, random access to its bytes, and its size. Readers share one Source; reads go
// through a small block cache, because a slice of a File in the browser costs the same for 4 or 64 KiB.
type Source struct {
	// Name is the file's path as it was given (with the archive's name in front: "crash.zip/a.dmp"). Untrusted text.
	Name string
	// Size in bytes.
	Size int64

	r     io.ReaderAt
	cache blockCache
}

// New makes a Source of a reader.
func New(name string, r io.ReaderAt, size int64) *Source {
	return &Source{Name: name, Size: size, r: r}
}

// FormatError says what is wrong with a file and where.
type FormatError struct {
	File   string // the file's name
	Part   string // the stream, section or record ("ModuleList stream", "FUNC record")
	Offset int64  // file offset in bytes, or -1
	Line   int    // line of a text file, counted from 1, or 0
	Want   string // what was expected, in words ("room for 108 bytes")
	Have   string // what was there
	Err    error  // the cause, if there is one below
}

func (e *FormatError) Error() string {
	s := e.File
	if e.Part != "" {
		s += ": " + e.Part
	}
	if e.Line > 0 {
		s += fmt.Sprintf(" at line %d", e.Line)
	} else if e.Offset >= 0 {
		s += fmt.Sprintf(" at offset 0x%x", e.Offset)
	}
	switch {
	case e.Want != "" && e.Have != "":
		s += ": expected " + e.Want + ", found " + e.Have
	case e.Have != "":
		s += ": " + e.Have
	case e.Want != "":
		s += ": expected " + e.Want
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }

// NeedError is the error of a reader that has only parts of a file (an HTTP range source, say): which bytes it needs
// before the read can be answered. It is a value to hand on, not a failure.
type NeedError struct {
	Name   string
	Ranges []Range
}

// Range is a part of a file, in bytes.
type Range struct{ Offset, Size int64 }

func (e *NeedError) Error() string {
	return fmt.Sprintf("%s: %d parts of the file are needed first", e.Name, len(e.Ranges))
}
