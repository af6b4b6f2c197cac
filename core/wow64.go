package core

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// A 32-bit program on 64-bit Windows runs inside of a 64-bit process (WOW64). A 64-bit tool, such
// as Task Manager, dumps that process: the registers in the dump are those of the 64-bit layer, in
// which a thread waits, or those of the processor in the program's own code. While a thread is in
// the layer, its own registers are in memory (winternl.h and the WRK's wow64tls.h; Microsoft
// documents the place under WOW64_CONTEXT):
//
//	TEB64 + 0x1480        TlsSlots, 64 × u64; slot 1 (WOW64_TLS_CPURESERVED) points to
//	WOW64_CPURESERVED     0 Flags u16 · 2 MachineType u16 · the context record, aligned

// Wow64 says that the process is a 32-bit one which a 64-bit tool has dumped. The threads that have
// their own registers are walked by them; what such a thread was doing in the layer is a thread of
// RoleLayer.
type Wow64 struct {
	// Host is the processor of the layer, Program that of the program; nil if the dump has no
	// thread's own registers.
	Host, Program *cpu.Arch
	// Lacking are the threads whose own registers the dump does not have, Left those that ran 32-bit
	// code, where the dump does not show what they had left in the layer.
	Lacking, Left []Lacking
}

// Lacking says why something of a thread is not known.
type Lacking struct {
	Thread int
	Why    string
}

// registersIn says where the registers of a thread or an exception are.
type registersIn uint8

const (
	inRecord    registersIn = iota // in the dump's record, of the processor that SystemInfo names
	inHalves                       // in the lower halves of the record's registers: it ran 32-bit code
	inSaved                        // in the process' memory
	inOwn                          // in the dump's record, which is one of the program's processor
	inSuspended                    // of the layer while 32-bit code runs (suspended)
)

const (
	tebTLS        = 0x1480 // TlsSlots
	tlsCPU        = 1      // WOW64_TLS_CPURESERVED
	codeSegment32 = 0x23   // cs of 32-bit code on 64-bit Windows
	stateAArch32  = 0x10   // PSTATE.nRW: the processor runs 32-bit code (Arm ARM, C5.2.19)
	// contextRequests are the flags that tell who asked for a context (CONTEXT_EXCEPTION_REQUEST
	// and its kin in winnt.h).
	contextRequests = 0xf8000000
	contextControl  = 1 // the record has pc and sp
	machineX86      = 0x14c
	machineARM      = 0x1c4
	// probed is how many threads are asked whether they run 32-bit code, where no module tells.
	probed = 16
)

// findWow64 gives the threads of a 32-bit process their own registers and stacks.
func (d *Dump) findWow64() {
	host := d.Arch()
	if d.OS() != Windows || host == nil || host.WordSize != 8 || !d.mayBeWow64() {
		return
	}
	d.narrow()
	w := &Wow64{Host: host}
	for i := range d.Threads {
		d.findOwn(w, i)
	}
	d.findFault(w)
	d.wow64 = w
	if w.Program == nil {
		return
	}
	s := *d.System
	s.host, s.Processor = s.Processor, w.Program.Processors[0]
	d.System = &s
	d.addLayers(w)
}

// mayBeWow64: the layer's modules are loaded, or a thread runs 32-bit code, or has a 32-bit TEB and
// saved registers.
func (d *Dump) mayBeWow64() bool {
	if d.hasModule("wow64.dll", "wow64cpu.dll") {
		return true
	}
	if c, err := d.ExceptionContext(); err == nil && programCode(c) != nil {
		return true
	}
	for i := range min(len(d.Threads), probed) {
		if c, err := d.ThreadContext(i); err == nil && programCode(c) != nil {
			return true
		}
		if _, why := d.saved(d.Threads[i].TEB); why == "" && d.programTEB(d.Threads[i].TEB) != 0 {
			return true
		}
	}
	return false
}

// programCode returns the processor of the 32-bit code that a context of a 64-bit processor is in,
// or nil.
func programCode(c *Context) *cpu.Arch {
	switch {
	case c.Arch == cpu.AMD64 && c.extra("cs") == codeSegment32:
		return cpu.X86
	case c.Arch == cpu.ARM64 && c.extra("cpsr")&stateAArch32 != 0:
		return cpu.ARM
	}
	return nil
}

// ExtraValue returns the low 8 bytes of a register among Extra; ok is false if it is not there.
func (c *Context) ExtraValue(name string) (v uint64, ok bool) {
	for i := range c.Extra {
		if c.Extra[i].Name == name {
			var p [8]byte
			copy(p[:], c.Extra[i].Bytes)
			return binary.LittleEndian.Uint64(p[:]), true
		}
	}
	return 0, false
}

// extra is ExtraValue, or 0.
func (c *Context) extra(name string) uint64 {
	v, _ := c.ExtraValue(name)
	return v
}

// findOwn finds a thread's own registers, and with them its stack.
func (d *Dump) findOwn(w *Wow64, i int) {
	t := &d.Threads[i]
	native, err := d.raw.ThreadContext(t.entry)
	switch {
	case err == nil && programCode(native) != nil:
		t.in = inHalves
	case err != nil && d.isOwn(t.ContextLoc):
		t.in = inOwn
	default:
		c, why := d.saved(t.TEB)
		if why == "" && err == nil {
			why = d.emulates(native, c.Arch)
		}
		if why != "" {
			w.Lacking = append(w.Lacking, Lacking{i, why})
			return
		}
		t.in, t.teb64 = inSaved, t.TEB
	}
	if c, err := d.ThreadContext(i); err == nil {
		w.Program = c.Arch
		d.stackAt(t, c.Regs.SP())
		t.TEB = d.programTEB(t.TEB)
	}
}

// emulates returns why saved registers are not those that a thread had, or "". On arm64, x86 code
// is translated, or was compiled for both (CHPE). While it runs, its registers are those of the
// emulator; they are saved when it calls the system.
func (d *Dump) emulates(native *Context, program *cpu.Arch) string {
	if native.Arch != cpu.ARM64 || program != cpu.X86 {
		return ""
	}
	pc := native.Regs.PC()
	m, _ := d.ModuleAt(pc)
	if m >= 0 && d.Modules[m].Base > 1<<32 && !strings.HasPrefix(strings.ToLower(FileName(d.Modules[m].Name)), "xtajit") {
		return ""
	}
	return fmt.Sprintf("it was running translated code at 0x%x, and the registers that its thread environment block names are older", pc)
}

// findFault finds the registers of the exceptions. If one happened in the layer itself, they are
// in its record; where the layer passed one on, they are the thread's own.
func (d *Dump) findFault(w *Wow64) {
	found := map[int]bool{}
	for k := range d.Exceptions {
		e := &d.Exceptions[k]
		native, err := d.raw.readContext(e.ContextLoc, "exception context")
		i := d.ThreadByID(e.ThreadID)
		switch {
		case err == nil && programCode(native) != nil:
			e.in = inHalves
		case err != nil && d.isOwn(e.ContextLoc):
			e.in = inOwn
		case err == nil && native.Regs.PC() == e.Address:
			continue
		case i >= 0 && d.Threads[i].in != inRecord:
			t := &d.Threads[i]
			e.in, e.teb64, e.ContextLoc = t.in, t.teb64, t.ContextLoc
		}
		c, err := d.ContextOf(e)
		if err != nil || e.in == inRecord {
			continue
		}
		w.Program = c.Arch
		if i >= 0 {
			d.stackAt(&d.Threads[i], c.Regs.SP())
			found[i] = true
		}
	}
	w.Lacking = slices.DeleteFunc(w.Lacking, func(l Lacking) bool { return found[l.Thread] })
}

// addLayers adds the second stack of each thread: that of the layer, and where an exception
// happened in it, the program's own.
func (d *Dump) addLayers(w *Wow64) {
	for i := range len(d.Threads) {
		t, e := &d.Threads[i], d.ExceptionOf(i)
		own := e != nil && e.in != inRecord
		if t.in == inRecord {
			t.TEB = d.programTEB(t.TEB)
		}
		second := d.raw.Threads[t.entry]
		if t.in == inHalves && (e == nil || own) {
			second.in, second.teb64 = inSuspended, second.TEB
			c, why := d.suspended(second.ContextLoc, second.TEB)
			if why != "" {
				w.Left = append(w.Left, Lacking{i, why})
				continue
			}
			d.stackAt(&second, c.Regs.SP())
		} else if t.in != inSaved && !(t.in == inRecord && own) {
			continue
		}
		if e != nil && !own {
			second, *t = *t, second
			t.TEB = second.TEB
		}
		second.TEB = 0 // what is read of a TEB is the program's
		second.role, second.under = RoleLayer, i
		d.Threads = append(d.Threads, second)
	}
}

// ProcessorOf returns the number of the processor that an exception happened on: that of the layer
// of a 32-bit process, if it was there.
func (d *Dump) ProcessorOf(e *Exception) uint16 {
	if d.System.host != 0 && e.in == inRecord {
		return d.System.host
	}
	return d.System.Processor
}

// ownRecord reads a record that is one of a 32-bit program.
func (d *Dump) ownRecord(loc Location, part string) (c *Context, err error) {
	for _, a := range []*cpu.Arch{cpu.X86, cpu.ARM} {
		c, err = d.as(a).readContext(loc, part)
		if err == nil && c.Flags&contextCPUMask != 0 {
			return c, nil
		}
	}
	if err == nil {
		err = d.wrongContext(part, int64(loc.Off), "context flags of a 32-bit processor", "none")
	}
	return nil, err
}

// isOwn reports whether a record is one of a 32-bit program.
func (d *Dump) isOwn(loc Location) bool {
	_, err := d.ownRecord(loc, "")
	return err == nil
}

// as returns the dump as that of another processor, for reading its context records.
func (d *Dump) as(a *cpu.Arch) *Dump {
	n := Dump{Src: d.Src, Header: d.Header, Misc: d.Misc, System: &SystemInfo{Processor: a.Processors[0]}}
	return &n
}

// halves makes the registers of 32-bit code of those of the 64-bit processor that ran it: by name
// on amd64, where eax is the lower half of rax; r0 to r14 are x0 to x14 on arm64 (Arm ARM, D1.20).
func halves(c *Context) *Context {
	a := programCode(c)
	if a == nil {
		return c
	}
	l := a.Contexts[0]
	out := &Context{Arch: a, Flags: l.Flag | contextControl, Loc: c.Loc, Regs: cpu.Regs{Arch: a}}
	for i, name := range a.Names {
		wide := name
		switch {
		case name == "efl":
			wide = "eflags"
		case a == cpu.X86:
			wide = "r" + name[1:]
		case name == "fp", name == "sp", name == "lr":
			wide = "x" + map[string]string{"fp": "11", "sp": "13", "lr": "14"}[name]
		case name != "pc":
			wide = "x" + name[1:]
		}
		v := c.extra(wide)
		if r, ok := c.Arch.Lookup(wide); ok {
			v, _ = c.Regs.Get(r)
		}
		out.Regs.Set(cpu.Reg(i), uint64(uint32(v)))
	}
	for _, f := range l.Fields() {
		wide := slices.IndexFunc(c.Extra, func(x ExtraReg) bool { return x.Name == strings.TrimPrefix(f.Name, "fx_") })
		if f.Reg == cpu.NoReg && wide >= 0 {
			p := make([]byte, f.Size)
			copy(p, c.Extra[wide].Bytes)
			out.Extra = append(out.Extra, ExtraReg{f.Name, p})
		}
	}
	return out
}

// saved reads the registers that the layer saved for a thread. why says what is missing, or wrong
// with them.
func (d *Dump) saved(teb uint64) (c *Context, why string) {
	slot := teb + tebTLS + 8*tlsCPU
	at, ok := d.Memory.Word(slot, 8)
	switch {
	case teb == 0:
		return nil, "the dump does not say where its thread environment block (TEB) is"
	case slot < teb, !ok:
		return nil, fmt.Sprintf("the dump does not hold its thread environment block (TEB) at 0x%x", teb)
	case at == 0:
		return nil, fmt.Sprintf("its thread environment block (TEB) at 0x%x names no saved registers: it runs 64-bit code alone", teb)
	}
	head := make([]byte, 4)
	if d.Memory.Read(at, head) < len(head) {
		return nil, fmt.Sprintf("the dump does not hold its saved registers at 0x%x", at)
	}
	a, align := cpu.X86, uint64(4)
	switch machine := binary.LittleEndian.Uint16(head[2:]); machine {
	case machineX86, 0: // Windows before 10 has no machine there
	case machineARM:
		a, align = cpu.ARM, 8
	default:
		return nil, fmt.Sprintf("what its thread environment block names as saved registers, at 0x%x, is of the unknown machine 0x%x", at, machine)
	}
	at = (at + 4 + align - 1) &^ (align - 1)
	l := a.Contexts[0]
	raw := make([]byte, l.Size)
	if n := d.Memory.Read(at, raw); n < l.Size {
		return nil, fmt.Sprintf("the dump holds %d of the %d bytes of its saved registers at 0x%x", n, l.Size, at)
	}
	flags := l.Flags(raw, d.Header.Order)
	if flags&contextCPUMask&^contextRequests != l.Flag || flags&contextControl == 0 {
		return nil, fmt.Sprintf("what its thread environment block names as saved registers, at 0x%x, is not a context of %s: its flags are 0x%x", at, a.Name, flags)
	}
	c = d.parseContext(raw, l, func(int, int) {})
	if a == cpu.X86 && c.extra("cs") != codeSegment32 {
		return nil, fmt.Sprintf("the saved registers at 0x%x are not of 32-bit code: cs is 0x%x", at, c.extra("cs"))
	}
	if r, ok := d.Memory.Region(at); ok {
		c.Loc = Location{Off: r.Loc.Off + FileOff(at-r.Start), Size: uint64(l.Size)}
	}
	return c, ""
}

// programTEB returns the 32-bit TEB of a thread, which the first word of the 64-bit one points to,
// and which points to itself (NT_TIB.Self); 0 if the dump does not have it.
func (d *Dump) programTEB(teb uint64) uint64 {
	at, ok := d.Memory.Word(teb, 8)
	if self, has := d.Memory.Word(at+0x18, 4); ok && has && self == at {
		return at
	}
	return 0
}

// registers reads the registers of a thread or an exception of a normalized dump from where they
// are.
func (d *Dump) registers(in registersIn, loc Location, teb64 uint64, part string) (*Context, error) {
	if d.raw == nil {
		return d.readContext(loc, part)
	}
	switch in {
	case inSaved:
		c, why := d.saved(teb64)
		if why != "" {
			return nil, d.wrongContext(part, 0, "saved registers", why)
		}
		return c, nil
	case inSuspended:
		c, why := d.suspended(loc, teb64)
		if why != "" {
			return nil, d.wrongContext(part, int64(loc.Off), "what the 64-bit layer goes on with", why)
		}
		return c, nil
	case inOwn:
		return d.ownRecord(loc, part)
	}
	source := d
	if d.wow64 != nil {
		source = d.raw // System names the program's processor
	}
	c, err := source.readContext(loc, part)
	if err == nil && in == inHalves {
		c = halves(c)
	}
	if err == nil {
		d.narrowRegs(c)
	}
	return c, err
}
