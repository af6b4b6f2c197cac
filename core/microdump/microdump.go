// Package microdump reads Breakpad's microdumps: a crash as lines of text in a log, which is what a WebView on Android leaves
// behind. One log may hold several. Each becomes a core.Dump, with one thread, so that whoever reads minidumps reads these too.
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
// All numbers are hexadecimal. Source of the form: Breakpad's microdump_writer.cc, and its reader, microdump.cc.
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

	// maxLine is the longest line that is read, in bytes; the writer's own limit is 2048 and a prefix. The rest of a longer one is
	// left out.
	maxLine = 64 << 10
	// The most that is kept of one log. What a line becomes takes more room than the line, and a log can be made of nothing else.
	maxDumps   = 256
	maxModules = 10_000
	maxRegions = 10_000
)

// Read finds every microdump of a log, in the order of their first lines. What is wrong inside one is in its Diags, with the line's
// number in the log. The error is for a log without any (*input.FormatError), and for bytes that could not be read.
//
// If there are several, their names are the log's with a number: "log.txt #1".
func Read(src *input.Source) ([]*core.Dump, error) {
	r := reader{name: src.Name, open: map[string]*dump{}}
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

// readLine gives the next line without its end, cut to maxLine, and its size in bytes with everything. The bytes are the buffer's.
func readLine(buf *bufio.Reader) (line []byte, size int64, err error) {
	line, err = buf.ReadSlice('\n')
	size = int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line) // reading on overwrites it
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			more, err = buf.ReadSlice('\n')
			size += int64(len(more))
		}
	}
	return bytes.TrimRight(line, "\r\n"), size, err
}

// reader is what is known of a log so far.
type reader struct {
	name string
	read int64 // bytes
	all  []*dump
	// open are the microdumps whose last line has not come yet, by who writes them: the lines of two processes may stand between
	// each other.
	open             map[string]*dump
	modules, regions int
}

// line takes one line of the log.
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
			r.all[maxDumps-1].note(core.Warning, "", number, fmt.Sprintf("at most %d microdumps in a log", maxDumps), "more; the rest is left out")
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

// split takes a line apart: what the microdump's writer wrote, and which writer it was, as far as the log's prefix tells. Logs
// without the tag (logcat -v raw or long, a terminal) have the bare record in the line.
//
// The prefixes that logcat knows are "F/google-breakpad( 1234): " with or without the time before it, and
// "02-23 15:49:14.700  1740  1739 F google-breakpad: " with the process' and the thread's number.
func split(line []byte) (record, writer string, tagged bool) {
	at := bytes.Index(line, []byte(tag))
	if at < 0 {
		return string(line), "", false
	}
	head, rest := line[:at], line[at+len(tag):]
	colon := bytes.Index(rest, []byte(": "))
	if colon < 0 || colon > 24 {
		// An empty record at the end of a line, or a line that speaks of the tag.
		return string(line), "", false
	}
	writer = strings.Trim(string(rest[:colon]), "() ")
	if f := bytes.Fields(head); writer == "" && len(f) >= 3 {
		writer = string(bytes.Join(f[len(f)-3:len(f)-1], []byte(" ")))
	}
	return string(rest[colon+2:]), "tag " + writer, true
}
