package session

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/sourcefile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// This file has the source files that were added. Their names alone are looked at until a listing shows
// one: a folder may have a hundred thousand.

// sourceFiles are those files.
type sourceFiles struct {
	index sourcefile.Index
	files []sourceFile
	items map[string]*item // by the folder that was added
	texts []*SourceText    // those that were read last, the latest first
}

// sourceFile is a source file, and the item that it is counted in.
type sourceFile struct {
	src  *input.Source
	item int
}

const (
	// maxSourceText is the largest source file in bytes that is shown: SQLite in one file has 9 MB.
	maxSourceText = 16 << 20
	// maxSourceTexts and maxSourceBytes are how many are kept, and how large they are together.
	maxSourceTexts = 16
	maxSourceBytes = 2 * maxSourceText
	lineMemory     = 8 // bytes of an element of SourceText.starts
)

// addSource enters a source file. All files of a folder are one item.
func (fs *Files) addSource(src *input.Source) *item {
	folder, _, in := strings.Cut(strings.ReplaceAll(src.Name, `\`, "/"), "/")
	if in {
		folder += "/"
	}
	z := &fs.sources
	it := z.items[folder]
	if it == nil || it.removed {
		it = &item{Item: Item{ID: len(fs.items), Name: folder, Dump: -1, Kind: KindSources, Usable: true, Detected: "source"}, src: src}
		fs.items = append(fs.items, it)
		if z.items == nil {
			z.items = map[string]*item{}
		}
		z.items[folder] = it
	}
	it.Count++
	it.Size += src.Size
	z.index.Add(src.Name, len(z.files))
	z.files = append(z.files, sourceFile{src, it.ID})
	return it
}

// remove takes out the files of items.
func (z *sourceFiles) remove(ids []int) {
	gone := func(i int) bool { return slices.Contains(ids, z.files[i].item) }
	z.index.Remove(gone)
	for i := range z.files {
		if gone(i) {
			z.files[i].src = nil
		}
	}
	z.texts = nil
}

// SourceText is a source file that was added, as lines.
type SourceText struct {
	Name   string
	path   string // that it was found by
	data   string
	starts []int
	// Others are the names of files that fit the path as well. Parts is how many parts of the path fit,
	// of Of. Whole: all of the file's path below its folder fits.
	Others    []string
	Parts, Of int
	Whole     bool
	// Problem says why there is no text, or is "".
	Problem string
	// sum is the checksum that the debug information has for the path; match says whether the file's is
	// the same.
	sum   symbol.Sum
	match match
}

// match is how a file's checksum compares with that of the debug information.
type match int

const (
	unknownMatch match = iota
	same
	sameButEnds // with other ends of lines
	different
)

// Title is the file's name, and Trouble its Problem.
func (t *SourceText) Title() string   { return t.Name }
func (t *SourceText) Trouble() string { return t.Problem }

// Count is the number of lines.
func (t *SourceText) Count() int { return len(t.starts) }

// Line returns a line, counted from 1, without its end, or "".
func (t *SourceText) Line(n int) string {
	if n < 1 || n > len(t.starts) {
		return ""
	}
	end := len(t.data)
	if n < len(t.starts) {
		end = t.starts[n]
	}
	return strings.TrimRight(t.data[t.starts[n-1]:end], "\r\n")
}

// Doubt says why the text may not be the file that the compiler read, as a sentence without its full stop,
// or is "".
func (t *SourceText) Doubt() string {
	switch {
	case t.match == different:
		return "This is another revision than the compiler read: its " + t.sum.Kind + " is another"
	case t.match == same, t.match == sameButEnds:
		return ""
	case len(t.Others) > 0:
		return fmt.Sprintf("%d files fit this path, also %s", len(t.Others)+1, t.Others[0])
	case t.Parts == 1 && t.Of > 1:
		return "This may be another file: only its name fits"
	case !t.Whole && t.Parts < min(t.Of, certainParts):
		return fmt.Sprintf("This may be another file: only the last %d parts of its path fit", t.Parts)
	}
	return ""
}

// certainParts is how many parts of paths are hardly the same by accident: of 600,000 lines of programs whose
// sources were not in the folder, 2 % had two or three in common with a file there, and 11 lines more.
const certainParts = 4

// onlyName reports whether nothing but the file's name speaks for it, and the folder that it is in against it.
func (t *SourceText) onlyName() bool {
	return t.Parts == 1 && t.Of > 1 && !t.Whole && t.match != same && t.match != sameButEnds
}

// SourceOf is SourceFor for a path that a frame of a dump has.
func (fs *Files) SourceOf(dump, thread, frame int, path string) *SourceText {
	return fs.SourceFor(path, fs.Session(dump).SourceSum(thread, frame, path))
}

// AnySource is SourceFor without a checksum, and without a file deep in its folder for which only its name speaks: its
// lines would be among others without a word of doubt.
func (fs *Files) AnySource(path string) *SourceText {
	if t := fs.SourceFor(path, symbol.Sum{}); t != nil && !t.onlyName() {
		return t
	}
	return nil
}

// AddSourceLines gives the rows of a listing of code the text of their lines, where the source files were added.
func (fs *Files) AddSourceLines(c *report.Code) {
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Line == 0 {
			continue
		}
		if t := fs.AnySource(row.File); t != nil {
			row.Source = t.Line(int(row.Line))
		}
	}
}

// maxFitting is how many files of the same path are compared by their checksums.
const maxFitting = 16

// SourceFor returns the source file that the user added for a path in debug information, or nil. sum is the
// checksum that the debug information has for it, if any.
func (fs *Files) SourceFor(path string, sum symbol.Sum) *SourceText {
	z := &fs.sources
	for i, t := range z.texts {
		if t.path == path && (t.sum == sum || sum.Kind == "") {
			z.texts = slices.Insert(slices.Delete(z.texts, i, i+1), 0, t)
			return t
		}
	}
	found := z.index.Find(path)
	if len(found.IDs) == 0 {
		return nil
	}
	var t *SourceText
	for n, i := range found.IDs {
		src := z.files[i].src
		one := &SourceText{Name: src.Name, path: path, Parts: found.Parts, Of: sourcefile.Parts(path), Whole: found.Whole, sum: sum}
		if n > 0 && (sum.Kind == "" || n >= maxFitting) {
			t.Others = append(t.Others, src.Name)
			continue
		}
		one.read(src)
		switch {
		case t == nil:
			t = one
		case one.match == same || one.match == sameButEnds && t.match == different:
			one.Others, t = append(t.Others, t.Name), one
		default:
			t.Others = append(t.Others, src.Name)
		}
	}
	z.texts = slices.Insert(z.texts, 0, t)
	total := 0
	for i, t := range z.texts {
		if total += len(t.data) + lineMemory*len(t.starts); i >= maxSourceTexts || total > maxSourceBytes {
			z.texts = z.texts[:i:i]
			break
		}
	}
	return t
}

// read reads the file, and finds where its lines begin: after LF, CR LF, or CR alone.
func (t *SourceText) read(src *input.Source) {
	if src.Size > maxSourceText {
		t.Problem = fmt.Sprintf("it has %d MB, and Crashpane shows source files of at most %d MB", src.Size>>20, maxSourceText>>20)
		return
	}
	b, err := src.Bytes(0, src.Size)
	if err != nil {
		t.Problem = err.Error()
		return
	}
	t.compare(b)
	t.data = sourceString(b)
	for i := 0; i < len(t.data); {
		t.starts = append(t.starts, i)
		end := strings.IndexAny(t.data[i:], "\r\n")
		if end < 0 {
			break
		}
		if i += end + 1; t.data[i-1] == '\r' && i < len(t.data) && t.data[i] == '\n' {
			i++
		}
	}
}

// compare compares the checksum, also with the other ends of lines: a checkout may have converted them.
func (t *SourceText) compare(b []byte) {
	var hash func(b []byte) string
	switch t.sum.Kind {
	case "MD5":
		hash = func(b []byte) string { return fmt.Sprintf("%x", md5.Sum(b)) }
	case "SHA-1":
		hash = func(b []byte) string { return fmt.Sprintf("%x", sha1.Sum(b)) }
	case "SHA-256":
		hash = func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	default:
		return
	}
	unix := bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	switch t.sum.Hex {
	case hash(b):
		t.match = same
	case hash(unix), hash(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))):
		t.match = sameButEnds
	default:
		t.match = different
	}
}

// SourceSum returns the checksum that debug information has for a source file of a frame.
func (s *Session) SourceSum(thread, frame int, path string) symbol.Sum {
	b, rva := s.binaryOf(thread, frame)
	if b == nil {
		return symbol.Sum{}
	}
	sum, err := b.SourceSum(rva, path)
	s.walked.syms.failed(b, symbol.Yes, err)
	return sum
}

// SourceLink returns the link that debug information has to a source file of a frame: "https://…", or "".
func (s *Session) SourceLink(thread, frame int, path string) string {
	b, _ := s.binaryOf(thread, frame)
	if b == nil || path == "" {
		return ""
	}
	link, err := b.SourceLink(path)
	s.walked.syms.failed(b, symbol.Yes, err)
	return link
}

// binaryOf returns the binary that has a frame's symbols, and the frame's address in it; nil if there is
// none.
func (s *Session) binaryOf(thread, frame int) (*symbols.File, uint64) {
	s.present()
	if thread < 0 || thread >= len(s.walked.stacks) || frame < 0 || frame >= len(s.walked.stacks[thread].Frames) {
		return nil, 0
	}
	f := &s.walked.stacks[thread].Frames[frame]
	if f.Module < 0 {
		return nil, 0
	}
	return s.walked.syms.binary(f.Module), f.RVA
}

// sourceString is a text in UTF-8, or in UTF-16 with a byte order mark.
func sourceString(b []byte) string {
	big := len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff
	if !big && !(len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe) {
		return strings.TrimPrefix(string(b), "\xef\xbb\xbf")
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		lo, hi := b[i], b[i+1]
		if big {
			lo, hi = hi, lo
		}
		units = append(units, uint16(lo)|uint16(hi)<<8)
	}
	return string(utf16.Decode(units))
}

// SourceCount is how many source files were added.
func (fs *Files) SourceCount() int { return len(fs.sources.files) }
