package analysis

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/reason"
)

// poison is a pattern with which allocators and compilers fill memory.
type poison struct {
	pattern uint32 // as a 32-bit word; a 64-bit one repeats it
	runtime string // that writes it, in runtimes; "" for any program
	means   string
}

// runtimes are those whose patterns mean nothing in other programs: by the system, or by a part of
// the name of one of the program's modules.
var runtimes = map[string]struct {
	systems []core.OS
	modules []string
}{
	"windows":  {systems: []core.OS{core.Windows}},
	"apple":    {systems: []core.OS{core.MacOS, core.IOS}},
	"firefox":  {modules: []string{"xul", "mozglue", "mozjs", "firefox", "thunderbird", "gecko"}},
	"chromium": {modules: []string{"chrom", "electron", "libcef", "msedge", "webview", "brave", "opera", "vivaldi"}},
	"python":   {modules: []string{"python"}},
	"android":  {systems: []core.OS{core.Android}},
}

// Patterns finds the patterns that a program's runtimes fill memory with. The zero value finds none.
type Patterns struct {
	wordSize int
	runtimes []string // those that the program has
}

// PatternsOf returns the patterns of a dump's program; wordSize is that of its process in bytes.
func PatternsOf(d *core.Dump, wordSize int) Patterns {
	p := Patterns{wordSize: wordSize, runtimes: []string{}}
	for _, name := range slices.Sorted(maps.Keys(runtimes)) {
		r := runtimes[name]
		if slices.Contains(r.systems, d.OS()) || slices.ContainsFunc(d.Modules, func(m core.Module) bool {
			name := strings.ToLower(core.FileName(m.Name))
			return slices.ContainsFunc(r.modules, func(part string) bool { return strings.Contains(name, part) })
		}) {
			p.runtimes = append(p.runtimes, name)
		}
	}
	return p
}

// Find returns what memory with a value may be, or "": "memory that Firefox's allocator has freed".
func (have *Patterns) Find(v uint64) string {
	if found := have.find(v); found != nil {
		return found.means
	}
	return ""
}

// poisons has the known patterns. Sources: Microsoft's CRT debug heap (MSVC documentation) and heap
// manager, jemalloc's and mozjemalloc's junk bytes, Apple's malloc(3) (MallocScribble),
// SpiderMonkey's Poison.h, Chromium's PartitionAlloc, CPython's obmalloc.c, scudo/standalone/common.h. 0xdeadbeef is a
// convention of programmers.
var poisons = []poison{
	{0xdddddddd, "windows", "memory that Microsoft's debug heap has freed"},
	{0xfeeefeee, "windows", "memory that the Windows heap has freed under a debugger"},
	{0xcdcdcdcd, "chromium", "memory that Chromium's allocator has freed"},
	{0xcdcdcdcd, "windows", "allocated memory that was not initialized (Microsoft's debug heap)"},
	{0xdddddddd, "python", "memory that Python's debug allocator has freed"},
	{0xcdcdcdcd, "python", "memory of Python's debug allocator that was not initialized"},
	{0xfdfdfdfd, "python", "the space next to a block of Python's debug allocator"},
	{0xcccccccc, "windows", "a local variable that was not initialized (Microsoft's debug code)"},
	{0xfdfdfdfd, "windows", "the space between two blocks of Microsoft's debug heap"},
	{0xbaadf00d, "windows", "allocated memory that was not initialized (the Windows heap under a debugger)"},
	{0xabababab, "chromium", "memory of Chromium's allocator that was not initialized"},
	{0xabababab, "android", "allocated memory that was not initialized (Android's Scudo)"},
	{0xabababab, "windows", "the space after a block of the Windows heap under a debugger"},
	{0xe5e5e5e5, "firefox", "memory that Firefox's allocator has freed"},
	{0xa5a5a5a5, "", "allocated memory that was not initialized, or freed memory (jemalloc)"},
	{0x5a5a5a5a, "", "memory that jemalloc has freed"},
	{0xefefefef, "chromium", "memory that Chromium's allocator has freed"},
	{0xaaaaaaaa, "apple", "allocated memory that was not initialized (Apple's MallocScribble, Zig, clang's trivial-auto-var-init)"},
	{0xaaaaaaaa, "", "memory that was not initialized (Zig, clang's trivial-auto-var-init)"},
	{0x55555555, "apple", "memory that was freed (Apple's MallocScribble)"},
	{0xbebebebe, "", "allocated memory that was not initialized (AddressSanitizer)"},
	{0xdeadbeef, "", "a value that programs write over a pointer that is no longer valid"},
	{0x4b4b4b4b, "firefox", "memory that the garbage collector of Firefox's JavaScript has swept"},
	{0x2b2b2b2b, "firefox", "memory that the garbage collector of Firefox's JavaScript has moved away from"},
}

// near is the largest distance of an address from a pattern: the offset of a member.
const near = 1 << 16

// filled has the means of patterns of one byte whose runtime the program does not have.
var filled = poison{means: "memory that was filled with one byte, as debugging allocators do"}

// find returns the pattern of a value, possibly plus an offset, or nil.
//
// Example: 0xe5e5e5e5e5e5e5ed is the member at offset 8 of an object that Firefox's allocator has
// freed.
func (have *Patterns) find(v uint64) *poison {
	var other *poison
	if have.wordSize == 0 {
		return nil
	}
	for i := range poisons {
		p := &poisons[i]
		if !p.fits(v, have.wordSize) {
			continue
		}
		if p.runtime == "" || slices.Contains(have.runtimes, p.runtime) {
			return p
		}
		if p.pattern == p.pattern&0xff*0x01010101 {
			other = &filled
		}
	}
	return other
}

// fits reports whether a value is the pattern, possibly plus an offset.
func (p *poison) fits(v uint64, wordSize int) bool {
	full := uint64(p.pattern)
	if wordSize == 8 {
		full |= full << 32
		// A 32-bit field gives the pattern once. But four equal bytes alone may be a valid address.
		if distance(v, uint64(p.pattern)) < near && p.pattern != p.pattern&0xff*0x01010101 {
			return true
		}
	}
	return distance(v, full) < near
}

// asText returns a value as text if all its bytes are printable ASCII: a string that overwrote a
// pointer leaves such a value. In 64 bits four letters suffice, which overwrote an int.
//
// Example: 0x6f772c6f6c6c6548 is "Hello,wo", whose first letter is the lowest byte.
func asText(v uint64) string {
	n := (bits.Len64(v) + 7) / 8
	// Three letters are likely by chance, and a value of five bytes can be an ordinary address.
	if n < 4 || n == 5 {
		return ""
	}
	b := make([]byte, 0, 8)
	for i := range n {
		c := byte(v >> (8 * i))
		if c < 0x20 || c > 0x7e {
			return ""
		}
		b = append(b, c)
	}
	return string(b)
}

// guess adds sentences about likely causes.
//
//	rax (0xe5e5e5e5e5e5e5ed) looks like memory that Firefox's allocator has freed
//	rdi (0x6f772c6f6c6c6548) is text, "Hello,wo": a string may have been written over a pointer
func (c *crash) guess() {
	say := func(format string, args ...any) { c.out.Guesses = append(c.out.Guesses, fmt.Sprintf(format, args...)) }
	if c.arch == nil || c.out.Overflow != No {
		return
	}
	patterns := PatternsOf(c.d, c.arch.WordSize)
	// Base, index and address often have the same pattern: one sentence is enough.
	seen := map[string]bool{}
	for _, r := range c.suspects() {
		what := "the address"
		if r.Name != "" {
			what = r.Name
		}
		if p := patterns.find(r.Value); p != nil && !seen[p.means] {
			seen[p.means] = true
			say("%s (%s) looks like %s", what, hexWord(r.Value), p.means)
		} else if s := asText(r.Value); s != "" && p == nil && !seen["text"] && !c.mapped(r.Value) {
			seen["text"] = true
			say("%s (%s) is text, %q: a string may have been written over a pointer", what, hexWord(r.Value), s)
		}
	}
	c.contradictions(say)
	if len(c.out.BitFlips) > 0 {
		if f := &c.out.BitFlips[0]; f.Confidence >= 0.6 {
			addr, _ := c.address()
			if f.Register != "" {
				addr, _ = c.insnRegister(f.Register)
			}
			say("one flipped bit (%d) would explain it: %s is mapped, which points to failing hardware", bits.TrailingZeros64(addr^f.Address), hexWord(f.Address))
		}
	}
}

// mapped reports whether the memory map has memory at an address.
func (c *crash) mapped(addr uint64) bool {
	p := c.places.At(addr)
	return p != nil && p.Mapped
}

// insnRegister returns the value of a register that the instruction uses.
func (c *crash) insnRegister(name string) (uint64, bool) {
	for _, r := range c.insn.regs {
		if r.Name == name {
			return r.Value, true
		}
	}
	return 0, false
}

// suspects returns the values from which the address that failed was computed, and the address.
func (c *crash) suspects() []Register {
	switch {
	case !c.aboutMemory():
		return nil
	case c.execution():
		return []Register{{"", c.pc}}
	case c.badTarget():
		return []Register{{c.out.Jump.Register.Name, c.out.Jump.Target}}
	case c.out.Cause >= 0:
		a := &c.out.Accesses[c.out.Cause]
		var out []Register
		for _, r := range []Register{a.Base, a.Index} {
			if r.Name != "" && r.Name != "rip" && r.Name != "pc" {
				out = append(out, r)
			}
		}
		return append(out, Register{"", a.Address})
	case c.why.HasAddress:
		return []Register{{"", c.why.Address}}
	}
	return nil
}

// contradictions records where the exception, the instruction and the memory map contradict each
// other, and says it, unless the event does.
func (c *crash) contradictions(say func(string, ...any)) {
	record := func(what Contradiction) { c.out.Contradictions = append(c.out.Contradictions, what) }
	switch {
	case c.insn == nil || c.insn.text == "":
	case c.why.Text == "divided an integer by zero" && !c.insn.division:
		record(NoDivision)
	case c.why.Text == "executed a privileged instruction" && !c.insn.privileged:
		record(NotPrivileged)
	}
	if !c.aboutMemory() || c.insn == nil || c.execution() || c.ranInto() || c.insn.unknown {
		return
	}
	if c.out.Cause < 0 {
		known := allKnown(c.out.Accesses)
		switch {
		case c.badTarget():
		case c.faultWithoutAddress():
			// Elsewhere than on Windows a fault of another kind is reported in the same way.
			if known && !c.instructionRefused() && c.d.OS() == core.Windows {
				record(AllCanonical)
			}
		case c.sentSignal(nil):
			if len(c.out.Accesses) > 0 { // another si_code than SI_USER shows it
				break
			}
			say("the sender's process id is in the field that otherwise has the address: the instruction (%s) accesses no memory", c.insn.text)
		case c.why.Stated:
		case c.why.HasAddress && known:
			record(NotAccessed)
			if len(c.out.Accesses) > 0 {
				say("the instruction (%s) does not access %s: the registers or the address are not those of the crash", c.insn.text, hexWord(c.why.Address))
			}
		}
		return
	}
	a := &c.out.Accesses[c.out.Cause]
	if !c.faultWithoutAddress() && c.why.HasAddress && c.untagged(c.why.Address)-c.untagged(a.Address) >= uint64(max(1, a.Size)) {
		record(NotAccessed)
		say("the dump reports %s as the address; the instruction says otherwise", hexWord(c.why.Address))
	}
	if p := c.out.Place; p != nil && c.why.Kind == reason.Memory && p.Mapped && !p.Guard && p.Allows(a.Kind) && c.possible(a.Address) && c.misaligned(a) == 0 {
		record(Allowed)
		say("the memory map allows this access (%s): it may have changed since, or the processor failed", p.Perms())
	}
}

// allKnown reports whether the dump has all values that the addresses were computed from.
func allKnown(all []Access) bool {
	return !slices.ContainsFunc(all, func(a Access) bool { return !a.AddressKnown })
}

// alignedMove reports whether an instruction needs its memory operand aligned to the operand's
// size.
func alignedMove(text string) bool {
	name, _, _ := strings.Cut(text, " ")
	switch strings.TrimPrefix(name, "v") {
	case "movaps", "movapd", "movdqa", "movdqa32", "movdqa64", "movntps", "movntpd", "movntdq", "movntdqa":
		return true
	}
	return false
}

// sseOperand reports whether an instruction is an SSE operation with a 16-byte memory operand,
// which must be aligned too, except that of the unaligned moves.
func (in *decoded) sseOperand() bool {
	name, rest, _ := strings.Cut(in.text, " ")
	switch name {
	case "movups", "movupd", "movdqu", "lddqu":
		return false
	}
	return strings.Contains(rest, ", xmmword ptr [")
}
