package intake

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"mime/quotedprintable"
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/jsonwriter"
)

// Crash reporters upload a dump together with what they know about it, and some keep that upload as
// the dump's file:
//
//   - Chromium and Breakpad: a body of multipart/form-data (RFC 7578): fields with a value, and the
//     dump as the file "upload_file_minidump". A mail with a dump attached has the same form.
//   - Sentry: an envelope: a line of JSON, and for each item a line of JSON with its length in bytes,
//     or without one if the item ends with its line (develop.sentry.dev, "Envelopes").

// section is a part of an upload: a file if it has a file's name, else a value.
type section struct {
	name, file string
	encoding   string // of its bytes, a key of encodings; "" for bytes as they are
	off, size  int64
}

// encodings are the Content-Transfer-Encodings that change bytes (RFC 2045, section 6.1).
var encodings = map[string]func(io.Reader) (io.Reader, error){
	"base64":           func(r io.Reader) (io.Reader, error) { return base64.NewDecoder(base64.StdEncoding, r), nil },
	"quoted-printable": func(r io.Reader) (io.Reader, error) { return quotedprintable.NewReader(r), nil },
}

// maxValue is how long a value or a header of an upload may be, in bytes.
const maxValue = 64 << 10

// maxEvent is how long an event may be, in bytes: Sentry takes no longer ones (develop.sentry.dev,
// "Envelopes", "Size Limits").
const maxEvent = 1 << 20

// sniffUpload recognizes an envelope by its first lines, and a multipart body by a part's header.
func sniffUpload(_ *input.Source, head []byte) Guess {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	switch {
	case isEnvelopeHeader(line) && isObject(next) && bytes.Contains(next, []byte(`"type"`)):
		return Guess{Envelope, "a Sentry envelope"}
	case firstPart(head) >= 0:
		return Guess{Multipart, "a crash report's upload (multipart/form-data)"}
	}
	return Guess{}
}

// isEnvelopeHeader: every key of the header may be missing (develop.sentry.dev, "Envelopes").
func isEnvelopeHeader(line []byte) bool {
	h, ok := object(line)
	for _, key := range [...]string{"event_id", "dsn", "sdk", "sent_at", "trace"} {
		if _, known := h[key]; known {
			return true
		}
	}
	return ok && len(h) == 0
}

func isObject(line []byte) bool {
	_, ok := object(line)
	return ok && line[0] == '{'
}

// object reads a JSON object.
func object(text []byte) (map[string]jsonwriter.Value, bool) {
	v, ok := jsonwriter.Parse(string(text))
	return v.Object(), ok && v.Object() != nil
}

// openUpload adds the files of an upload, each with the values that were sent with it.
func (e *expander) openUpload(src *input.Source, kind Kind, depth int) {
	sections, origin := multipartSections, "upload"
	if kind == Envelope {
		sections, origin = envelopeSections, "envelope"
	}
	var notes []input.Note
	seen := map[input.Note]bool{}
	var files []section
	failed := false
	sections(src, func(s section) bool {
		if !e.another(src, string(kind)) {
			return false
		}
		if s.file != "" {
			files = append(files, s)
			return true
		}
		limit := int64(maxValue)
		if kind == Envelope {
			limit = maxEvent
		}
		value, err := src.Bytes(s.off, min(s.size, limit))
		if err != nil {
			e.problem(src.Name, string(kind), s.off, "", err)
			return false
		}
		value = decoded(value, s.encoding)
		if kind == Envelope {
			for _, n := range eventNotes(value) {
				if !seen[n] && len(notes) < maxNotes { // the header repeats the event's id
					seen[n] = true
					notes = append(notes, n)
				}
			}
		} else if s.name != "" && !bytes.ContainsRune(value, 0) {
			notes = append(notes, input.Note{Origin: origin, Key: s.name, Value: strings.ToValidUTF8(string(value), "\uFFFD")})
		}
		return true
	}, func(what string, err error) {
		failed = true
		e.problem(src.Name, string(kind), -1, what, err)
	})
	if !failed && len(files) == 0 {
		e.problem(src.Name, string(kind), -1, "no file in it", nil)
	}
	for _, f := range files {
		inner := src.Sub(src.Name+"/"+f.file, f.off, f.size)
		inner.Notes = notes
		if decode := encodings[f.encoding]; decode != nil {
			e.unpackBy(noWindow(decode), inner, f.encoding+" data", depth, nil)
		} else {
			e.expand(inner, Sniff(inner), depth+1, nil)
		}
	}
}

// decoded returns a value without its Content-Transfer-Encoding. For a damaged one, what is before
// the damage.
func decoded(value []byte, encoding string) []byte {
	if decode := encodings[encoding]; decode != nil {
		if r, err := decode(bytes.NewReader(value)); err == nil {
			value, _ = io.ReadAll(r)
		}
	}
	return value
}

// firstPart returns the offset of the first part's header, or -1 for what is not a multipart body. A
// line with the boundary is before it, and before that text for people to read (RFC 2046, section
// 5.1.1); or it is the first line, where the boundary's was lost.
func firstPart(head []byte) int {
	if isPartHeader(head) {
		return 0
	}
	for at := 0; at < len(head); {
		end := bytes.IndexByte(head[at:], '\n')
		if end < 0 {
			break
		}
		line := bytes.TrimSuffix(head[at:at+end], []byte("\r"))
		if at += end + 1; isBoundary(line) && isPartHeader(head[at:]) {
			return at
		}
		if !isText(line, true) {
			break
		}
	}
	return -1
}

// isBoundary reports whether a line may separate parts: a boundary has 1 to 70 characters.
func isBoundary(line []byte) bool {
	return bytes.HasPrefix(line, []byte("--")) && len(line) > 2 && len(line) <= 72
}

// isPartHeader reports whether a header with the name of a part begins here.
func isPartHeader(text []byte) bool {
	if len(text) < 8 || !bytes.EqualFold(text[:8], []byte("content-")) {
		return false
	}
	for len(text) > 0 {
		var line []byte
		if line, text, _ = bytes.Cut(text, []byte("\n")); isBoundary(line) || !bytes.Contains(line, []byte(":")) && !bytes.HasPrefix(line, []byte(" ")) && !bytes.HasPrefix(line, []byte("\t")) {
			return false
		}
		if s := parsePart(string(line)); s.name != "" || s.file != "" {
			return true
		}
	}
	return false
}

// boundaryOf returns the line that separates a body's parts, and how its lines end. The first part
// is at an offset of head.
func boundaryOf(src *input.Source, head []byte, first int) (line, newline []byte) {
	newline = []byte("\n")
	if end := bytes.IndexByte(head[first:], '\n'); end > 0 && head[first+end-1] == '\r' {
		newline = []byte("\r\n")
	}
	if first > 0 {
		before := head[:first-len(newline)]
		return before[bytes.LastIndexByte(before, '\n')+1:], newline
	}
	// The line before the first part was lost. The last line of all is the same with two more
	// hyphens; in a file that was cut off, the next part's is asked.
	tail, _ := src.Bytes(max(0, src.Size-80), min(80, src.Size))
	tail = bytes.TrimRight(tail, "\r\n")
	last, closed := bytes.CutSuffix(tail[bytes.LastIndexByte(tail, '\n')+1:], []byte("--"))
	if closed && isBoundary(last) {
		return last, newline
	}
	if next := bytes.Index(head, append(bytes.Clone(newline), "--"...)); next >= 0 {
		at := next + len(newline)
		if first := firstPart(head[at:]); first > 0 {
			return boundaryOf(src, head[at:], first)
		}
	}
	return nil, newline
}

// multipartSections yields the parts of a body of multipart/form-data.
func multipartSections(src *input.Source, yield func(section) bool, fail func(string, error)) {
	w := window{src: src}
	head, err := w.bytes(0, sniffSize)
	first := firstPart(head)
	if err != nil || first < 0 {
		fail("no part in it", err)
		return
	}
	boundary, crlf := boundaryOf(src, head, first)
	delimiter := slices.Concat(crlf, boundary)
	for at := int64(first); ; {
		end, err := w.index(at, append(bytes.Clone(crlf), crlf...))
		if end < 0 || end-at > maxValue {
			fail(fmt.Sprintf("no end of a part's header at offset 0x%x", at), err)
			return
		}
		header, err := w.bytes(at, end-at)
		if err != nil {
			fail("", err)
			return
		}
		s := parsePart(string(header))
		s.off = end + int64(2*len(crlf))
		if end = -1; boundary != nil {
			end, err = w.index(s.off-int64(len(crlf)), delimiter) // an empty part ends where its header does
		}
		last := end < 0
		if last {
			end = src.Size
			what := "the end of the file in the middle of a part"
			if err != nil {
				what = "a part whose end cannot be read"
			}
			fail(what+"; what there is of it is used", err)
		}
		s.size = max(end-s.off, 0)
		if !yield(s) || last {
			return
		}
		at = end + int64(len(delimiter))
		after, err := w.bytes(at, 2)
		if err != nil || len(after) < len(crlf) || !bytes.HasPrefix(after, crlf) {
			return // "--": the end
		}
		at += int64(len(crlf))
	}
}

// parsePart returns what a part's header says: the name and the file's name of its
// Content-Disposition, and the encoding of its bytes.
func parsePart(header string) (s section) {
	for _, line := range strings.Split(header, "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "content-transfer-encoding":
			s.encoding = strings.ToLower(strings.TrimSpace(value))
		case "content-disposition":
			for _, field := range strings.Split(value, ";") {
				key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
				switch value = strings.Trim(strings.TrimSpace(value), `"`); strings.ToLower(key) {
				case "name":
					s.name = value
				case "filename":
					s.file = strings.ReplaceAll(value, `\`, "/")
				}
			}
		}
	}
	if s.file == "" && strings.HasPrefix(s.name, "upload_file") {
		s.file = s.name
	}
	return s
}

// window is the last block that was read of a file: many sections are in one.
type window struct {
	src   *input.Source
	start int64
	block []byte
}

// from returns what is at an offset, size bytes at least or to the end of the file.
func (w *window) from(off, size int64) ([]byte, error) {
	size = min(size, w.src.Size-off)
	if off < w.start || off+size > w.start+int64(len(w.block)) {
		p, err := w.src.Bytes(off, min(max(size, sniffSize), w.src.Size-off))
		if err != nil {
			return nil, err
		}
		w.start, w.block = off, p
	}
	return w.block[off-w.start:], nil
}

// bytes returns some bytes, or those to the end of the file.
func (w *window) bytes(off, size int64) ([]byte, error) {
	p, err := w.from(off, size)
	return p[:min(size, int64(len(p)))], err
}

// index returns where some bytes are next, or -1. The error is that of a read.
func (w *window) index(off int64, what []byte) (int64, error) {
	for off < w.src.Size {
		p, err := w.from(off, int64(len(what)))
		if err != nil {
			return -1, err
		}
		if i := bytes.Index(p, what); i >= 0 {
			return off + int64(i), nil
		}
		off += int64(max(len(p)-len(what)+1, 1))
	}
	return -1, nil
}

// envelopeSections yields the items of a Sentry envelope.
func envelopeSections(src *input.Source, yield func(section) bool, fail func(string, error)) {
	w := window{src: src}
	var failed error
	newline := func(at int64) int64 {
		end, err := w.index(at, []byte("\n"))
		if failed = cmp.Or(failed, err); end >= 0 {
			return end
		}
		return src.Size
	}
	at := newline(0)
	if !yield(section{name: "header", size: at}) {
		return
	}
	for at++; at < src.Size; {
		end := newline(at)
		if end == at {
			at++
			continue
		}
		p, err := w.bytes(at, min(end-at, maxValue))
		h, ok := object(p)
		if err = cmp.Or(failed, err); err != nil || !ok {
			fail(fmt.Sprintf("an item's header at offset 0x%x that cannot be read", at), err)
			return
		}
		kind := h["type"].Text()
		s := section{name: kind, off: min(end+1, src.Size)}
		stop := src.Size
		length, known := h["length"]
		switch n, err := strconv.ParseInt(length.Text(), 10, 64); {
		case !known:
			stop = newline(s.off)
		case err == nil && n >= 0 && n <= src.Size-s.off:
			stop = s.off + n
		default:
			fail(fmt.Sprintf("an item of %s bytes, where the file has %d", length.Text(), src.Size-s.off), nil)
		}
		if failed != nil {
			fail("an item whose end cannot be read; what there is of it is used", failed)
		}
		if s.size = stop - s.off; kind == "attachment" {
			s.file = cmp.Or(h["filename"].Text(), "attachment")
		}
		if (s.file != "" || kind == "event") && !yield(s) {
			return
		}
		at = stop
	}
}

// maxNotes bounds what the values of events cost; events have some hundred. maxNested is how many
// objects a value may be in.
const maxNotes, maxNested = 2000, 8

// eventNotes returns what an envelope's header or event says: every text, number and truth value,
// with the names of the objects that it is in ("contexts.os.name"). Tags may be a list of pairs.
// Other lists (threads, breadcrumbs, images) are not values of the crash as a whole.
func eventNotes(text []byte) (out []input.Note) {
	event, _ := object(text)
	add := func(key string, v jsonwriter.Value) {
		if s := v.Text(); s != "" && len(out) < maxNotes {
			out = append(out, input.Note{Origin: "envelope", Key: key, Value: s})
		}
	}
	var all func(under string, object map[string]jsonwriter.Value, depth int)
	all = func(under string, object map[string]jsonwriter.Value, depth int) {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			add(under+key, object[key])
			inner := object[key].Object()
			switch {
			case inner == nil || depth == maxNested:
			case under == "" && key == "tags":
				all("tag ", inner, depth+1)
			default:
				all(under+key+".", inner, depth+1)
			}
		}
	}
	all("", event, 0)
	for _, pair := range event["tags"].List() {
		if p := pair.List(); len(p) == 2 {
			add("tag "+p[0].Text(), p[1])
		}
	}
	return out
}
