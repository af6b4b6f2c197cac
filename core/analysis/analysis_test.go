package analysis

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// openBytes opens a dump made in memory; nil if it is not a dump.
func openBytes(raw []byte) *core.Dump {
	d, err := core.Open(input.New("test.dmp", bytes.NewReader(raw), int64(len(raw))))
	if err != nil {
		return nil
	}
	return d
}

// scene is a crash to be made up: one thread (id 7, "worker") with code at 0x400010, 4 KiB of stack
// at 0x7000000, and data at 0x600000.
type scene struct {
	name        string
	cpu         uint16 // dumptest.CPU…; 0 for amd64
	x86         bool
	os          uint32
	code, flags uint32
	addr        uint64
	params      []uint64
	app         string // the program's file; "" for /bin/app
	insn        string // machine code; "" for none in the dump
	regs        map[string]uint64
	maps        string // of /proc/PID/maps; "" for none
	want        string
	guess       string // a part of the guesses; "" for none at all
	overflow    Certainty
}

const (
	linuxMaps = "00400000-00401000 r-xp 00000000 08:01 5 /bin/app\n00500000-00501000 r--p 00000000 08:01 5 /usr/lib/libfoo.so\n" +
		"00600000-00601000 rw-p 00000000 00:00 0 \n06fff000-07000000 ---p 00000000 00:00 0 \n07000000-07001000 rw-p 00000000 00:00 0 \n"
	sigill, sigabrt, sigfpe, sigsegv = 4, 6, 8, 11
	accessViolation                  = 0xc0000005
)

func with(pairs ...any) map[string]uint64 {
	m := map[string]uint64{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = uint64(pairs[i+1].(int))
	}
	return m
}

var big = uint64(0x6172747320746f6e)

var scenes = []scene{
	{name: "null plus offset", insn: "488b4010", flags: 1, addr: 0x10, want: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax"},
	{name: "null", insn: "c70005000000", flags: 1, addr: 0, want: "tried to write 4 bytes at 0x0: null pointer, in rax"},
	{name: "null minus", insn: "488b40f8", flags: 1, addr: 0xfffffffffffffff8, want: "tried to read 8 bytes at 0xfffffffffffffff8: null pointer minus 8, through rax"},
	{name: "null array", insn: "8b0488", flags: 1, addr: 0x400000, regs: with("rcx", 0x100000), want: "tried to read 4 bytes at 0x400000: null pointer in rax, indexed by rcx"},
	{name: "near null", insn: "8b00", flags: 1, addr: 0x18, regs: with("rax", 0x18), want: "tried to read 4 bytes at 0x18: close to a null pointer: rax is 0x18"},
	{name: "constant", insn: "8b042500000000", flags: 1, addr: 0, want: "tried to read 4 bytes at 0x0: null pointer, written in the instruction itself"},
	{name: "unmapped", insn: "8b00", flags: 1, addr: 0x12345678, regs: with("rax", 0x12345678), maps: linuxMaps, want: "tried to read 4 bytes at 0x12345678: no memory is mapped there, address in rax"},
	{name: "read-only", insn: "8910", flags: 2, addr: 0x500010, regs: with("rax", 0x500010), maps: linuxMaps, want: "tried to write 4 bytes at 0x500010: the memory there may only be read (libfoo.so), address in rax"},
	{name: "code", insn: "8910", flags: 2, addr: 0x400100, regs: with("rax", 0x400100), maps: linuxMaps, want: "tried to write 4 bytes at 0x400100: the memory there is code and may not be written (app), address in rax"},
	{name: "call of null", flags: 1, addr: 0, regs: with("rip", 0), want: "jumped to 0x0: null pointer"},
	{name: "jump into data", flags: 2, addr: 0x600010, regs: with("rip", 0x600010), maps: linuxMaps, want: "jumped to 0x600010: the memory there is data and may not be executed"},
	{name: "jump nowhere", flags: 1, addr: 0x12345678, regs: with("rip", 0x12345678), maps: linuxMaps, want: "jumped to 0x12345678: no memory is mapped there"},
	{name: "text as pointer", insn: "803948", flags: 0x80, addr: 0, regs: map[string]uint64{"rcx": big},
		want: "tried to read 1 byte at 0x6172747320746f6e: not an address that can exist, address in rcx; the system reports 0x0 instead", guess: `"not stra"`},
	{name: "return to text", insn: "c3", flags: 0x80, addr: 0, regs: with("rsp", 0x7000100),
		want: "tried to return to 0x4141414141414141: not an address that can exist; the system reports 0x0 instead", guess: `"AAAAAAAA"`},
	{name: "freed, of another runtime", insn: "8b00", flags: 0x80, regs: map[string]uint64{"rax": 0xdddddddddddddddd},
		want: "tried to read 4 bytes at 0xdddddddddddddddd: not an address that can exist, address in rax; the system reports 0x0 instead", guess: "was filled with one byte"},
	{name: "freed, of Python", app: "/usr/bin/python3.11", insn: "8b00", flags: 0x80, regs: map[string]uint64{"rax": 0xdddddddddddddddd},
		want: "tried to read 4 bytes at 0xdddddddddddddddd: not an address that can exist, address in rax; the system reports 0x0 instead", guess: "Python's debug allocator has freed"},
	{name: "call of freed", app: "/opt/firefox/firefox", insn: "ffd0", flags: 0x80, addr: 0, regs: map[string]uint64{"rax": 0xe5e5e5e5e5e5e5e5},
		want: "tried to call 0xe5e5e5e5e5e5e5e5: not an address that can exist, address in rax; the system reports 0x0 instead", guess: "Firefox's allocator has freed"},
	{name: "misaligned", insn: "0f2800", flags: 0x80, addr: 0, regs: with("rax", 0x600008), maps: linuxMaps,
		want: "tried to read 16 bytes at 0x600008: not a multiple of 16, which movaps needs, address in rax; the system reports 0x0 instead"},
	{name: "division by a register", code: sigfpe, flags: 1, addr: 0x400010, insn: "f7f9", want: "divided an integer by zero: ecx is 0"},
	{name: "division overflow", code: sigfpe, flags: 1, addr: 0x400010, insn: "f7f9", regs: with("rcx", 0xffffffff), want: "divided integers and the result does not fit: ecx is 0xffffffff, not 0"},
	{name: "division by memory", code: sigfpe, flags: 1, addr: 0x400010, insn: "f738", regs: with("rax", 0x600000), want: "divided an integer by zero: the divisor at 0x600000 is 0"},
	{name: "ud2", code: sigill, flags: 2, addr: 0x400010, insn: "0f0b", want: "executed an instruction with an illegal operand: ud2, which stops the program on purpose"},
	{name: "overflow, guard page", insn: "e800000000", flags: 2, addr: 0x6fffff8, regs: with("rsp", 0x7000000), maps: linuxMaps,
		want: "ran out of stack: it reached its guard page", overflow: Yes},
	{name: "a guard page far from the stack pointer", insn: "488b8424000000ff", flags: 2, addr: 0x6fff010, regs: with("rsp", 0x7fff010), maps: linuxMaps,
		want: "tried to read 8 bytes at 0x6fff010: a guard page, through rsp"},
	{name: "overflow, through another register", insn: "8b00", flags: 2, addr: 0x6fff800, regs: with("rax", 0x6fff800, "rsp", 0x7000f00), maps: linuxMaps,
		want: "ran out of stack: it reached its guard page", overflow: Yes},
	{name: "overflow, the stack is not in the dump", flags: 1, addr: 0x9000058, regs: with("rsp", 0x9000000),
		want: "probably ran out of stack: the stack pointer has left the stack, which the dump does not hold", overflow: Likely},
	{name: "far above a stack pointer that has left the stack", flags: 1, addr: 0x9020058, regs: with("rsp", 0x9000000), want: "tried to access memory at 0x9020058: nothing is mapped there"},
	{name: "above the stack pointer", flags: 1, addr: 0x7001058, regs: with("rsp", 0x7000f00), want: "tried to access memory at 0x7001058: nothing is mapped there"},
	{name: "sent by kill", insn: "89df", flags: 0, addr: 0x361b, want: "was sent SIGSEGV by process 13851: the code that was running did not cause it", guess: "mov edi, ebx"},
	{name: "SIGFPE sent by kill", code: sigfpe, insn: "89df", addr: 0x6878, want: "was sent SIGFPE by process 26744: the code that was running did not cause it"},
	{name: "SIGFPE, si_code not recorded", code: sigfpe, insn: "89df", addr: 0x400010, want: "made an arithmetic error"},
	{name: "SIGFPE, nothing recorded", code: sigfpe, insn: "f7f9", want: "divided an integer by zero: ecx is 0"},
	{name: "SIGILL sent by kill", code: sigill, insn: "89df", addr: 0x6878, want: "was sent SIGILL by process 26744: the code that was running did not cause it"},
	{name: "SIGABRT sent by kill", code: sigabrt, insn: "89df", params: []uint64{0x6878, 0, 0}, want: "was sent SIGABRT by process 26744: the code that was running did not cause it"},
	{name: "SIGTERM sent by kill", code: 15, insn: "8b00", params: []uint64{0x6878, 0, 0}, want: "was sent SIGTERM by process 26744: the code that was running did not cause it"},
	{name: "SIGABRT, nothing recorded", code: sigabrt, insn: "89df", want: "aborted itself"},
	{name: "SIGABRT of abort", code: sigabrt, flags: 0xfffffffa, insn: "89df", params: []uint64{0x6878, 0, 0}, want: "aborted itself"},
	{name: "SIGABRT sent by sigqueue", code: sigabrt, flags: 0xffffffff, insn: "89df", params: []uint64{0x6878, 0, 0}, want: "was sent SIGABRT by process 26744: the code that was running did not cause it"},
	{name: "SIGSEGV sent by sigqueue", flags: 0xffffffff, insn: "8b00", addr: 0x3e800006878, want: "was sent SIGSEGV by process 26744: the code that was running did not cause it"},
	{name: "SIGSEGV sent by another process' tkill", flags: 0xfffffffa, insn: "8b00", addr: 0x6878, want: "was stopped by SIGSEGV: sent by tkill or raise"},
	{name: "recorded 0 for another address", insn: "8910", flags: 2, addr: 0, regs: with("rax", 0x600000), maps: linuxMaps,
		want: "tried to write 4 bytes at 0x600000: the memory's protection forbids it, address in rax", guess: "the dump reports 0x0"},
	{name: "recorded 0 for a jump nowhere", flags: 1, addr: 0, regs: with("rip", 0x41414141), maps: linuxMaps,
		want: "jumped to 0x41414141: no memory is mapped there", guess: `"AAAA"`},
	{name: "int3", code: 5, flags: 0x80, addr: 0, insn: "cc", want: "hit a breakpoint or trap instruction: int3, which stops the program on purpose"},
	{name: "int3 before ud2", code: 5, flags: 0x80, addr: 0, insn: "cc0f0b", regs: with("rip", 0x400011), want: "hit a breakpoint or trap instruction: int3, which stops the program on purpose"},
	{name: "hlt", flags: 0x80, insn: "f4", want: "executed a privileged instruction: hlt, which stops the program on purpose"},
	{name: "hlt, si_code not recorded", insn: "f4", want: "executed a privileged instruction: hlt, which stops the program on purpose"},
	{name: "hlt on Windows", os: dumptest.OSWindows, code: 0xc0000096, insn: "f4", want: "executed a privileged instruction: hlt, which stops the program on purpose"},
	{name: "lgdt at a bad address", flags: 0x80, insn: "0f0110", regs: map[string]uint64{"rax": big}, want: "executed a privileged instruction: lgdt ptr [rax]"},
	{name: "in", flags: 0x80, insn: "ec", want: "executed a privileged instruction: in al, dx"},
	{name: "rdmsr of macOS", os: dumptest.OSMac, code: 1, flags: 13, insn: "0f32", want: "executed a privileged instruction: rdmsr"},
	{name: "control register", flags: 0x80, insn: "0f20c0", want: "executed a privileged instruction: mov rax, cr0"},
	{name: "int of Windows", os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, ^uint64(0)}, insn: "cd2e", want: "executed an instruction that the processor refused: int 0x2e raises an interrupt that programs may not"},
	{name: "segment register", flags: 0x80, insn: "8ee8", want: "executed an instruction that the processor refused: mov gs, ax loads a segment selector that is not valid"},
	{name: "segment register, from a bad address", flags: 0x80, insn: "8e28", regs: map[string]uint64{"rax": big},
		want: "tried to read 2 bytes at 0x6172747320746f6e: not an address that can exist, address in rax; the system reports 0x0 instead", guess: `"not stra"`},
	{name: "iretq", flags: 0x80, insn: "48cf", want: "executed an instruction that the processor refused: iretq goes to a code segment that is not valid"},
	{name: "xgetbv", flags: 0x80, insn: "0f01d0", want: "executed an instruction that the processor refused: xgetbv reads a register that the processor does not have or the system keeps"},
	{name: "general protection, not of the instruction", flags: 0x80, insn: "89df", want: "tried to access memory: probably at an address that is not canonical; Linux does not say which"},
	{name: "protection key", flags: 4, addr: 0x10, insn: "488b4010", want: "tried to read 8 bytes at 0x10: the memory's protection key forbids it, through rax"},
	{name: "hardware memory error", code: 7, flags: 4, addr: 0x400010, insn: "89df", want: "tried to access memory at 0x400010: the hardware found a memory error"},
	{name: "ran into a page", os: dumptest.OSWindows, code: accessViolation, params: []uint64{8, 0x401000}, regs: with("rip", 0x400ffe), want: "ran into 0x401000: memory that may not be executed, with the instruction at 0x400ffe"},
	{name: "runs the stack on Windows", os: dumptest.OSWindows, code: accessViolation, params: []uint64{8, 0x7000100}, regs: with("rip", 0x7000100), want: "jumped to 0x7000100: the memory there may not be executed (the thread's stack)"},
	{name: "runs the stack", flags: 2, addr: 0x7000100, regs: with("rip", 0x7000100), want: "jumped to 0x7000100: the memory there may not be executed (the thread's stack)"},
	{name: "runs the stack, with a map", flags: 2, addr: 0x7000100, regs: with("rip", 0x7000100), maps: linuxMaps, want: "jumped to 0x7000100: the memory there is data and may not be executed (the thread's stack)"},
	{name: "runs the heap", flags: 2, addr: 0x8000100, regs: with("rip", 0x8000100), maps: linuxMaps + "08000000-08001000 rw-p 00000000 00:00 0 [heap]\n", want: "jumped to 0x8000100: the memory there is data and may not be executed (the heap)"},
	{name: "ran into data", flags: 2, addr: 0x401000, regs: with("rip", 0x400ffe), maps: linuxMaps + "00401000-00402000 rw-p 00000000 00:00 0 \n",
		want: "ran into 0x401000: the memory there is data and may not be executed, with the instruction at 0x400ffe"},
	{name: "reads the next page", flags: 1, addr: 0x401000, regs: with("rip", 0x400010, "rax", 0x401000), insn: "8b00", want: "tried to read 4 bytes at 0x401000: nothing is mapped there, address in rax"},
	{name: "execution elsewhere", os: dumptest.OSWindows, code: accessViolation, params: []uint64{8, 0x500000}, insn: "89df", want: "tried to execute code at 0x500000"},
	{name: "jump into data, address not recorded", flags: 2, addr: 0, insn: "90", regs: with("rip", 0x600010), maps: linuxMaps,
		want: "jumped to 0x600010: the memory there is data and may not be executed"},
	{name: "asynchronous tag check", cpu: dumptest.CPUARM64, flags: 8, insn: "200840f9", regs: with("pc", 0x400010, "sp", 0x7000800), want: "accessed memory: the memory tags (MTE) do not match, as the system reported later"},
	{name: "tag check near null", cpu: dumptest.CPUARM64, flags: 9, addr: 0x10, insn: "200840f9", regs: with("pc", 0x400010, "sp", 0x7000800), want: "tried to read 8 bytes at 0x10: the memory tags (MTE) do not match, through x1"},
	{name: "autda", cpu: dumptest.CPUARM64, code: sigill, flags: 2, addr: 0x400010, insn: "2018c1da", regs: with("pc", 0x400010, "sp", 0x7000800), want: "used a pointer that is not valid: pointer authentication failed"},
	{name: "retaa", cpu: dumptest.CPUARM64, code: sigill, flags: 2, addr: 0x400010, insn: "ff0b5fd6", regs: with("pc", 0x400010, "sp", 0x7000800), want: "used a pointer that is not valid: retaa: pointer authentication failed"},
	{name: "an illegal operand", cpu: dumptest.CPUARM64, code: sigill, flags: 2, addr: 0x400010, insn: "200840f9", regs: with("pc", 0x400010, "sp", 0x7000800), want: "executed an instruction with an illegal operand"},
	{name: "brk of pointer authentication", cpu: dumptest.CPUARM64, os: dumptest.OSMac, code: 6, flags: 1, addr: 0x400010, insn: "408e38d4", regs: with("pc", 0x400010, "sp", 0x7000800),
		want: "used a pointer that is not valid: brk #0xc472: pointer authentication failed"},
	{name: "misaligned stack pointer", cpu: dumptest.CPUARM64, os: dumptest.OSMac, code: 1, flags: 0x103, addr: 0x400010, insn: "e00340f9", regs: with("pc", 0x400010, "sp", 0x7000804), want: "tried to access the stack: the stack pointer is misaligned"},
	{name: "real-time signal", code: 34, flags: 0xffffffff, insn: "90", params: []uint64{1234}, want: "was sent real-time signal 34 by process 1234: the code that was running did not cause it"},
	{name: "no bytes", flags: 1, addr: 0x45, want: "tried to access memory at 0x45: close to a null pointer"},
	{name: "windows read", os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, 0x18}, insn: "488b4118", want: "tried to read 8 bytes at 0x18: null pointer plus 24, through rcx"},
	{name: "windows write of a read-write", os: dumptest.OSWindows, code: accessViolation, params: []uint64{1, 0x18}, insn: "ff4118", want: "tried to write 4 bytes at 0x18: null pointer plus 24, through rcx"},
	{name: "windows non-canonical", os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, ^uint64(0)}, insn: "48890408", regs: map[string]uint64{"rcx": 0xfefefefefefefefe},
		want: "tried to write 8 bytes at 0xfefefefefefefefe: not an address that can exist, address in rcx; the system reports a read of 0xffffffffffffffff instead"},
	{name: "windows stack overflow", os: dumptest.OSWindows, code: 0xc00000fd, insn: "50", regs: with("rsp", 0x7000000), want: "ran out of stack: it reached its guard page", overflow: Yes},
	{name: "debug heap", os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, 0xdddddde1}, x86: true, insn: "8b4004", regs: with("eax", 0xdddddddd, "eip", 0x400010, "esp", 0x7000800),
		want: "tried to read 4 bytes at 0xdddddde1: through eax", guess: "Microsoft's debug heap has freed"},
	{name: "teb", os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, 0x7ffd7030}, insn: "65488b042530000000", want: "tried to read 8 bytes at 0x7ffd7030"},
	{name: "arm64", cpu: dumptest.CPUARM64, flags: 1, addr: 0x10, insn: "200840f9", regs: with("pc", 0x400010, "sp", 0x7000800), want: "tried to read 8 bytes at 0x10: null pointer plus 16, through x1"},
	{name: "arm64 trap", cpu: dumptest.CPUARM64, code: 5, flags: 1, addr: 0x400010, insn: "200020d4", regs: with("pc", 0x400010, "sp", 0x7000800),
		want: "hit a breakpoint: brk #0x1, which stops the program on purpose"},
	{name: "arm64 tagged", cpu: dumptest.CPUARM64, flags: 1, addr: 0x1234567890, insn: "200040f9", regs: map[string]uint64{"pc": 0x400010, "sp": 0x7000800, "x1": 0xb400001234567890},
		want: "tried to read 8 bytes at 0xb400001234567890: nothing is mapped there, address in x1"},
}

func (s *scene) dump() *core.Dump { return openBytes(s.bytes()) }

func (s *scene) bytes() []byte {
	if s.os == 0 {
		s.os = dumptest.OSLinux
	}
	if s.code == 0 {
		s.code = sigsegv
	}
	regs := map[string]uint64{"rip": 0x400010, "rsp": 0x7000800}
	switch {
	case s.x86:
		regs, s.cpu = map[string]uint64{}, dumptest.CPUX86
	case s.cpu == 0:
		s.cpu = dumptest.CPUAMD64
	default:
		regs = map[string]uint64{}
	}
	for k, v := range s.regs {
		regs[k] = v
	}
	var ctx []byte
	switch s.cpu {
	case dumptest.CPUX86:
		ctx = dumptest.X86(regs)
	case dumptest.CPUARM64:
		ctx = dumptest.ARM64(regs)
	default:
		ctx = dumptest.AMD64(regs)
	}
	stack := make([]byte, 0x1000)
	binary.LittleEndian.PutUint64(stack[0x100:], 0x4141414141414141)
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: s.cpu, Platform: s.os}).
		Thread(7, ctx, 0x7000000, stack).ThreadName(7, "worker").Module(0x400000, 0x1000, cmp.Or(s.app, "/bin/app"), nil).
		Exception(7, s.code, s.flags, s.addr, ctx, s.params...).Memory(0x600000, make([]byte, 64))
	if s.insn != "" {
		raw, err := hex.DecodeString(s.insn)
		if err != nil {
			panic(err)
		}
		d.Memory(0x400010, append(raw, make([]byte, 16)...))
	}
	if s.maps != "" {
		d.Stream(0x47670009, []byte(s.maps))
	}
	return d.Bytes()
}

// lldbText are the parameters in which LLDB stores a text.
func lldbText(text string) (params []uint64) {
	raw := make([]byte, 120)
	copy(raw, text)
	for i := 0; i < len(raw); i += 8 {
		params = append(params, binary.LittleEndian.Uint64(raw[i:]))
	}
	return params
}

// TestLLDB: LLDB says in words who sent a signal, and nothing of an int3.
func TestLLDB(t *testing.T) {
	const lldb = 0x4c4c4442
	for _, s := range []scene{
		{code: 11, insn: "c3", flags: lldb, params: lldbText("signal SIGSEGV: sent by kill, sigsend or raise"), want: "was sent SIGSEGV by a process: the code that was running did not cause it"},
		{code: 11, insn: "c3", flags: lldb, params: lldbText("SIGSEGV: sent by kill system call (sender pid=26402, uid=0)"), want: "was sent SIGSEGV by process 26402: the code that was running did not cause it"},
		{code: 11, insn: "c3", flags: lldb, params: lldbText("SIGSEGV: sent by tkill system call"), want: "sent itself SIGSEGV: the code that was running did not cause it"},
		{code: 6, insn: "c3", flags: lldb, params: lldbText("SIGABRT: sent by tkill system call"), want: "aborted itself"},
		{code: 5, insn: "cc0f0b", flags: lldb, params: lldbText("signal SIGTRAP"), regs: with("rip", 0x400011), want: "hit a breakpoint or trap instruction: int3, which stops the program on purpose"},
	} {
		s.os, s.cpu = dumptest.OSLinux, dumptest.CPUAMD64
		if have := Analyze(s.dump()).Event.String(); have != s.want {
			t.Errorf("%q, want %q", have, s.want)
		}
	}
}

// TestSentSignals: what was running did not cause a signal that tells a program something, but may have
// caused one of a pipe, whoever wrote the dump.
func TestSentSignals(t *testing.T) {
	for code, want := range map[uint32]bool{15: true, 10: true, 13: false, 24: false} {
		s := scene{os: dumptest.OSLinux, cpu: dumptest.CPUAMD64, code: code, insn: "90"}
		if have := Analyze(s.dump()).Event.Sent; have != want {
			t.Errorf("signal %d: sent %v", code, have)
		}
	}
}

// TestSentInCore: the kernel's si_code 0 says that a process sent the signal, whatever the instruction does. In a
// minidump it says nothing.
func TestSentInCore(t *testing.T) {
	for known, want := range map[bool]string{true: "was sent SIGSEGV by process 77: the code that was running did not cause it",
		false: "tried to access memory at 0x4d: close to a null pointer"} {
		s := scene{os: dumptest.OSLinux, cpu: dumptest.CPUAMD64, code: 11, insn: "488b00", addr: 77, regs: with("rax", 77)}
		d := s.dump()
		d.Exception.CodeKnown = known
		if have := Analyze(d).Event.String(); have != want {
			t.Errorf("%v: %q, want %q", known, have, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for i := range scenes {
		s := &scenes[i]
		t.Run(s.name, func(t *testing.T) {
			r := Analyze(s.dump())
			if r.Event.String() != s.want {
				t.Errorf("said:\n  %s\nnot:\n  %s", r.Event.String(), s.want)
			}
			guesses := strings.Join(r.Guesses, "\n")
			if !strings.Contains(guesses, s.guess) || s.guess == "" && guesses != "" {
				t.Errorf("guessed %q, not %q", guesses, s.guess)
			}
			if r.Overflow != s.overflow {
				t.Errorf("overflow %d, not %d", r.Overflow, s.overflow)
			}
		})
	}
}

// TestSections: what a program's file says about its sections, in dumps without a memory map.
func TestSections(t *testing.T) {
	sections := []core.Section{{Start: 0x400000, Size: 0x100, Name: ".text", Exec: true}, {Start: 0x400100, Size: 0x100, Name: ".rdata"},
		{Start: 0x400200, Size: 0x100, Name: ".data", Write: true}}
	find := func(addr uint64) (core.Section, bool) {
		for _, s := range sections {
			if addr-s.Start < s.Size {
				return s, true
			}
		}
		return core.Section{}, false
	}
	const win = dumptest.OSWindows
	for _, c := range []scene{
		{os: win, code: accessViolation, params: []uint64{1, 0x400110}, insn: "8910", regs: with("rax", 0x400110),
			want: "tried to write 4 bytes at 0x400110: the memory there may only be read (.rdata of app), address in rax"},
		{os: win, code: accessViolation, params: []uint64{1, 0x400020}, insn: "8910", regs: with("rax", 0x400020),
			want: "tried to write 4 bytes at 0x400020: the memory there is code and may not be written (.text of app), address in rax"},
		{os: win, code: accessViolation, params: []uint64{0, 0x400110}, insn: "8b10", regs: with("rax", 0x400110), want: "tried to read 4 bytes at 0x400110: address in rax"},
		{os: win, code: accessViolation, params: []uint64{1, 0x400210}, insn: "8910", regs: with("rax", 0x400210), want: "tried to write 4 bytes at 0x400210: address in rax"},
		{os: win, code: accessViolation, params: []uint64{8, 0x400210}, regs: with("rip", 0x400210), want: "jumped to 0x400210: the memory there is data and may not be executed (.data of app)"},
		{flags: 2, addr: 0x400110, insn: "8910", regs: with("rax", 0x400110), want: "tried to write 4 bytes at 0x400110: the memory there may only be read (.rdata of app), address in rax"},
		// The system says that nothing is there.
		{flags: 1, addr: 0x400110, insn: "8910", regs: with("rax", 0x400110), want: "tried to write 4 bytes at 0x400110: nothing is mapped there, address in rax"},
	} {
		d := c.dump()
		d.Section = find
		if r := Analyze(d); r.Event.String() != c.want {
			t.Errorf("said:\n  %s\nnot:\n  %s", r.Event.String(), c.want)
		}
	}
}

// TestContradictions: the exception, the instruction and the memory map say different things.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		scene
		want Contradiction
	}{
		{scene{code: sigfpe, flags: 1, addr: 0x400010, insn: "89df"}, NoDivision},
		{scene{code: sigfpe, flags: 1, addr: 0x400010, insn: "f7f9"}, ""},
		{scene{os: dumptest.OSWindows, code: 0xc0000096, insn: "89df"}, NotPrivileged},
		{scene{os: dumptest.OSWindows, code: 0xc0000096, insn: "f4"}, ""},
		{scene{os: dumptest.OSWindows, code: accessViolation, params: []uint64{0, ^uint64(0)}, insn: "8b00", regs: with("rax", 0x600000)}, AllCanonical},
		{scene{flags: 1, addr: 0x12345678, insn: "8b00", regs: with("rax", 0x600000)}, NotAccessed},
		{scene{flags: 1, addr: 0x12345678, insn: "89df"}, NotAccessed},
		{scene{flags: 2, addr: 0x600000, insn: "8910", regs: with("rax", 0x600000), maps: linuxMaps}, Allowed},
		{scene{flags: 2, addr: 0x500010, insn: "8910", regs: with("rax", 0x500010), maps: linuxMaps}, ""},
	} {
		want := []Contradiction{}
		if c.want != "" {
			want = append(want, c.want)
		}
		if r := Analyze(c.dump()); !slices.Equal(r.Contradictions, want) {
			t.Errorf("%s, %s: %q, want %q", c.insn, r.Event.String(), r.Contradictions, want)
		}
	}
}

// TestNoException: a dump without one has no analysis.
func TestNoException(t *testing.T) {
	if r := Analyze(openBytes(dumptest.New(dumptest.LittleEndian).Bytes())); r != nil {
		t.Errorf("%+v", r)
	}
}

func TestBitFlips(t *testing.T) {
	s := scene{insn: "8b00", flags: 1, addr: 0x2600010, regs: with("rax", 0x2600010, "rbx", 0x600020), maps: linuxMaps}
	r := Analyze(s.dump())
	if len(r.BitFlips) == 0 || r.BitFlips[0].Address != 0x600010 || r.BitFlips[0].Register != "rax" || r.BitFlips[0].Details.Nearby != 1 {
		t.Fatalf("%+v", r.BitFlips)
	}
	if got := fmt.Sprint(r.BitFlips[0].Confidence); got != "0.625" {
		t.Errorf("confidence %s", got)
	}
	if !strings.Contains(strings.Join(r.Guesses, "\n"), "one flipped bit (25)") {
		t.Errorf("guesses %q", r.Guesses)
	}
}

// TestConfidence holds the figures to rust-minidump's, digit by digit.
func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		d    BitFlipDetails
		want string
	}{
		{BitFlipDetails{}, "0.25"},
		{BitFlipDetails{Nearby: 2}, "0.6625"},
		{BitFlipDetails{IsNull: true, WasLow: true}, "0.4375"},
		{BitFlipDetails{WasNonCanonical: true, Nearby: 9, Poison: true}, "0.486875"},
	} {
		if got := fmt.Sprint(c.d.confidence()); got != c.want {
			t.Errorf("%+v: %s, want %s", c.d, got, c.want)
		}
	}
}

func TestPoison(t *testing.T) {
	d := (&scene{os: dumptest.OSWindows, code: accessViolation}).dump()
	patterns := PatternsOf(d, 8)
	for v, want := range map[uint64]string{
		0xdddddddddddddddd: "debug heap has freed", 0xdddddddddddddde5: "debug heap has freed", 0xfeeefeeefeeefeee: "under a debugger",
		0xfeeefeee: "under a debugger", 0x5a5a5a5a5a5a5a5a: "jemalloc", 0xdeadbeef: "no longer valid",
		0x7f0012345678: "", 0: "", 0xffffffffffffffff: "", 0x55555555: "", 0x555555554000: "",
	} {
		got := ""
		if p := patterns.find(v); p != nil {
			got = p.means
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%#x: %q, want %q", v, got, want)
		}
	}
}
