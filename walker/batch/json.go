package batch

import (
	"io"

	"github.com/crashpane/crashpane/core/jsonwriter"
)

// WriteJSON writes a record as an object on one line, with a newline after it. Keys are in
// alphabetical order. What a dump does not have is null. A file that is not a dump has error, file, size
// and took_ms alone.
//
//	address_signature  groups without symbols, see signature.Address
//	annotations[]      {from, name, private, value}; null unless they are asked for
//	error              why there is nothing else
//	hang               {thread, why}: without a crash, the thread that others wait for; null where the dump does not show it
//	file, id, size     the file's name, what is equal for equal dumps, bytes
//	missing[]          {debug_file, debug_id, frames}: symbol files that the stacks lack
//	modules[]          {code_id, debug_file, debug_id, name, version} of those on the stacks
//	problems[]         what cannot be read, or was left out for its cost
//	threads[]          {complete, crashed, frames[], id, index, name, total}: the first is that which crashed
//	threads[].frames[] {file, frame, function, inline, line, module, offset, skipped, trust}; offset is hexadecimal, from the module's start, skipped is
//	                   how many frames of a recursion are left out before it
//	time, uptime       seconds since 1970 UTC, seconds
//	took_ms            how long the record took to make, in milliseconds
func WriteJSON(w io.Writer, r *Record) error {
	p := jsonwriter.New(w, jsonwriter.Compact)
	p.PutObject(func() {
		if r.Error != "" {
			p.Str("error", r.Error)
			p.Str("file", r.Name)
			p.Int("size", r.Size)
			p.Float("took_ms", r.milliseconds())
			return
		}
		p.StrOrNull("address_signature", r.AddressSignature)
		annotations(p, r)
		p.StrOrNull("cpu", r.CPU)
		p.Null("error")
		p.Str("file", r.Name)
		p.ObjectOrNull("hang", r.Hang != nil, func() {
			p.Int("thread", int64(r.Hang.Thread))
			p.Str("why", r.Hang.Why)
		})
		p.StrOrNull("id", r.ID)
		p.Objects("missing", len(r.Missing), func(i int) {
			m := &r.Missing[i]
			p.StrOrNull("debug_file", m.DebugFile)
			p.StrOrNull("debug_id", m.DebugID)
			p.Int("frames", int64(m.Frames))
		})
		p.Objects("modules", len(r.Modules), func(i int) {
			m := &r.Modules[i]
			p.StrOrNull("code_id", m.CodeID)
			p.StrOrNull("debug_file", m.DebugFile)
			p.StrOrNull("debug_id", m.DebugID)
			p.Str("name", m.Name)
			p.StrOrNull("version", m.Version)
		})
		p.StrOrNull("os", r.OS)
		jsonwriter.NumberOrNull(p, "pid", r.PID)
		p.Strings("problems", r.Problems)
		p.StrOrNull("process", r.Process)
		p.StrOrNull("product", r.Product)
		p.StrOrNull("reason", r.Reason)
		p.StrOrNull("signature", r.Signature)
		p.Int("size", r.Size)
		p.List("threads", len(r.Threads), func(i int) { PutThread(p, &r.Threads[i]) })
		p.IntOrNull("time", int64(r.Time), r.Time != 0)
		p.Float("took_ms", r.milliseconds())
		jsonwriter.NumberOrNull(p, "uptime", r.Uptime)
		p.Str("verdict", r.Verdict)
		p.StrOrNull("version", r.Version)
	})
	if err := p.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Record) milliseconds() float64 { return float64(r.Took.Microseconds()) / 1000 }

func annotations(p *jsonwriter.Writer, r *Record) {
	if r.Annotations == nil {
		p.Null("annotations")
		return
	}
	p.Objects("annotations", len(r.Annotations), func(i int) {
		a := &r.Annotations[i]
		p.Str("from", a.From)
		p.Str("name", a.Name)
		p.Bool("private", a.Private)
		p.Str("value", a.Value)
	})
}

// PutThread writes a stack as an object.
func PutThread(p *jsonwriter.Writer, t *Thread) {
	p.PutObject(func() {
		p.Bool("complete", t.Complete)
		p.Bool("crashed", t.Crashed)
		p.Objects("frames", len(t.Frames), func(i int) {
			f := &t.Frames[i]
			p.StrOrNull("file", f.File)
			p.Int("frame", int64(f.Number))
			p.StrOrNull("function", f.Function)
			p.Bool("inline", f.Inline)
			p.IntOrNull("line", int64(f.Line), f.Line != 0)
			p.StrOrNull("module", f.Module)
			p.Key("offset")
			p.PutHex(f.Offset, 1)
			p.Int("skipped", int64(f.Skipped))
			p.Str("trust", f.Trust)
		})
		p.Uint("id", uint64(t.ID))
		p.Int("index", int64(t.Index))
		p.StrOrNull("name", t.Name)
		p.Int("total", int64(t.Total))
	})
}

// PutGroup writes a group as an object.
//
//	dumps, versions    numbers
//	example            the name of one of the dumps, or null
//	first, last        seconds since 1970 UTC, or null
//	process, reason    of one of the dumps, or null
//	signature          null for dumps without a crash
func PutGroup(p *jsonwriter.Writer, g *Group) {
	p.PutObject(func() {
		p.Int("dumps", int64(g.Dumps))
		p.StrOrNull("example", g.Example)
		p.IntOrNull("first", int64(g.First), g.First != 0)
		p.IntOrNull("last", int64(g.Last), g.Last != 0)
		p.StrOrNull("process", g.Process)
		p.StrOrNull("reason", g.Reason)
		p.StrOrNull("signature", g.Signature)
		p.Int("versions", int64(g.Versions))
	})
}
