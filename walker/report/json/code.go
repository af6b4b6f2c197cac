package jsonreport

import (
	"encoding/hex"
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteCode writes instructions as an object, without a newline at the end. Keys are in alphabetical
// order.
//
//	from            the file that the code was read from, or null for the dump's memory
//	function, module, offset  where the address is, or null
//	guessed         whether where the first instruction begins is a guess
//	instructions[]  {address, at, bytes, called_frame, file, function, line, module, offset, operand, rule, source, taken, taken_why, target, text, values};
//	                the place is that of its target, or without one of operand, the address of an operand in memory; called_frame the number of the frame that the call led to, taken whether
//	                a conditional jump at an exception is, and taken_why what decides it, values are {register: value} of the
//	                one with at, rule how a caller is found from here on, in code of a program without a dump. What is not
//	                known is null
//	unread          why no instruction could be read, or null
func WriteCode(w io.Writer, r *report.Report, c *report.Code, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.StrOrNull("from", c.From)
		p.function(c.Place.Function)
		p.Bool("guessed", c.Guessed)
		p.Objects("instructions", len(c.Rows), func(i int) {
			row := &c.Rows[i]
			p.hex("address", row.Address)
			p.Bool("at", row.At)
			p.Str("bytes", hex.EncodeToString(row.Bytes))
			p.IntOrNull("called_frame", int64(row.Callee), row.Callee >= 0)
			p.StrOrNull("file", row.File)
			p.function(row.Place.Function)
			p.IntOrNull("line", int64(row.Line), row.Line != 0)
			p.moduleName(row.Place.Module)
			p.hexOrNull("offset", row.Place.Offset, row.Place.Module >= 0)
			p.hexOrNull("operand", row.Data, row.Data != 0)
			p.StrOrNull("rule", row.Rule)
			p.StrOrNull("source", row.Source)
			if row.Jump != nil {
				p.Bool("taken", row.Jump.Taken)
				p.Str("taken_why", row.Jump.Why)
			} else {
				p.Null("taken")
				p.Null("taken_why")
			}
			p.hexOrNull("target", row.Target, row.HasTarget)
			p.StrOrNull("text", row.Text)
			p.Object("values", func() {
				for _, v := range row.Values {
					p.hex(v.Name, v.Value)
				}
			})
		})
		p.moduleName(c.Place.Module)
		p.hexOrNull("offset", c.Place.Offset, c.Place.Module >= 0)
		p.StrOrNull("source_link", c.Link)
		p.StrOrNull("unread", c.Unread)
	})
}
