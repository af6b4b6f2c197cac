// Package microdump reads Breakpad's microdumps: a crash as lines of text in a log, as Android's
// WebView writes it. A log may have several. Read makes a core.Dump with one thread of each, so
// that the rest of the program treats them like minidumps.
//
//	F/google-breakpad(16162): -----BEGIN BREAKPAD MICRODUMP-----
//	F/google-breakpad(16162): V WebView:48.0.2564.106              product and version
//	F/google-breakpad(16162): O A arm 06 armv8l lge/p1_tmo_us/…    system, processor, CPUs, machine, fingerprint
//	F/google-breakpad(16162): P webview                            process type
//	F/google-breakpad(16162): R 0000000B SIGSEGV 00000010          signal and address
//	F/google-breakpad(16162): G OpenGL ES 3.1|Qualcomm|Adreno      graphics driver
//	F/google-breakpad(16162): H 12C00000 FFF73000 00D9 …           gaps in the address space
//	F/google-breakpad(16162): S 0 C3A397E8 C3A39000 00002000       stack: pointer, start, size
//	F/google-breakpad(16162): S C3A39000 60000000C1AF24E5…         its bytes
//	F/google-breakpad(16162): C 06000040…                          the context record's bytes
//	F/google-breakpad(16162): M AAB37000 00000000 00005000 CDDB… x modules: address, offset, size, id, file name
//	F/google-breakpad(16162): -----END BREAKPAD MICRODUMP-----
//
// All numbers are hexadecimal. Start at Read in this file; records.go has the table of records.
// Sources of the format: Breakpad's microdump_writer.cc, and its reader, microdump.cc.
package microdump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

const (
	tag   = "google-breakpad"
	begin = "-----BEGIN BREAKPAD MICRODUMP-----"
	end   = "-----END BREAKPAD MICRODUMP-----"

	// maxLine is the length in bytes to which lines are read. The writer's limit is 2048 plus a
	// prefix.
	maxLine = 64 << 10
	// Limits of a log: a short line can become a larger value in memory.
	maxDumps   = 256
	maxModules = 10_000
	maxRegions = 10_000
)

// Read reads every microdump of a log, in the order of their first lines. Errors in a microdump are
// in its Diags, with the line number in the log. Read returns an error for a log without microdumps
// (*input.FormatError) and if a read fails.
//
// If there are several, they are named after the log with a number: "log.txt #1".
func Read(src *input.Source) ([]*core.Dump, error) {
	r := reader{src: src, open: map[string]*dump{}}
	buf := bufio.NewReaderSize(io.NewSectionReader(src, 0, src.Size), maxLine)
	for number := 1; ; number++ {
		line, size, err := readLine(buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, src.Wrap("microdump", r.read, err)
		}
		if size == 0 && err != nil {
			break
		}
		r.read += size
		r.line(line, number, size)
	}
	if len(r.all) == 0 {
		return nil, &input.FormatError{File: src.Name, Part: "microdump", Offset: 0, Want: "a line with " + begin, Have: "none"}
	}
	out := make([]*core.Dump, len(r.all))
	for i, d := range r.all {
		name := src.Name
		if len(r.all) > 1 {
			name = fmt.Sprintf("%s #%d", src.Name, i+1)
		}
		out[i] = d.finish(name)
	}
	return out, nil
}

// readLine returns the next line without its end, cut to maxLine, and its full size in bytes. The
// line is a slice of the buffer.
//
// A line that is longer than the buffer is read to its end, so that the next one begins at its
// start.
func readLine(buf *bufio.Reader) (line []byte, size int64, err error) {
	line, err = buf.ReadSlice('\n')
	size = int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line) // the next read overwrites it
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			more, err = buf.ReadSlice('\n')
			size += int64(len(more))
		}
	}
	return bytes.TrimRight(line, "\r\n"), size, err
}

// reader is the state of reading a log.
type reader struct {
	src  *input.Source
	read int64 // bytes
	all  []*dump
	// open has the unfinished microdumps by writer: lines of two processes may alternate.
	open             map[string]*dump
	modules, regions int
}

// line processes one line of the log.
func (r *reader) line(line []byte, number int, size int64) {
	record, writer, tagged := split(line)
	if !tagged && !bytes.Contains(line, []byte("-----")) && len(r.open) == 0 {
		return
	}
	d := r.open[writer]
	if d != nil {
		d.micro.Size += size
		d.micro.LastLine = number
	}
	switch {
	case strings.HasPrefix(record, begin):
		if d != nil {
			d.note(core.Warning, "", number, "the line "+end, "another microdump's beginning")
			delete(r.open, writer)
		}
		if len(r.all) == maxDumps {
			r.all[maxDumps-1].note(core.Warning, "", number, fmt.Sprintf("at most %d microdumps in a log", maxDumps), "more; the rest is ignored")
			return
		}
		d = newDump(r, number)
		d.micro.Size = size
		r.open[writer] = d
		r.all = append(r.all, d)
	case d == nil:
	case strings.HasPrefix(record, end):
		d.micro.Complete = true
		delete(r.open, writer)
	default:
		d.record(record, number, tagged)
	}
}

// split splits a line into the log's prefix and the record that the microdump's writer wrote.
// writer identifies the process, if the prefix does. Logs without the tag (logcat -v raw or long, a
// terminal) have only the record in a line. logcat's prefixes are
//
//	F/google-breakpad( 1234):                                  with or without a time before it
//	02-23 15:49:14.700  1740  1739 F google-breakpad:          with the process and thread ids
//
// Example: the second line has the record after ": ", and the writer is "tag 1740 1739".
func split(line []byte) (record, writer string, tagged bool) {
	at := bytes.Index(line, []byte(tag))
	if at < 0 {
		return string(line), "", false
	}
	head, rest := line[:at], line[at+len(tag):]
	colon := bytes.Index(rest, []byte(": "))
	if colon < 0 || colon > 24 {
		// The line ends after the tag, or contains the tag for another reason.
		return string(line), "", false
	}
	writer = strings.Trim(string(rest[:colon]), "() ")
	if f := bytes.Fields(head); writer == "" && len(f) >= 3 {
		writer = string(bytes.Join(f[len(f)-3:len(f)-1], []byte(" ")))
	}
	return string(rest[colon+2:]), "tag " + writer, true
}
