package jsonreport

import (
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/report/text"
)

// crash writes the schema's crash_info.
func (p *printer) crash() {
	c := p.r.Crash
	if c == nil {
		p.noCrash()
		return
	}
	a := c.Analysis
	p.hex("address", c.Address)
	adj := a.Adjusted
	p.ObjectOrNull("adjusted_address", adj != nil, func() {
		if adj.Kind == "null-pointer" {
			p.Str("kind", string(adj.Kind))
			p.hex("offset", adj.Address)
			return
		}
		p.hex("address", adj.Address)
		p.Str("kind", string(adj.Kind))
	})
	// rust-minidump always writes null here. The text is in the key "crashpane".
	p.Null("assertion")
	p.List("crash_inconsistencies", len(a.Contradictions), func(i int) { p.PutString(string(a.Contradictions[i])) })
	p.crashingThread()
	if in := a.Instruction; in != nil {
		p.StrOrNull("instruction", in.Text)
	} else {
		p.Null("instruction")
	}
	p.ObjectOrNull("instruction_pointer_update", a.Jump != nil, func() { p.hex("address", a.Jump.Target) })
	known := a.AccessesKnown && a.Instruction != nil
	for i := range a.Accesses {
		known = known && a.Accesses[i].AddressKnown
	}
	if known {
		p.List("memory_accesses", len(a.Accesses), p.memoryAccess)
	} else {
		p.Null("memory_accesses")
	}
	if len(a.BitFlips) > 0 {
		p.Objects("possible_bit_flips", len(a.BitFlips), func(i int) {
			f := &a.BitFlips[i]
			p.hex("address", f.Address)
			p.Float("confidence", float64(f.Confidence)) // as serde_json does: 0.6625000238418579
			p.Object("details", func() {
				p.Bool("is_null", f.Details.IsNull)
				p.Int("nearby_registers", int64(f.Details.Nearby))
				p.Bool("poison_registers", f.Details.Poison)
				p.Bool("was_low", f.Details.WasLow)
				p.Bool("was_non_canonical", f.Details.WasNonCanonical)
			})
			p.StrOrNull("source_register", f.Register)
		})
	} else {
		p.Null("possible_bit_flips")
	}
	p.Str("type", c.Reason.Name)
}

// memoryAccess writes access i of the crashing instruction, whose address is known.
func (p *printer) memoryAccess(i int) {
	m := &p.r.Crash.Analysis.Accesses[i]
	p.PutObject(func() {
		if m.Kind != 0 {
			p.Str("access_type", m.Kind.String())
		}
		p.hex("address", m.Address)
		p.BoolIf("is_likely_guard_page", m.Guard)
		p.size(m.Size)
	})
}

// size writes the size of an access, null if the instruction alone does not determine it.
func (p *printer) size(n int) {
	p.IntOrNull("size", int64(n), n > 0)
}

// noCrash writes crash_info of a dump without an exception: all keys, and null for most.
func (p *printer) noCrash() {
	for _, k := range []string{"address", "adjusted_address", "assertion", "crash_inconsistencies"} {
		p.Null(k)
	}
	p.crashingThread()
	for _, k := range []string{"instruction", "instruction_pointer_update", "memory_accesses", "possible_bit_flips", "type"} {
		p.Null(k)
	}
}

// crashingThread writes the index of the thread that crashed or requested the dump, or null.
func (p *printer) crashingThread() {
	p.IntOrNull("crashing_thread", int64(p.r.FirstThread), p.r.HasRequesting && p.r.FirstThread < p.r.Listed)
}

// crashAdditions writes the key "crash" in "crashpane": Crashpane's analysis of the crash.
//
//	analysis          {accesses[{access, address, base, guard, implicit, index, size}] or null, adjusted{address, kind, offset,
//	                  register} or null, bit_flips[{address, confidence, register}], cause: index into accesses or null,
//	                  instruction{address, module, registers[{name, value}], text} or null, jump{how, register, slot,
//	                  target} or null, place{end, guard, mapped, name, permissions, start} or null, stack_overflow}
//	guesses[]         sentences about likely causes, which may be wrong
//	nested[]          the exceptions that were being handled when this one was raised: see exceptions in additions.go
//	params[], reason_breakpad, thread_id
//	place             {frame, inline}: the first call of the program's own code: index of the crashed thread's frame, and of the frame's
//	                  inlined call or null; null without frames, or if the program ended itself and only runtimes' functions are there
//	signature         text that groups equal crashes, as Mozilla's crash-stats makes it; null if there was no crash
//	requested         the process did not crash; the dump was requested
//	sentence          what happened: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax"
func (p *printer) crashAdditions(c *report.Crash) {
	a := c.Analysis
	p.Object("analysis", func() { p.analysis(c) })
	p.Strings("guesses", a.Guesses)
	p.nested(p.r.CrashException())
	p.List("params", len(c.Params), func(i int) { p.hexValue(c.Params[i]) })
	words, _, at := signature.OfReport(p.r, p.lists, report.Name.Shown)
	p.ObjectOrNull("place", at.Frame >= 0, func() {
		p.Int("frame", int64(at.Frame))
		p.IntOrNull("inline", int64(at.Inline), at.Inline >= 0)
	})
	p.Str("reason_breakpad", text.Reason(p.r, &c.Reason, c.Params))
	p.Bool("requested", c.Requested)
	p.Str("sentence", c.Named(report.Name.Shown, func(n report.Name) string { return rows.Bare(n.Shown()) }).Sentence())
	p.StrOrNull("signature", words)
	p.Uint("thread_id", uint64(c.ThreadID))
}

func (p *printer) analysis(c *report.Crash) {
	a := c.Analysis
	if a.AccessesKnown && a.Instruction != nil {
		p.Objects("accesses", len(a.Accesses), func(i int) { p.access(i) })
	} else {
		p.Null("accesses")
	}
	adj := a.Adjusted
	p.ObjectOrNull("adjusted", adj != nil, func() {
		p.hex("address", adj.Address)
		p.Str("kind", string(adj.Kind))
		p.Int("offset", adj.Offset)
		p.StrOrNull("register", adj.Register.Name)
	})
	p.Objects("bit_flips", len(a.BitFlips), func(i int) {
		f := &a.BitFlips[i]
		p.hex("address", f.Address)
		p.Float("confidence", float64(f.Confidence))
		p.StrOrNull("register", f.Register)
	})
	p.IntOrNull("cause", int64(a.Cause), a.Cause >= 0)
	p.ObjectOrNull("instruction", a.Instruction != nil, p.crashInstruction)
	j := a.Jump
	p.ObjectOrNull("jump", j != nil, func() {
		p.Str("how", j.How)
		p.StrOrNull("register", j.Register.Name)
		p.hexOrNull("slot", j.Slot, j.InMemory)
		p.hex("target", j.Target)
	})
	m := a.Place
	p.ObjectOrNull("place", m != nil, func() {
		p.hex("end", m.End)
		p.Bool("guard", m.Guard)
		p.Bool("mapped", m.Mapped)
		p.StrOrNull("name", report.BaseName(m.Name))
		p.Str("permissions", m.Perms())
		p.hex("start", m.Start)
	})
	p.Str("stack_overflow", [...]string{"no", "likely", "yes"}[min(a.Overflow, 2)])
}

// access writes memory access i of the crashing instruction.
func (p *printer) access(i int) {
	m := &p.r.Crash.Analysis.Accesses[i]
	p.Str("access", m.Kind.String())
	p.hexOrNull("address", m.Address, m.AddressKnown)
	p.StrOrNull("base", m.Base.Name)
	p.Bool("guard", m.Guard)
	p.Bool("implicit", m.Implicit)
	p.StrOrNull("index", m.Index.Name)
	p.size(m.Size)
}

// crashInstruction writes the crashing instruction.
func (p *printer) crashInstruction() {
	in := p.r.Crash.Analysis.Instruction
	p.hex("address", in.Address)
	p.IntOrNull("module", int64(in.Module), in.Module >= 0)
	p.Objects("registers", len(in.Registers), func(i int) {
		p.Str("name", in.Registers[i].Name)
		p.hex("value", in.Registers[i].Value)
	})
	p.StrOrNull("text", in.Text)
}
