package jsonreport

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/signature"
)

// crash is the schema's crash_info, with rust-minidump's own findings. Ours stand under "crashpane".
func (p *printer) crash() {
	c := p.r.Crash
	if c == nil {
		p.noCrash()
		return
	}
	a := &c.Analysis.Rust
	p.hex("address", c.RustAddress)
	if adj := a.Adjusted; adj != nil {
		p.object("adjusted_address", func() {
			if adj.Kind == "null-pointer" {
				p.str("kind", string(adj.Kind))
				p.hex("offset", adj.Address)
				return
			}
			p.hex("address", adj.Address)
			p.str("kind", string(adj.Kind))
		})
	} else {
		p.null("adjusted_address")
	}
	// The schema's emitter never fills this in; the text stands under "crashpane".
	p.null("assertion")
	p.list("crash_inconsistencies", len(a.Inconsistencies), func(i int) { p.quote(a.Inconsistencies[i]) })
	p.crashingThread()
	p.strOrNull("instruction", a.Instruction)
	if a.Jump != nil {
		p.object("instruction_pointer_update", func() { p.hex("address", *a.Jump) })
	} else {
		p.null("instruction_pointer_update")
	}
	if a.HasAccesses {
		p.list("memory_accesses", len(a.Accesses), func(i int) {
			m := &a.Accesses[i]
			p.member(func() {
				if m.Type != "" {
					p.str("access_type", m.Type)
				}
				p.hex("address", m.Address)
				if m.Guard {
					p.bool("is_likely_guard_page", true)
				}
				if m.Size != nil {
					p.int("size", int64(*m.Size))
				} else {
					p.null("size")
				}
			})
		})
	} else {
		p.null("memory_accesses")
	}
	if len(a.BitFlips) > 0 {
		p.list("possible_bit_flips", len(a.BitFlips), func(i int) {
			f := &a.BitFlips[i]
			p.member(func() {
				p.hex("address", f.Address)
				p.float("confidence", f.Confidence)
				p.object("details", func() {
					p.bool("is_null", f.Details.IsNull)
					p.int("nearby_registers", int64(f.Details.Nearby))
					p.bool("poison_registers", f.Details.Poison)
					p.bool("was_low", f.Details.WasLow)
					p.bool("was_non_canonical", f.Details.WasNonCanonical)
				})
				p.strOrNull("source_register", f.Register)
			})
		})
	} else {
		p.null("possible_bit_flips")
	}
	p.str("type", c.Reason.Rust)
}

func (p *printer) noCrash() {
	for _, k := range []string{"address", "adjusted_address", "assertion", "crash_inconsistencies"} {
		p.null(k)
	}
	p.crashingThread()
	for _, k := range []string{"instruction", "instruction_pointer_update", "memory_accesses", "possible_bit_flips", "type"} {
		p.null(k)
	}
}

func (p *printer) crashingThread() {
	if p.r.HasRequesting {
		p.int("crashing_thread", int64(p.r.FirstThread))
	} else {
		p.null("crashing_thread")
	}
}

// float writes a 32-bit number as serde_json does, which makes it one of 64 bits first: 0.6625000238418579.
func (p *printer) float(k string, v float32) {
	p.key(k)
	p.b.text(strconv.FormatFloat(float64(v), 'g', -1, 64))
}

// crashAdditions is the key "crash" under "crashpane": what we say of the crash.
//
//	analysis          {accesses[{access, address, base, guard, implicit, index, size}] or null, adjusted{address, kind, offset,
//	                  register} or null, bit_flips[{address, confidence, register}], cause: index into accesses or null,
//	                  instruction{address, module, registers[{name, value}], text} or null, jump{how, register, slot,
//	                  target} or null, place{end, guard, mapped, name, permissions, start} or null, stack_overflow}
//	guesses[]         sentences that may be wrong
//	params[], reason_breakpad, thread_id
//	place             {frame, inline}: the first call that is a user's, by index into the crashed thread's frames and, or null, the frame's
//	                  inlined calls; null without frames
//	signature         words by which equal crashes are grouped, as Mozilla's crash-stats makes them; null if there was no crash
//	requested         the process did not crash, a dump was asked for
//	sentence          what happened: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax"
func (p *printer) crashAdditions(c *report.Crash) {
	a := c.Analysis
	p.object("analysis", func() { p.analysis(c) })
	p.list("guesses", len(a.Guesses), func(i int) { p.quote(a.Guesses[i]) })
	p.list("params", len(c.Params), func(i int) { p.hexValue(c.Params[i]) })
	words, at := signature.OfReport(p.r, p.lists, func(n report.Name) string { return n.Shown() })
	if at.Frame >= 0 {
		p.object("place", func() {
			p.int("frame", int64(at.Frame))
			if at.Inline >= 0 {
				p.int("inline", int64(at.Inline))
			} else {
				p.null("inline")
			}
		})
	} else {
		p.null("place")
	}
	p.str("reason_breakpad", c.Reason.Breakpad)
	p.bool("requested", c.Requested)
	p.str("sentence", c.Sentence())
	p.strOrNull("signature", words)
	p.uint("thread_id", uint64(c.ThreadID))
}

func (p *printer) analysis(c *report.Crash) {
	a := c.Analysis
	if a.AccessesKnown && a.Instruction != nil {
		p.list("accesses", len(a.Accesses), func(i int) {
			m := &a.Accesses[i]
			p.member(func() {
				p.str("access", m.Kind.String())
				if m.AddressKnown {
					p.hex("address", m.Address)
				} else {
					p.null("address")
				}
				p.strOrNull("base", m.Base.Name)
				p.bool("guard", m.Guard)
				p.bool("implicit", m.Implicit)
				p.strOrNull("index", m.Index.Name)
				if m.Size > 0 {
					p.int("size", int64(m.Size))
				} else {
					p.null("size")
				}
			})
		})
	} else {
		p.null("accesses")
	}
	if adj := a.Adjusted; adj != nil {
		p.object("adjusted", func() {
			p.hex("address", adj.Address)
			p.str("kind", string(adj.Kind))
			p.int("offset", adj.Offset)
			p.strOrNull("register", adj.Register.Name)
		})
	} else {
		p.null("adjusted")
	}
	p.list("bit_flips", len(a.BitFlips), func(i int) {
		f := &a.BitFlips[i]
		p.member(func() {
			p.hex("address", f.Address)
			p.float("confidence", f.Confidence)
			p.strOrNull("register", f.Register)
		})
	})
	if a.Cause >= 0 {
		p.int("cause", int64(a.Cause))
	} else {
		p.null("cause")
	}
	if in := a.Instruction; in != nil {
		p.object("instruction", func() {
			p.hex("address", in.Address)
			if in.Module >= 0 {
				p.int("module", int64(in.Module))
			} else {
				p.null("module")
			}
			p.list("registers", len(in.Registers), func(i int) {
				p.member(func() {
					p.str("name", in.Registers[i].Name)
					p.hex("value", in.Registers[i].Value)
				})
			})
			p.strOrNull("text", in.Text)
		})
	} else {
		p.null("instruction")
	}
	if j := a.Jump; j != nil {
		p.object("jump", func() {
			p.str("how", j.How)
			p.strOrNull("register", j.Register.Name)
			if j.InMemory {
				p.hex("slot", j.Slot)
			} else {
				p.null("slot")
			}
			p.hex("target", j.Target)
		})
	} else {
		p.null("jump")
	}
	if m := a.Place; m != nil {
		p.object("place", func() {
			p.hex("end", m.End)
			p.bool("guard", m.Guard)
			p.bool("mapped", m.Mapped)
			p.strOrNull("name", report.BaseName(m.Name))
			p.str("permissions", m.Perms())
			p.hex("start", m.Start)
		})
	} else {
		p.null("place")
	}
	p.str("stack_overflow", [...]string{"no", "likely", "yes"}[min(a.Overflow, 2)])
}
