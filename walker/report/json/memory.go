package jsonreport

import (
	"encoding/hex"
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteMemory writes memory as an object, without a newline at the end. Keys are in alphabetical
// order.
//
//	rows[]  {address, bytes, from, words[]} of 16 bytes each; from is "dump", the name of a program, or null without bytes
//	words[] {address, frame, function, module, offset, text, thread, value}: what the word points to; what it does not is null
func WriteMemory(w io.Writer, r *report.Report, m *report.MemoryView, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.Objects("rows", len(m.Rows), func(i int) {
			row := &m.Rows[i]
			p.hex("address", row.Address)
			p.Str("bytes", hex.EncodeToString(row.Bytes))
			p.StrOrNull("from", row.From)
			p.List("words", len(row.Words), func(k int) { p.word(&row.Words[k]) })
		})
	})
}

func (p *printer) word(w *report.MemoryWord) {
	to := &w.Points
	p.PutObject(func() {
		p.hex("address", w.Address)
		p.IntOrNull("frame", int64(to.Frame), to.Frame >= 0)
		p.function(to.Place.Function)
		p.moduleName(to.Place.Module)
		p.hexOrNull("offset", to.Place.Offset, to.Place.Module >= 0)
		p.StrOrNull("text", to.Text)
		p.IntOrNull("thread", int64(to.Thread), to.Thread >= 0)
		p.hex("value", w.Value)
	})
}
