package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// MemoryUnits has the number of bytes in a row of each form; 0 means a word.
var MemoryUnits = map[string]int{rows.MemoryBytes: 16, rows.MemoryWords: 0, rows.MemoryText: 64}

// MemoryWish says what of the memory's private contents is shown.
type MemoryWish struct {
	Form string
	// Texts: also texts. Redacted: of the contents only words that point into a module or a stack.
	Texts, Redacted bool
}

// textsHidden and memoryHidden are MemoryPage.Withheld.
const (
	textsHidden  = "Texts are hidden: they may be private."
	memoryHidden = "The host page does not let this viewer show the contents of memory."
	wordsHidden  = "The host page lets this viewer show only words that point into a module or a stack."
)

// Memory makes the rows of a window of memory. points is what the selected address is in.
func (v *View) Memory(part *report.MemoryPart, points report.Pointee, wish MemoryWish) rows.MemoryPage {
	out := rows.MemoryPage{Form: wish.Form, Address: v.hex(part.Address), Points: v.pointee(&points), Selected: part.Selected, Rows: []rows.MemoryRow{}}
	out.From, out.Total = part.From, part.Total
	if part.Earlier != 0 {
		out.Earlier = v.hex(part.Earlier)
	}
	if part.Later != 0 {
		out.Later = v.hex(part.Later)
	}
	switch {
	case wish.Redacted && wish.Form == rows.MemoryWords:
		out.Withheld = wordsHidden
	case wish.Redacted:
		out.Withheld = memoryHidden
	case !wish.Texts:
		out.Withheld = textsHidden
	}
	for i := range part.Rows {
		r := &part.Rows[i]
		row := rows.MemoryRow{Address: v.hex(r.Address + uint64(r.Skip)), From: rows.Clean(rows.BaseName(r.From)), Selected: part.From+i == part.Selected}
		switch {
		case r.Gap > 0:
			if row.Selected {
				out.Absent = true
			}
			row.Gap = rows.Size(int64(min(r.Gap, 1<<62))) + " that neither the dump nor an added program has"
		case wish.Form == rows.MemoryWords:
			v.word(r, &row, wish)
		case wish.Redacted:
		case wish.Form == rows.MemoryBytes:
			row.Hex, row.Byte = hexBytes(r), int(part.Address-r.Address)
			if wish.Texts {
				row.Text = strings.Repeat(" ", r.Skip) + oneEach(r.Bytes)
			}
		case wish.Texts:
			row.Text = characters(r.Bytes)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// word adds a word and its meaning. If the memory begins or ends within a word, there are bytes.
func (v *View) word(r *report.MemoryRow, row *rows.MemoryRow, wish MemoryWish) {
	if len(r.Words) == 0 {
		if !wish.Redacted {
			row.Word = strings.TrimSpace(hexBytes(r))
		}
		return
	}
	w := &r.Words[0]
	if wish.Redacted && w.Points.Place.Module < 0 && w.Points.Thread < 0 {
		row.Word = "hidden"
		return
	}
	row.Word = v.hex(w.Value)
	if row.Points = v.pointee(&w.Points); row.Points == "" {
		row.Points = v.pattern(w.Value)
	}
}

// hexBytes writes bytes as "01 00 …".
func hexBytes(r *report.MemoryRow) string {
	var b strings.Builder
	b.WriteString(strings.Repeat("   ", r.Skip))
	for i, c := range r.Bytes {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%02x", c)
	}
	return b.String()
}

// oneEach shows each byte as a character, so that it has the place of its byte.
func oneEach(p []byte) string {
	var b strings.Builder
	for _, c := range p {
		if c < ' ' || c > '~' {
			b.WriteRune('·')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// characters shows bytes as text: in UTF-8, or in UTF-16 where more than half of the second bytes are
// zero and follow a letter; "·" is what is not a character.
func characters(p []byte) string {
	var b strings.Builder
	wide := 0
	for i := 0; i+1 < len(p); i += 2 {
		if p[i] > ' ' && p[i] <= '~' && p[i+1] == 0 {
			wide++
		}
	}
	step := wide*4 > len(p)
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '·'
		}
		if step && n == 1 && len(p) > 1 {
			if p[1] != 0 {
				r = '·'
			}
			n = 2
		}
		b.WriteRune(r)
		p = p[n:]
	}
	return b.String()
}

// Hit makes a row of what a search of the memory found: of a region, or of an address in it.
func (v *View) Hit(region string, address uint64, as string, points report.Pointee) rows.HitRow {
	if region != "" {
		return rows.HitRow{Region: rows.Clean(region)}
	}
	return rows.HitRow{Address: v.hex(address), As: rows.Clean(as), Points: v.pointee(&points)}
}
