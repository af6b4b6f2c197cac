package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// maxPlaces is how many places Places returns.
const maxPlaces = 16

// Places returns the places that a text may mean: an address ("0x7ffe0000", "00007ffe`00000000"), and
// functions on the stacks and modules that have it in their names, also with an offset ("main+0x20").
// points says what an address is in.
func (v *View) Places(text string, points func(address uint64) report.Pointee) (out []rows.PlaceRow) {
	text = strings.ToLower(strings.TrimSpace(text))
	out = []rows.PlaceRow{}
	if a, ok := address(text); ok {
		p := points(a)
		out = append(out, rows.PlaceRow{Title: v.hex(a), Note: v.pointee(&p), Address: short(a)})
	}
	name, offset := text, uint64(0)
	if at := strings.LastIndexByte(text, '+'); at > 0 {
		if n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(text[at+1:]), "0x"), 16, 64); err == nil {
			name, offset = strings.TrimSpace(text[:at]), n
		}
	}
	if name == "" {
		return out
	}
	seen := map[uint64]bool{}
	add := func(title, note string, start uint64) bool {
		if at := start + offset; !seen[at] {
			seen[at] = true
			if offset != 0 {
				title += " + " + short(offset)
			}
			out = append(out, rows.PlaceRow{Title: title, Note: note, Address: short(at)})
		}
		return len(out) < maxPlaces
	}
	for _, t := range v.order() {
		frames := v.r.Threads[t].Frames
		for i := range frames {
			f := &frames[i]
			if !named(f) || f.FunctionStart == 0 || seen[f.FunctionStart+offset] || !strings.Contains(strings.ToLower(v.full(f.Function)), name) {
				continue
			}
			note := fmt.Sprintf("frame %d of thread %d", i+f.LeftOut, t)
			if m := v.module(f.Module); m != nil {
				note += ", " + rows.Clean(m.Title())
			}
			if !add(v.full(f.Function), note, f.FunctionStart) {
				return out
			}
		}
	}
	for i := range v.r.Modules {
		m := &v.r.Modules[i]
		if title := rows.Clean(m.Title()); strings.Contains(strings.ToLower(title), name) && !add(title, "module, "+v.hex(m.Base), m.Base) {
			break
		}
	}
	return out
}

// address reads a text as an address: hexadecimal digits after 0x, or at least six of them that are not
// all letters. Shorter ones are more often a name.
func address(text string) (uint64, bool) {
	digits, sure := strings.CutPrefix(strings.ReplaceAll(text, "`", ""), "0x")
	a, err := strconv.ParseUint(digits, 16, 64)
	return a, err == nil && (sure || len(digits) >= 6 && strings.ContainsAny(digits, "0123456789"))
}

// pointee says what an address is in.
func (v *View) pointee(p *report.Pointee) string {
	return rows.Clean(p.Words(v.r, v.full))
}
