package microdump

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// finish makes the dump out of what was read. The context's bytes and those of the stack, one behind the other, are the file that the
// dump's locations point into.
func (d *dump) finish(name string) *core.Dump {
	out := &d.core
	m := &d.micro
	out.Micro = m
	if !m.Complete {
		d.note(core.Warning, "", m.LastLine, "the line "+end, "none; the microdump is cut off")
	}
	data := append(d.context, d.memory...)
	for i := range d.regions {
		d.regions[i].Loc.Off += core.FileOff(len(d.context))
	}
	out.Src = input.FromBytes(name, data)
	context := core.Location{Size: uint64(len(d.context))}

	// A microdump is of a crash, even if it does not say of which; and "S 0" is all there is of a thread's number.
	if out.Exception == nil {
		out.Exception = &core.Exception{}
	}
	out.Exception.ContextLoc = context
	if context.Size > 0 || len(d.regions) > 0 {
		out.Threads = []core.Thread{{ContextLoc: context}}
	}
	// Microdumps are only written on little-endian machines.
	out.Complete(binary.LittleEndian, d.regions)
	if len(out.Threads) > 0 {
		d.place(&out.Threads[0])
	}
	if have := uint64(len(d.memory)); m.Stack != nil && have != m.Stack.Size {
		d.note(core.Warning, "S", d.stackLine, fmt.Sprintf("%d bytes of stack", m.Stack.Size), fmt.Sprintf("%d", have))
	}
	return out
}

// place finds the thread's stack among the regions: the one that its stack pointer points into, else the first.
func (d *dump) place(t *core.Thread) {
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
