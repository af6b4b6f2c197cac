package symfile

import (
	"bytes"
	"io"
	"runtime"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
)

const (
	// readSize is the size in bytes of one read of the pass, and the length beyond which a line is
	// cut.
	readSize = 1 << 20
	// shortPass is the largest file, in bytes, that a native pass reads in steps of shortStep. Such
	// a pass is short, and the first use of readSize bytes of memory, which is not in the
	// processor's cache either, would take a large part of it. In a browser each read costs more
	// than that.
	shortPass, shortStep = 32 << 20, 128 << 10
)

// scanner is the state of the pass over a file.
type scanner struct {
	f    *File
	line int   // number of the current line
	base int64 // file offset of the buffer

	// fn is the FUNC that the next line or INLINE record belongs to, cfi the STACK CFI INIT that
	// the next delta belongs to, or nil. Each goes into its table when the next one
	// begins. fnEnd and cfiEnd are the end of its last run of lines, in the record or in an element
	// of extras. When extras is reallocated, such a pointer may be stale; by then its run has
	// ended, so that no offset equals it any more.
	fn, cfi       *rec
	fnRec, cfiRec rec
	fnEnd, cfiEnd *int64
	lastDelta     uint64
	lineCount     int

	buf []byte   // of a step, and of the line that is not ended
	seg *segment // of a pass that is shared out; else nil

	section lazy.Section // the only one that is indexed, and of its records alone; None is all of them
}

// run reads the lines that start in [from, to) of the file, readSize bytes at a time, and passes
// them to lines.
//
// Each round appends a step to the unfinished line of the round before, passes on all lines that
// are complete, and moves the rest to the front of the buffer. A line that starts before to is read
// to its end, so that of two adjacent chunks exactly one has each line: a chunk begins one byte
// early and skips up to the first newline. A line longer than the buffer is passed on cut, and the
// rest of it skipped.
func (s *scanner) run(src *input.Source, from, to int64, progress func(done, total int64)) error {
	step := readSize
	if runtime.GOARCH != "wasm" && to-from <= shortPass {
		step = shortStep
	}
	have := 0        // bytes of an unfinished line at the front
	cutting := false // inside a line that is too long
	pos := from
	if from > 0 {
		pos, cutting = from-1, true // a line that starts before belongs to the previous chunk
	}
	for ended := false; pos < src.Size && !ended; {
		n := min(int64(min(step, readSize-have)), src.Size-pos)
		if need := have + int(n) + 2; len(s.buf) < need { // a newline is added to a last line without one
			grown := make([]byte, min(max(need+shortStep/16, 2*have), readSize+2))
			copy(grown, s.buf[:have])
			s.buf = grown
		}
		buf := s.buf
		if left := to - pos; left > 0 {
			n = min(n, left)
		} else {
			n = min(n, 4096) // the rest of the last line
		}
		if _, err := src.ReadDirect(buf[have:have+int(n)], pos); err != nil && err != io.EOF {
			return src.Wrap("symbol file", pos, err)
		}
		s.base = pos - int64(have)
		pos += n
		data := buf[:have+int(n)]
		if s.base == 0 && bytes.HasPrefix(data, bom) {
			copy(data, "\n\n\n") // blank lines, so that no offset moves; they do not count as lines
			s.line -= 3
		}
		if pos == src.Size && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		if cutting {
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				have = 0
				continue
			}
			// The part that was kept has been counted as the line.
			cutting = false
			s.base += int64(i + 1)
			data = data[i+1:]
			if s.base >= to {
				break
			}
		}
		last := bytes.LastIndexByte(data, '\n') + 1
		if at := to - 1 - s.base; pos >= to && to < src.Size && at < int64(len(data)) {
			if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
				last, ended = int(at)+i+1, true
			}
		}
		if last == 0 && len(data) == readSize {
			// A line that fills the buffer: its start has all the index needs.
			data[len(data)-1] = '\n'
			last, cutting = len(data), true
			if s.f.warn(longLine, s.line+1) {
				s.f.say("the line is longer than %d bytes", readSize)
			}
		}
		s.lines(data[:last])
		have = copy(buf, data[last:])
		if progress != nil {
			progress(pos, src.Size)
		}
	}
	s.endFunc()
	s.endInit()
	s.f.Counts.Lines = max(s.line, 0)
	s.f.Counts.LineRecords = s.lineCount
	return nil
}

// endFunc puts the current FUNC into its table; what follows belongs to none.
func (s *scanner) endFunc() {
	if s.fn != nil {
		s.f.tables[tableFuncs].put(s.fnRec)
		s.fn = nil
	}
}

// endInit is endFunc for the current STACK CFI INIT.
func (s *scanner) endInit() {
	if s.cfi != nil {
		s.f.tables[tableInits].put(s.cfiRec)
		s.cfi = nil
	}
}

// lines indexes a chunk of the file that ends with a newline.
func (s *scanner) lines(b []byte) {
	if s.section != lazy.None {
		s.heads(b)
		return
	}
	for i := 0; i < len(b); {
		if i = s.sweep(b, i); i == len(b) {
			break
		}
		s.line++
		next := 0
		if c := b[i]; c == 'F' || c == 'I' || c == 'S' {
			next = s.plain(b, i)
		}
		if next > 0 {
			i = next
			continue
		}
		n := bytes.IndexByte(b[i:], '\n') + 1
		s.record(b[i:i+n], s.base+int64(i))
		i += n
	}
}

// heads indexes the STACK records of one section (see indexSection). Only what locates a record is
// kept: a search reads the deltas after an INIT when it needs them.
func (s *scanner) heads(b []byte) {
	for i := 0; i < len(b); {
		end := lazy.Newline(b, i)
		off := s.base + int64(i)
		line := b[i:end]
		i = end + 1
		if len(line) > 16 && eight(line, 0) == wordStackCF && line[8] == 'I' && line[9] == ' ' && hexVal[line[10]] != 0xff {
			continue // a STACK CFI record: only the offset of its INIT record is kept
		}
		r := classify(line)
		if !r.ok || sections[r.is] != s.section || r.is == recordDelta || r.size == 0 || r.key+r.size < r.key {
			continue
		}
		k := tableInits
		if r.is == recordWin {
			switch k = tableWin4; r.typ {
			case 4:
			case 0:
				k = tableWin0
			default:
				continue
			}
		}
		s.f.tables[k].put(rec{rva: r.key, size: r.size, off: off, end: off})
	}
}

// gotLine records a line record whose text is at [off, end) of the file.
//
// A line outside of its FUNC is kept, with a warning: lookups find lines by the FUNC that covers
// the address, so they do not meet it.
func (s *scanner) gotLine(rva, size uint64, file uint32, off, end int64) {
	s.lineCount++
	if s.fn == nil {
		if s.strayFunc() {
			return
		}
		if s.f.warn(orphan, s.line) {
			s.f.say("line record before any FUNC")
		}
		return
	}
	s.belongs(off, end)
	if last := rva + size; rva < s.fn.rva || last < rva || last > s.fn.rva+s.fn.size && s.fn.size > 0 {
		if s.f.warn(outside, s.line) {
			s.f.sayOf(s.fn.line, "line record at 0x%x lies outside its FUNC", rva)
		}
	}
}

// belongs adds the text at [off, end) to the current FUNC: to the record's own run if it follows
// that directly, else to a new run in extras. A run is interrupted by a line of another kind, such
// as a blank line or an unknown record between two line records.
func (s *scanner) belongs(off, end int64) {
	if *s.fnEnd == off {
		*s.fnEnd = end
		return
	}
	s.f.extras = append(s.f.extras, extra{owner: s.fn.off, off: off, end: end, line: int32(s.line)})
	s.fnEnd = &s.f.extras[len(s.f.extras)-1].end
}
