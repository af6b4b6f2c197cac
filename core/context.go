package core

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// Context is a thread's registers at one moment.
type Context struct {
	Arch  *cpu.Arch
	Flags uint32
	// Regs are the general registers, all of them known.
	Regs cpu.Regs
	// Extra are the flag, segment, floating-point and vector registers by name, in the order of the
	// context record.
	Extra []ExtraReg
	Loc   Location
	Short bool // the record lacks its end; see cpu.ContextLayout
}

// ExtraReg is a register that plays no part in unwinding.
type ExtraReg struct {
	Name  string
	Bytes []byte // little-endian, as wide as the register
}

// maxContext bounds a context record with everything that a CPU can append to it (AMX tiles take 8
// KiB).
const maxContext = 64 << 10

// Arch returns the CPU table of the dump's processor, or nil if this build has none for it. The
// contexts decide if SystemInfo is missing or names an unknown processor.
func (d *Dump) Arch() *cpu.Arch {
	if d.Registers != nil {
		return d.Registers.Arch
	}
	var named *cpu.Arch
	if d.System != nil {
		archs := archsOf(d.System.Processor)
		if len(archs) == 1 {
			return archs[0]
		}
		if len(archs) > 1 {
			named = archs[0] // if no context says more
		} else if otherProcessor(d.System.Processor) != "" {
			return nil
		}
	}
	if c, err := d.ExceptionContext(); err == nil {
		return c.Arch
	}
	for i := range min(len(d.Threads), 16) {
		if c, err := d.ThreadContext(i); err == nil {
			return c.Arch
		}
	}
	return named
}

// archsOf returns the CPUs that SystemInfo can mean by a processor number: several, where ports of
// the writers took the same one.
func archsOf(processor uint16) []*cpu.Arch {
	var out []*cpu.Arch
	for _, a := range cpu.All() {
		if slices.Contains(a.Processors, processor) {
			out = append(out, a)
		}
	}
	return out
}

// otherProcessor returns the name of a processor without a table, or "" if it is unknown.
func otherProcessor(number uint16) string {
	for _, p := range cpu.OtherProcessors {
		if p.Number == number {
			return p.Name
		}
	}
	return ""
}

// ThreadContext reads thread i's registers as the thread list has them. For the crashed thread
// these are usually those of the code that wrote the dump; see ExceptionContext. The error
// (*input.FormatError or *input.NeedError) says what is wrong.
func (d *Dump) ThreadContext(i int) (*Context, error) {
	if i < 0 || i >= len(d.Threads) {
		return nil, &input.FormatError{File: d.Src.Name, Part: StreamThreadList.part(), Offset: -1,
			Want: fmt.Sprintf("a thread number below %d", len(d.Threads)), Have: fmt.Sprint(i)}
	}
	t := &d.Threads[i]
	return d.registers(t.in, t.ContextLoc, t.teb64, fmt.Sprintf("context of thread %d", t.ID))
}

// ExceptionContext reads the registers at the moment of the exception.
func (d *Dump) ExceptionContext() (*Context, error) {
	if d.Exception == nil {
		return nil, &input.FormatError{File: d.Src.Name, Part: "exception context", Offset: -1, Want: "an Exception stream", Have: "none"}
	}
	return d.ContextOf(d.Exception)
}

// ContextOf reads the registers at the moment of one of several exceptions.
func (d *Dump) ContextOf(e *Exception) (*Context, error) {
	return d.registers(e.in, e.ContextLoc, e.teb64, "exception context")
}

// ExceptionOf returns the exception that a thread had, whose registers are the thread's state; nil
// if it had none.
func (d *Dump) ExceptionOf(thread int) *Exception {
	t := &d.Threads[thread]
	if t.role == RoleLayer {
		return nil
	}
	if e := d.Exception; e == nil || e.ThreadID == t.ID {
		return e
	}
	if d.raw == nil {
		return nil // only the one that counts
	}
	if i, ok := d.indexThreads().exceptions[t.ID]; ok {
		return &d.Exceptions[i]
	}
	return nil
}

// readContext reads the context record at a location. Its layout is a table of the CPU (core/cpu),
// so this function has no case for a processor.
func (d *Dump) readContext(loc Location, part string) (*Context, error) {
	wrong := func(want, have string) error { return d.wrongContext(part, int64(loc.Off), want, have) }
	if loc.Size == 0 {
		return nil, wrong("a context record", "an empty one")
	}
	if !loc.In(d.Src.Size) {
		return nil, wrong(fmt.Sprintf("%d bytes", loc.Size), fmt.Sprintf("a file of %d bytes", d.Src.Size))
	}
	raw, err := d.Src.Bytes(int64(loc.Off), int64(min(loc.Size, maxContext)))
	if err != nil {
		return nil, err
	}
	watch := func(off, n int) { d.Src.NoteRead(part, int64(loc.Off)+int64(off), int64(n)) }
	l, err := d.chooseLayout(raw, wrong)
	if err != nil {
		return nil, err
	}
	c := d.parseContext(raw, l, watch)
	c.Loc = loc
	if l.XState && c.Flags&contextXState != 0 {
		c.Extra = append(c.Extra, d.xstate(raw, l, watch)...)
	}
	return c, d.addSets(c)
}

// wrongContext is the error of a context that cannot be read.
func (d *Dump) wrongContext(part string, off int64, want, have string) error {
	return &input.FormatError{File: d.Src.Name, Part: part, Offset: off, Want: want, Have: have}
}

// parseContext takes the registers out of a record. watch is called with each range of bytes that
// is read.
func (d *Dump) parseContext(raw []byte, l *cpu.ContextLayout, watch func(off, n int)) *Context {
	c := &Context{Arch: l.Arch, Flags: l.Flags(raw, d.Header.Order), Short: l.Short, Regs: cpu.Regs{Arch: l.Arch}}
	watch(l.FlagsAt, l.FlagsSize())
	fields := l.Fields()
	c.Extra = make([]ExtraReg, 0, len(fields))
	for _, f := range fields {
		watch(f.Off, f.Size)
		switch {
		case f.Reg != cpu.NoReg:
			v, _ := decodeWord(raw[f.Off:f.Off+f.Size], d.Header.Order)
			c.Regs.Set(f.Reg, v)
		// "_" is padding.
		case f.Name != "_":
			c.Extra = append(c.Extra, d.extra(raw, f))
		}
	}
	if l.Arch.ThumbBit {
		c.Regs.Mode = cpu.ModeOf(c.extra("cpsr"))
	}
	return c
}

// extra cuts a register out of a record and puts its bytes into little-endian order.
func (d *Dump) extra(raw []byte, f cpu.Field) ExtraReg {
	p := raw[f.Off : f.Off+f.Size : f.Off+f.Size]
	if d.Header.Order == binary.ByteOrder(binary.BigEndian) {
		p = slices.Clone(p)
		slices.Reverse(p)
	}
	return ExtraReg{f.Name, p}
}

const (
	// contextCPUMask are the bits of ContextFlags that tell the CPU; the lower ones say which parts
	// are filled in.
	contextCPUMask = 0xffffff00
	// contextXState says that extended state follows the record.
	contextXState = 0x40
)

// chooseLayout finds the kind of record. As in both peers SystemInfo's processor decides where it
// is known, because the flags are not at the same offset in all records, and the flags must agree;
// a record without any CPU flag (written by RtlCaptureContext) is taken at SystemInfo's word. Of
// several that fit, the longest is the one. Without a processor, flags and size together must fit
// one kind.
func (d *Dump) chooseLayout(raw []byte, wrong func(want, have string) error) (*cpu.ContextLayout, error) {
	if l := d.Registers; l != nil {
		if len(raw) < l.Size {
			return nil, wrong(fmt.Sprintf("%d bytes of %s registers", l.Size, l.What), fmt.Sprintf("%d", len(raw)))
		}
		return l.ContextLayout, nil
	}
	proc := uint16(ProcUnknown)
	if d.System != nil {
		proc = d.System.Processor
	}
	flagsOf := func(l *cpu.ContextLayout) uint32 { return l.Flags(raw, d.Header.Order) }
	var bySystem, best *cpu.ContextLayout
	for _, a := range archsOf(proc) {
		for _, l := range a.Contexts {
			// Several kinds of records may have one processor number; usual is the one that its
			// writers use.
			usual := l.Usual == proc
			if bySystem == nil || usual {
				bySystem = l
			}
			flags := flagsOf(l)
			if len(raw) >= l.Size && !(l.Short && len(raw) > l.Size) && (flags&l.Flag != 0 || flags&contextCPUMask == 0 && usual) && (best == nil || l.Size > best.Size) {
				best = l
			}
		}
	}
	if best != nil {
		return best, nil
	}
	// The processor is known and no record of it fits: the message says which one is expected.
	if l := bySystem; l != nil {
		if len(raw) < l.Size {
			return nil, wrong(fmt.Sprintf("%d bytes of %s context", l.Size, l.What), fmt.Sprintf("%d", len(raw)))
		}
		return nil, wrong(fmt.Sprintf("context flags with 0x%x (%s)", l.Flag, l.What), fmt.Sprintf("0x%x", flagsOf(l)))
	}
	if name := otherProcessor(proc); name != "" {
		return nil, wrong("a context record of a CPU that is read", "one of "+name)
	}
	for _, a := range cpu.All() {
		for _, l := range a.Contexts {
			flags := flagsOf(l)
			// Compilers round the size up to 8 bytes.
			if len(raw) < l.Size || len(raw) > l.Size+7 && flags&contextXState == 0 {
				continue
			}
			if flags&contextCPUMask&^0xffff&l.Flag != 0 || flags&contextCPUMask == 0 && flags&l.CEFlag != 0 {
				return l, nil
			}
		}
	}
	return nil, wrong("a context record of a known CPU",
		fmt.Sprintf("%d bytes with flags 0x%x, and no processor in SystemInfo", len(raw), flagsOf(&cpu.ContextLayout{})))
}
