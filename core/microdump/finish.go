package microdump

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// finish makes the dump. Its Src is a file in memory: the bytes of the context, then those of the
// stack, to which its locations refer. They take less memory than their digits take of the log. What
// reads them draws from the log's Budget.
//
// In order: the file in memory; the exception and the thread; what core completes for any dump
// (Complete), such as the memory; the thread's stack, which needs the context; whether the stack is
// complete.
func (d *dump) finish(name string) *core.Dump {
	out := &d.core
	m := &d.micro
	out.Micro = m
	if !m.Complete {
		d.note(core.Warning, "", m.LastLine, "the line "+end, "none; the microdump is truncated")
	}
	data := append(d.context, d.memory...)
	for i := range d.regions {
		d.regions[i].Loc.Off += core.FileOff(len(d.context))
	}
	out.Src = d.r.src.DeriveBytes(name, data)
	context := core.Location{Size: uint64(len(d.context))}

	// A microdump is always of a crash, even if it has no reason. It has one thread, without an id.
	if out.Exception == nil {
		out.Exception = &core.Exception{}
	}
	out.Exception.ContextLoc = context
	out.Exceptions = []core.Exception{*out.Exception}
	if context.Size > 0 || len(d.regions) > 0 {
		out.Threads = []core.Thread{{ContextLoc: context}}
	}
	// Only little-endian machines write microdumps.
	out.Complete(binary.LittleEndian, d.regions)
	if len(out.Threads) > 0 {
		d.findStack(&out.Threads[0])
	}
	if have := uint64(len(d.memory)); m.Stack != nil && have != m.Stack.Size {
		d.note(core.Warning, "S", d.stackLine, fmt.Sprintf("%d bytes of stack", m.Stack.Size), fmt.Sprintf("%d", have))
	}
	return out
}

// findStack sets the thread's stack: the region that contains its stack pointer, else the first.
//
// If the context cannot be read, the stack pointer is that of the S record.
func (d *dump) findStack(t *core.Thread) {
	var sp uint64
	switch c, err := d.core.ThreadContext(0); {
	case err == nil:
		sp = c.Regs.SP()
	case d.contextLine > 0:
		why := err.Error()
		if fe, ok := err.(*input.FormatError); ok {
			d.note(core.Bad, "C", d.contextLine, fe.Want, fe.Have)
		} else {
			d.note(core.Bad, "C", d.contextLine, "", why)
		}
	default:
		d.note(core.Bad, "C", d.micro.LastLine, "a line with the context", "none up to here")
	}
	if sp == 0 && d.micro.Stack != nil {
		sp = d.micro.Stack.Pointer
	}
	for i, r := range d.regions {
		if i == 0 || r.Contains(sp) {
			t.StackStart, t.Stack = r.Start, r.Loc
		}
		if r.Contains(sp) {
			return
		}
	}
}
