package dumptest

import (
	"encoding/binary"
	"fmt"
)

// Sentry is a dump of sentry-native's own writer: a program that crashed by SIGSEGV at 0x10, in its
// code at 0x1010, called from 0x2020. The program has headers up to 0x1000, code up to 0x3000, and
// data up to 0x5000.
//
// Source: sentry-native, src/backends/native/minidump/sentry_minidump_linux.c and …_macos.c.
type Sentry struct {
	// Release is one of those that brought another layout. 132 and 133 list mappings of code. 132
	// adds 0x40000000 to the signal. 133 has the memory maps in the stream of the auxiliary vector.
	// 134 lists programs. 138 (macOS) swaps the bytes of the id. 142 has the streams of Breakpad's
	// writer, and the stacks in the memory list too. 150 has Mach exceptions on macOS.
	Release int
	Mode    string // stack, smart or full
	CPU     string // amd64, arm64, x86, arm; on Mac the first two
	Mac     bool
	ID      []byte // the build id, or the UUID as the file has it
}

// Base is where the program begins in memory, Stack where the captured stack does.
func (s Sentry) Base() uint64 {
	if s.word() == 4 {
		return 0x56550000
	}
	return 0x565500000000
}

func (s Sentry) Stack() uint64 { return s.Base() + 0x10000000 }

func (s Sentry) word() int {
	if s.CPU == "x86" || s.CPU == "arm" {
		return 4
	}
	return 8
}

// Maps is /proc/PID/maps of the program, with its path as the system has it.
func (s Sentry) Maps() string {
	out := ""
	for _, l := range []struct {
		from, to, offset uint64
		perms, path      string
	}{{0, 0x1000, 0, "r--p", "/opt/app"}, {0x1000, 0x3000, 0x1000, "r-xp", "/opt/app"}, {0x3000, 0x5000, 0x3000, "rw-p", "/opt/app"},
		{0x10000000, 0x10001000, 0, "rw-p", "[stack]"}} {
		inode := 7
		if l.path[0] == '[' {
			inode = 0
		}
		out += fmt.Sprintf("%08x-%08x %s %08x 08:01 %d    %s\n", s.Base()+l.from, s.Base()+l.to, l.perms, l.offset, inode, l.path)
	}
	return out
}

// header is the ELF header and the program headers: Elf64_Ehdr 64 and Elf64_Phdr 56, or Elf32_Ehdr
// 52 and Elf32_Phdr 32.
func (s Sentry) header() []byte {
	h := make([]byte, 0x1000)
	le := binary.LittleEndian
	copy(h, "\x7fELF\x02\x01\x01")
	at, size := 64, 56
	if s.word() == 4 {
		h[4], at, size = 1, 52, 32
		le.PutUint32(h[28:], uint32(at))
		le.PutUint16(h[42:], uint16(size))
		le.PutUint16(h[44:], 3)
	} else {
		le.PutUint64(h[32:], uint64(at))
		le.PutUint16(h[54:], uint16(size))
		le.PutUint16(h[56:], 3)
	}
	for _, g := range [][3]uint64{{0, 0x800, 4}, {0x1000, 0x1f00, 5}, {0x3000, 0x1800, 6}} {
		p := h[at:]
		le.PutUint32(p, 1) // PT_LOAD
		if s.word() == 4 {
			le.PutUint32(p[8:], uint32(g[0]))
			le.PutUint32(p[20:], uint32(g[1]))
			le.PutUint32(p[24:], uint32(g[2]))
		} else {
			le.PutUint32(p[4:], uint32(g[2]))
			le.PutUint64(p[16:], g[0])
			le.PutUint64(p[40:], g[1])
		}
		at += size
	}
	return h
}

// Bytes returns the dump.
func (s Sentry) Bytes() []byte {
	number := map[string]uint16{"amd64": CPUAMD64, "arm64": CPUARM64, "x86": CPUX86, "arm": CPUARM}[s.CPU]
	pc, sp := map[string]string{"amd64": "rip", "arm64": "pc", "x86": "eip", "arm": "pc"}[s.CPU], map[string]string{"amd64": "rsp", "arm64": "sp", "x86": "esp", "arm": "sp"}[s.CPU]
	regs := map[string]uint64{pc: s.Base() + 0x1010, sp: s.Stack()}
	if s.CPU == "arm" {
		regs["lr"] = s.Base() + 0x2020
	}
	context := Context(LittleEndian, s.CPU, regs)
	stack := make([]byte, 0x1000)
	if s.word() == 4 {
		binary.LittleEndian.PutUint32(stack[4:], uint32(s.Base()+0x2020))
	} else {
		binary.LittleEndian.PutUint64(stack[8:], s.Base()+0x2020)
	}
	d := New(LittleEndian)
	system := System{Processor: number, Platform: OSLinux, CPUs: 4, CSD: "Linux 6.1.0 #1 SMP x86_64"}
	if s.Mac {
		system.Platform, system.CSD = OSMac, "Darwin 25.0"
	}
	d.System(system)
	ctxOff, stackOff := d.Put(context), d.Put(stack)
	d.ThreadAt(42, ctxOff, len(context), s.Stack(), stackOff, len(stack))
	d.ThreadAt(43, 0, 0, 0, 0, 0) // its registers could not be read
	listed := s.Release >= 142
	if listed && !s.Mac {
		d.MemoryAt(s.Stack(), stackOff, len(stack))
	}
	s.module(d)
	s.exception(d, context)
	switch {
	case s.Mode == "full":
		if !s.Mac {
			d.Memory(s.Base(), s.header())
		}
		d.Memory(s.Base()+0x1000, s.code()).Memory(s.Stack(), stack)
		d.MemoryAt(s.Base()+0x20000000, 0, 0) // [vvar] cannot be read
	case s.Mode == "smart":
		d.Memory(s.Base()+0x4000, make([]byte, 0x1000)) // [heap]
	case s.Mac || !listed:
		d.Stream(5, make([]byte, 4))
	}
	if s.Mac {
		r := d.w().u32(24).u32(1).u32(42).u32(0).u32(0).u32(0) // MINIDUMP_MISC_INFO
		d.Stream(15, r.b)
		if s.Release >= 150 {
			d.Entry(0, 0, 0) // thread names, if they could not be had
		}
		return d.Bytes()
	}
	switch {
	case s.Release >= 142:
		d.Stream(0x47670009, []byte(s.Maps())).Stream(0x47670004, []byte("Name:\tapp\nPid:\t42\n"))
		d.ThreadName(42, "app").ThreadName(43, "")
		d.Auxv(s.word(), [2]uint64{9, s.Base() + 0x1000}, [2]uint64{0, 0})
		for _, optional := range []uint32{0x47670003, 0x47670005, 0x47670006, 0x47670007, 0x4767000a} {
			d.Entry(optional, 0, 0)
		}
	case s.Release >= 133:
		d.Stream(0x47670008, []byte(s.Maps()))
	}
	return d.Bytes()
}

// code is the program's code: zeros, and on arm, where frames are found by it, the call.
func (s Sentry) code() []byte {
	p := make([]byte, 0x2000)
	if s.CPU == "arm" {
		binary.LittleEndian.PutUint32(p[0x101c:], 0xebfffbf7) // bl 0x1000
	}
	return p
}

// module writes the program's entry: its path, or from 0.13.4 on the name that it has for itself.
func (s Sentry) module(d *Dump) {
	switch {
	case s.Mac:
		id := s.ID
		if s.Release >= 138 {
			id = []byte{id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6], id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]}
		}
		d.Module(s.Base(), 0x5000, "/opt/app", Raw(d.w().u32(0x53445352).raw(id).u32(0).raw([]byte("/opt/app\x00")).b))
	case s.Release < 134:
		d.Module(s.Base()+0x1000, 0x2000, "/opt/app", ELF(s.ID))
	default:
		d.Module(s.Base(), 0x4800, "app.so.1", ELF(s.ID))
	}
}

// exception writes the signal: by its number, since 0.13.4 with its si_code (SEGV_MAPERR), and on
// macOS from 0.15.0 on as the exception that the system makes the signal of.
func (s Sentry) exception(d *Dump, context []byte) {
	switch {
	case s.Release == 132:
		d.Exception(42, 0x40000000|11, 0, 0x10, context)
	case s.Mac && s.Release >= 150:
		d.Exception(42, 1, 1, 0x10, context, 11, 0x10) // EXC_BAD_ACCESS, KERN_INVALID_ADDRESS
	case s.Mac || s.Release == 133:
		d.Exception(42, 11, 0, 0x10, context)
	default:
		d.Exception(42, 11, 1, 0x10, context)
	}
}
