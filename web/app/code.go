package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/sourcelinks"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/protocol"
)

// Code is the listing of code in the frame zone: around the selected frame, or around an address that
// the user went to from there. Without a dump it is in the Outline, around the address that this shows. It is queried
// only while it is open.
type Code struct {
	page *Page
	protocol.CodePage
	list table.List
	// thread and frame are those that query is for.
	thread, frame, inline int
	query                 protocol.CodeQuery
	trail                 []uint64 // the addresses before query.At, for the way back
	placed                bool     // the listing's instruction was scrolled to
	bytes, source         bool
	Links                 sourcelinks.Links
}

// The listing begins with so many instructions, and has codeGrowth times as many when the user scrolls
// to its end.
const (
	codeBefore, codeAfter = 48, 96
	codeGrowth            = 4
	// codeMargin is how many rows are above the instruction at first.
	codeMargin = 6
)

func (z *Code) init(p *Page) {
	z.page = p
	z.Links.Init(p.Host)
	z.list = table.List{ID: "code", Visible: protocol.Span{Count: 24}, More: 2 * table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }, Reached: z.reached}
	p.Screen.Add(z, &z.list)
	z.start(0)
}

// start begins a listing at the selected frame, or at an address if that is not 0.
func (z *Code) start(at uint64) {
	z.query = protocol.CodeQuery{At: at, Before: codeBefore, After: codeAfter}
	z.placed = false
}

// Hidden implements Zone.
func (z *Code) Hidden() bool {
	return z.page.State.Side != "code" || z.page.Empty() && !z.page.Panel.Outline.listsCode()
}

// Want implements Zone.
func (z *Code) Want(q *protocol.Query) {
	s := &z.page.State
	if o := z.page.Panel.Outline; o.listsCode() {
		if item := outlineItem(o); z.query.At != o.at || z.query.Item != item {
			z.start(o.at)
			z.query.Item = item
		}
	} else if s.Thread != z.thread || s.Frame != z.frame || s.Inline != z.inline {
		z.thread, z.frame, z.inline, z.trail = s.Thread, s.Frame, s.Inline, nil
		z.start(0)
	}
	query := z.query
	query.Source = z.source
	query.Span = z.list.Span()
	if z.placed {
		query.Span.From -= z.At
	} else {
		query.Span.From = -codeMargin - z.list.More
		query.Span.Count += codeMargin + z.list.More
	}
	q.Code = &query
}

// Apply implements Zone.
func (z *Code) Apply(r *protocol.QueryResult) {
	c := r.Code
	if c == nil || c.Around != z.query.At || c.OfSource != z.source {
		return
	}
	if s := &z.page.State; c.Thread == s.Thread && c.Frame == s.Frame { // the first selection is known with the result
		z.thread, z.frame, z.inline = s.Thread, s.Frame, s.Inline
	}
	grown := c.CodePage.At - z.CodePage.At
	z.CodePage = *c
	switch {
	case !z.placed:
		z.placed = c.Total > 0 // else the file with the code may come
		z.list.Visible.From = max(0, c.At-codeMargin)
		z.page.Host.Reveal("code", min(c.At+z.list.Visible.Count, max(0, c.Total-1)))
		z.page.Host.Reveal("code", z.list.Visible.From)
	case grown != 0: // rows came before those that are shown
		z.list.Visible.From = max(0, z.list.Visible.From+grown)
		z.page.Host.Shift("code", grown)
	}
}

// reached makes the listing longer where the user has scrolled to its end.
func (z *Code) reached(first, end bool) bool {
	if !z.placed || z.Total == 0 {
		return false
	}
	grow := false
	if first && z.MoreBefore {
		z.query.Before *= codeGrowth
		z.MoreBefore, grow = false, true
	}
	if end && z.MoreAfter {
		z.query.After *= codeGrowth
		z.MoreAfter, grow = false, true
	}
	return grow
}

// toggleSource switches between the instructions and the source file of the frame.
func (z *Code) toggleSource() {
	z.source, z.trail = !z.source, nil
	z.start(0)
	z.page.Screen.Ask(z)
}

// goTo lists the code at an address: "0x4011d0".
func (z *Code) goTo(arg string) {
	at, err := strconv.ParseUint(strings.TrimPrefix(arg, "0x"), 16, 64)
	if err != nil || at == 0 {
		return
	}
	z.trail = append(z.trail, z.query.At)
	z.open(at)
}

// open lists the code at an address; in the Outline, which then shows what is there.
func (z *Code) open(at uint64) {
	if o := z.page.Panel.Outline; o.listsCode() {
		o.goTo(at)
	} else {
		z.start(at)
		z.page.Screen.Ask(z)
	}
	z.page.Host.Focus("code")
}

// openAt is goTo for a listing that may not have been open: Back leads to the selected frame.
func (z *Code) openAt(arg string) {
	s := &z.page.State
	z.thread, z.frame, z.inline, z.trail, z.source = s.Thread, s.Frame, s.Inline, nil, false
	z.start(0)
	z.goTo(arg)
}

// back returns to what was listed before.
func (z *Code) back() {
	if n := len(z.trail); n > 0 {
		at := z.trail[n-1]
		z.trail = z.trail[:n-1]
		z.open(at)
	}
}

// forget is called when another dump is opened.
func (z *Code) forget() {
	z.CodePage, z.trail = protocol.CodePage{}, nil
	z.thread = -2
	z.start(0)
}

// class marks a row: its kind, and where the frame is.
func (z *Code) class(r rows.CodeRow) string {
	class := "code-row " + r.Kind
	if r.At {
		class += " at"
	}
	return z.page.Marks(class, r.Full)
}

// laneWidth is the distance of two lines of jumps in pixels, laneTip what an arrow adds to their right, laneLeft the space
// before them.
const laneWidth, laneTip, laneLeft = 6, 8, 6

// margin is the style of a row: space for the lines of jumps in the listing, and those that are in the row, as
// images of its background. Their meaning is in the text as well (CodeRow.From and Goal).
func (z *Code) margin(r rows.CodeRow) string {
	if z.Lanes == 0 {
		return ""
	}
	end := z.Lanes*laneWidth + laneTip // where the offset begins
	style := fmt.Sprintf("--lanes:%dpx", end)
	var images []string
	line := func(x, y, w, h int) {
		images = append(images, fmt.Sprintf("linear-gradient(var(--cp-text-3),var(--cp-text-3)) %dpx %dpx/%dpx %dpx no-repeat", laneLeft+x, y, w, h))
	}
	const middle, bottom = 10, 20
	for i := range r.Lanes {
		bits, x := r.Lanes[i]-' ', end-laneTip-i*laneWidth
		if bits&rows.LaneUp != 0 {
			line(x, 0, 1, middle+1)
		}
		if bits&rows.LaneDown != 0 {
			line(x, middle, 1, bottom-middle)
		}
		if bits&(rows.LaneOut|rows.LaneIn) != 0 {
			line(x, middle, end-x, 1)
		}
		if bits&rows.LaneIn != 0 { // the tip of an arrow
			line(end-3, middle-2, 1, 5)
			line(end-2, middle-1, 1, 3)
		}
	}
	if len(images) > 0 {
		style += ";--jumps:" + strings.Join(images, ",")
	}
	return style
}

// first is what the row has at its beginning: the offset, or the bytes.
func (z *Code) first(r rows.CodeRow) string {
	switch {
	case r.Kind == rows.CodeSource:
		return r.Line
	case r.Kind != rows.CodeInstruction:
		return ""
	case z.bytes:
		return r.Bytes
	case r.Offset == "":
		return r.Address
	}
	return r.Offset
}

// goalAct is the action of where an instruction goes, or of its operand; nil for data without a dump, which has no view.
func (z *Code) goalAct(r rows.CodeRow) any {
	switch {
	case r.Target == "", r.Data && !r.IsCode && z.page.Empty():
		return nil
	case r.Data:
		return "address"
	}
	return "code-go"
}

// current is for aria-current; nil leaves the attribute out.
func (z *Code) current(r rows.CodeRow) any {
	if r.At {
		return "location"
	}
	return nil
}

// wantedText says what to drop where the code is missing.
func (z *Code) wantedText() string {
	switch {
	case !z.page.HostPage.TakesFiles():
		return ""
	case z.source && z.Path != "" && !z.HasSource:
		return "Drop the folder with the sources to see the lines. Nothing is uploaded."
	case z.Wanted == "":
		return ""
	}
	return "Drop " + z.Wanted + " to see its code."
}

// link is the link to the source of the frame's line, or "".
func (z *Code) link() string {
	if z.page.Limits.NoNetwork {
		return ""
	}
	return z.Links.Of(z.Path, z.Line, z.Link)
}

// offersLinks reports whether the page has something to say about links.
func (z *Code) offersLinks() bool {
	return z.source && z.Path != "" && !z.page.Limits.NoNetwork
}

func (z *Code) listClass() string {
	if z.source {
		return "list code-list sources"
	}
	if z.bytes {
		return "list code-list bytes"
	}
	return "list code-list"
}
