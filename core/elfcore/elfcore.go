// Package elfcore reads the core files of Linux: what the kernel, gdb's gcore and systemd-coredump write of
// a process, as a core.Dump like that of a minidump. Registers, memory and the signal are read from the
// core where they are; modules are those of the list of mapped files whose ELF header is in the memory.
//
// Sources of the format: the kernel's fs/binfmt_elf.c (elf_core_dump, fill_note_info, fill_files_note),
// include/linux/elfcore.h (elf_prstatus, elf_prpsinfo), include/uapi/asm-generic/siginfo.h; GDB's
// gdb/linux-tdep.c for gcore.
//
// Start at Read.
package elfcore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// Types of notes (include/uapi/linux/elf.h).
const (
	noteStatus  = 1          // NT_PRSTATUS
	noteProcess = 3          // NT_PRPSINFO
	noteAuxv    = 6          // NT_AUXV
	noteSignal  = 0x53494749 // NT_SIGINFO
	noteFiles   = 0x46494c45 // NT_FILE
	noteXSave   = 0x205      // NT_X86_XSAVE_LAYOUT

	notePStatus, noteLWPStatus = 10, 16 // of Solaris (sys/elf.h)
)

const (
	maxSegments = 1 << 20 // the kernel's limit of a process' mappings is 65,530 unless it is raised
	maxThreads  = 50_000
	maxFiles    = 200_000
	maxAux      = 4096
)

// Read reads a core file. What is wrong with a part of it is in the Dump's Diags. The error is for files
// that are not a core of Linux, or whose headers cannot be read (*input.FormatError), and for bytes that the
// source does not have yet (*input.NeedError).
func Read(src *input.Source) (*core.Dump, error) {
	f, err := openELF(src, maxSegments)
	if err != nil {
		return nil, err
	}
	if f.kind != kindCore {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 16, Want: "a core file (4)", Have: fmt.Sprintf("a file of type %d", f.kind)}
	}
	class := 8 * int(f.wordSize())
	arch := cpu.ByELF(f.machine, class, f.flags)
	if arch == nil || arch.CoreLayout() == nil {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 18, Want: "a processor whose cores are read", Have: fmt.Sprintf("number %d, %d bits", f.machine, class)}
	}
	r := &reader{elf: f, dump: &core.Dump{Src: src, Registers: &core.CoreRegisters{ContextLayout: arch.CoreLayout(), Sets: map[core.FileOff][]core.CoreSet{}}}}
	processor := uint16(core.ProcUnknown)
	if len(arch.Processors) > 0 {
		processor = arch.Processors[0]
	}
	r.dump.System = &core.SystemInfo{Processor: processor, PlatformID: 0x8201, OS: core.OSLinux}
	r.readNotes()
	if r.need != nil {
		return nil, r.need
	}
	if r.other != "" {
		return nil, &input.FormatError{File: src.Name, Part: "notes", Offset: -1, Want: "a core of Linux", Have: "one of " + r.other}
	}
	r.mapSegments()
	r.dump.Complete(f.order, r.memory)
	r.placeStacks()
	if len(r.files) == 0 {
		r.filesOfMemory()
	}
	r.findModules()
	return r.dump, r.need
}

// reader makes a core.Dump of a core.
type reader struct {
	*elf
	dump   *core.Dump
	memory []core.Region
	files  []mapped
	need   error
	other  string // the system that wrote the core, if it is not Linux

	processName string // the first 15 bytes of it
}

// mapped is a range of addresses with a file's contents.
type mapped struct {
	start, end, offset uint64
	path               string
}

func (r *reader) problem(sev core.Severity, part string, at int64, want, have string) {
	r.dump.AddDiagnostic(sev, &input.FormatError{File: r.src.Name, Part: part, Offset: at, Want: want, Have: have})
}

// failed records why a part could not be read.
func (r *reader) failed(err error) {
	if err == nil {
		return
	}
	if fe, ok := err.(*input.FormatError); ok {
		r.dump.AddDiagnostic(core.Bad, fe)
		return
	}
	r.need = cmp.Or(r.need, err)
}

// needed keeps an error that says that bytes are not there yet.
func (r *reader) needed(err error) {
	var need *input.NeedError
	if errors.As(err, &need) {
		r.need = cmp.Or(r.need, err)
	}
}

// otherSystems are the names of notes in the cores of other systems.
var otherSystems = map[string]string{"FreeBSD": "FreeBSD", "OpenBSD": "OpenBSD", "NetBSD-CORE": "NetBSD", "QNX": "QNX", "VMCOREINFO": "the Linux kernel itself"}

func (r *reader) readNotes() {
	if r.unread > 0 {
		r.problem(core.Bad, "program headers", -1, fmt.Sprintf("%d program headers", uint64(len(r.segments))+r.unread), fmt.Sprintf("room for %d", len(r.segments)))
	}
	for i := range r.segments {
		s := &r.segments[i]
		if s.kind != segmentNote {
			continue
		}
		r.failed(r.notes("notes", int64(s.offset), int64(min(s.inFile, 1<<62)), func(n note) bool {
			if r.other = otherSystems[n.name]; n.name == "CORE" && (n.kind == notePStatus || n.kind == noteLWPStatus) {
				r.other = "Solaris"
			}
			if r.other != "" {
				return false
			}
			r.note(&n)
			return true
		}))
	}
}

// note reads a note. The kernel writes a thread's status before what else it has of the thread, and the
// thread that the signal ended first.
func (r *reader) note(n *note) {
	c := func(what string) *input.Cursor { return input.NewCursor(r.src, what, n.at, n.size, r.order) }
	switch {
	case n.name != "CORE" && n.name != "LINUX" || r.set(n):
		return
	case n.kind == noteXSave:
		r.features(c("NT_X86_XSAVE_LAYOUT"))
	}
	if n.name != "CORE" {
		return
	}
	switch n.kind {
	case noteStatus:
		r.status(n, c("NT_PRSTATUS"))
	case noteProcess:
		r.process(n, c("NT_PRPSINFO"))
	case noteSignal:
		r.signal(c("NT_SIGINFO"))
	case noteFiles:
		r.mappedFiles(n, c("NT_FILE"))
	case noteAuxv:
		r.auxv(n, c("NT_AUXV"))
	}
}

// status reads a thread's elf_prstatus:
//
//	0 si_signo u32 · si_code u32 · si_errno u32 · 12 pr_cursig u16 · padding · pr_sigpend, pr_sighold words ·
//	pr_pid, pr_ppid, pr_pgrp, pr_sid u32 · four times of two words · pr_reg
func (r *reader) status(n *note, c *input.Cursor) {
	c.Skip(12)
	signal := c.U16()
	c.Skip(2)
	r.word(c)
	r.word(c)
	t := core.Thread{ID: c.U32()}
	c.Skip(12 + 8*r.wordSize())
	if c.Err() != nil {
		r.failed(c.Err())
		return
	}
	if len(r.dump.Threads) == maxThreads {
		r.problem(core.Warning, "NT_PRSTATUS", n.at, fmt.Sprintf("at most %d threads", maxThreads), "more; the rest is left out")
	}
	if len(r.dump.Threads) >= maxThreads {
		return
	}
	size := uint64(r.dump.Registers.Size)
	t.ContextLoc = core.Location{Off: core.FileOff(c.Off()), Size: min(size, uint64(n.at+n.size-c.Off()))}
	r.dump.Threads = append(r.dump.Threads, t)
	r.exception(core.Exception{Code: uint32(signal)})
}

// set keeps a note with further registers of the thread whose status came last, and says whether it is one.
func (r *reader) set(n *note) bool {
	regs := r.dump.Registers
	for i := range regs.Arch.CoreSets {
		s := &regs.Arch.CoreSets[i]
		if s.Type != n.kind {
			continue
		}
		if threads := r.dump.Threads; len(threads) > 0 {
			at := threads[len(threads)-1].ContextLoc.Off
			if !slices.ContainsFunc(regs.Sets[at], func(had core.CoreSet) bool { return had.Set == s }) {
				regs.Sets[at] = append(regs.Sets[at], core.CoreSet{Loc: core.Location{Off: core.FileOff(n.at), Size: uint64(n.size)}, Set: s})
			}
		}
		return true
	}
	return false
}

// features reads where the processor's XSAVE puts each feature: number, size, offset and flags, u32 each
// (struct x86_xfeat_component in arch/x86/include/uapi/asm/elf.h).
func (r *reader) features(c *input.Cursor) {
	const most = 64 // features
	for c.Left() >= 16 && len(r.dump.Registers.Features) < most {
		f := core.XStateFeature{Index: c.U32(), Size: c.U32(), Offset: c.U32()}
		c.Skip(4)
		r.dump.Registers.Features = append(r.dump.Registers.Features, f)
	}
	r.failed(c.Err())
}

// coreSignals are the signals for which the kernel writes a core (include/linux/signal.h,
// SIG_KERNEL_COREDUMP_MASK), by the numbers of the processor: of MIPS, of SPARC, of all others. A core with
// another one was asked for: gcore stops a process by SIGSTOP.
var coreSignals = map[string][]uint32{
	"mips": {3, 4, 5, 6, 7, 8, 10, 11, 12, 30, 31}, "sparc": {3, 4, 5, 6, 7, 8, 10, 11, 12, 24, 25}, "": {3, 4, 5, 6, 7, 8, 11, 24, 25, 31},
}

// exception says which signal ended the process: that of the first thread.
func (r *reader) exception(e core.Exception) {
	signals, ok := coreSignals[r.dump.Registers.Arch.FamilyName()]
	if !ok {
		signals = coreSignals[""]
	}
	if len(r.dump.Threads) != 1 || !slices.Contains(signals, e.Code) {
		return
	}
	t := &r.dump.Threads[0]
	e.ThreadID, e.ContextLoc = t.ID, t.ContextLoc
	r.dump.Exceptions = []core.Exception{e}
	r.dump.Exception = &r.dump.Exceptions[0]
}

// signal reads the siginfo_t of the thread whose status came last: si_signo, si_errno and si_code (on MIPS
// si_code, si_errno), u32 each, and aligned to a word si_addr, or of a signal that was sent si_pid and si_uid.
func (r *reader) signal(c *input.Cursor) {
	signal, a, b := c.U32(), c.U32(), c.U32()
	if r.dump.Registers.Arch.FamilyName() == "mips" {
		a, b = b, a
	}
	if r.wide {
		c.Skip(4)
	}
	address := uint64(0)
	if sent := int32(b) <= 0; sent { // as Breakpad's client has it, which copies a little-endian si_addr
		address = uint64(c.U32()) | uint64(c.U32())<<32
	} else {
		address = r.word(c)
	}
	if c.Err() != nil {
		r.failed(c.Err())
		return
	}
	r.exception(core.Exception{Code: signal, Flags: b, Address: address, CodeKnown: true})
}

// process reads elf_prpsinfo, whose end is the same for all processors: pr_pid, pr_ppid, pr_pgrp, pr_sid u32 ·
// pr_fname 16 bytes · pr_psargs 80 bytes.
func (r *reader) process(n *note, c *input.Cursor) {
	const end = 16 + 16 + 80
	if n.size < end {
		c.Fail(fmt.Sprintf("at least %d bytes", end), fmt.Sprintf("%d", n.size))
		r.failed(c.Err())
		return
	}
	c.Skip(n.size - end)
	l := &r.dump.Linux
	l.PID, l.HasPID = c.U32(), true
	c.Skip(12)
	name, _, _ := strings.Cut(string(c.Bytes(16)), "\x00")
	r.processName = strings.ToValidUTF8(name, "\uFFFD")
	l.CmdLine = core.Location{Off: core.FileOff(n.at + n.size - 80), Size: 80}
}

// auxv reads pairs of words up to AT_NULL.
func (r *reader) auxv(n *note, c *input.Cursor) {
	l := &r.dump.Linux
	l.Auxv = core.Location{Off: core.FileOff(n.at), Size: uint64(n.size)}
	for c.Left() >= 2*r.wordSize() && len(l.Aux) < maxAux {
		e := core.AuxEntry{Type: r.word(c), Value: r.word(c)}
		if c.Err() != nil || e.Type == 0 {
			break
		}
		l.Aux = append(l.Aux, e)
	}
}

// mappedFiles reads count and page size, words; for each file start, end and the offset in pages; and their
// paths, each with a 0 at its end.
func (r *reader) mappedFiles(n *note, c *input.Cursor) {
	count, page := r.word(c), r.word(c)
	if fit := uint64(c.Left() / (3 * r.wordSize())); count > min(fit, maxFiles) {
		r.problem(core.Bad, "NT_FILE", n.at, fmt.Sprintf("%d files", count), fmt.Sprintf("room for %d", min(fit, maxFiles)))
		count = min(fit, maxFiles)
	}
	files := make([]mapped, 0, count)
	for range count {
		files = append(files, mapped{start: r.word(c), end: r.word(c), offset: r.word(c) * page})
	}
	paths := string(c.Bytes(c.Left()))
	if c.Err() != nil {
		r.failed(c.Err())
		return
	}
	for i := range files {
		path, rest, ok := strings.Cut(paths, "\x00")
		if !ok {
			r.problem(core.Bad, "NT_FILE", n.at, "a path for each file", fmt.Sprintf("%d for %d", i, len(files)))
			break
		}
		files[i].path, paths = strings.ToValidUTF8(path, "\uFFFD"), rest
	}
	slices.SortStableFunc(files, func(a, b mapped) int { return cmp.Compare(a.start, b.start) })
	r.files = files
}
