package analysis

import (
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
)

// nearby is the distance within which a register supports an address, low the limit below which an
// address counts as low.
const (
	nearby = 1 << 12
	low    = 2 * nearby
)

// flipDetails collects the evidence that value should have been addr.
func (c *crash) flipDetails(addr, value uint64, wasNonCanonical bool) BitFlipDetails {
	f := BitFlipDetails{WasNonCanonical: wasNonCanonical, IsNull: addr == 0}
	f.WasLow = f.IsNull && value <= low
	if c.ctx == nil {
		return f
	}
	for i := range c.arch.Names {
		v, ok := c.ctx.Regs.Get(cpu.Reg(i))
		if !ok {
			continue
		}
		if addr > low && max(addr, v)-min(addr, v) <= nearby {
			f.Nearby++
		}
		if b := byte(v); v == uint64(b)*0x0101010101010101 && poisonByte(b) {
			f.Poison = true
		}
	}
	return f
}

// poisonByte reports whether an allocator fills memory with a byte: those of SpiderMonkey's
// js/src/util/Poison.h and of jemalloc.
func poisonByte(b byte) bool {
	switch b {
	case 0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5:
		return true
	}
	return false
}

// confidence computes 1 − the product of (1 − weight) over the facts, halved for poison. It uses
// 32-bit floating point like rust-minidump, whose scale it is.
//
// Example: a non-canonical address alone gives 1 − 0.75 · 0.1 = 0.925.
//
//	nothing but the flip               1 − 0.75                = 0.25
//	one register nearby                1 − 0.75 · 0.5          = 0.625
//	null, from a value close to 0      1 − 0.75 · 0.75         = 0.4375
func (f BitFlipDetails) confidence() float32 {
	const baseline, high, medium = float32(0.25), float32(0.90), float32(0.50)
	miss := float32(1)
	add := func(v float32) { miss = float32(miss * float32(1-v)) }
	add(baseline)
	if f.WasNonCanonical {
		add(high)
	}
	if f.IsNull {
		v := medium
		if f.WasLow {
			v *= 0.5
		}
		add(v)
	}
	if f.Nearby > 0 {
		add([]float32{medium, medium + 0.05, medium + 0.1, medium + 0.15}[min(f.Nearby, 4)-1])
	}
	sum := float32(1 - miss)
	if f.Poison {
		sum *= 0.5
	}
	return sum
}

// bitFlips finds addresses that differ in one bit from the one that failed and at which the access
// is allowed. It ignores null pointers, with and without an offset, because programs make them. It
// ignores 32-bit processors, where most addresses are mapped and a match means little.
//
// Example: rdi is 0x7fae10004010 and the instruction reads at rdi. Nothing is mapped there, but
// 0x7f2e10004010, which differs in bit 39, is in a readable mapping.
func (c *crash) bitFlips() {
	if c.arch == nil || c.arch.WordSize != 8 || !c.places.known() || c.out.Cause < 0 || c.out.Overflow != No {
		return
	}
	if a := c.out.Adjusted; a != nil && a.Kind == NullPointer {
		return
	}
	a := &c.out.Accesses[c.out.Cause]
	if a.Address < nullPage {
		return
	}
	seen := map[uint64]bool{}
	// A value that may be accessed as it is has no need of an explanation.
	try := func(value uint64, register string) {
		if p := c.places.At(value); p.Mapped && p.Allows(a.Kind) {
			return
		}
		// A result at a low address is a null pointer, which programs make themselves.
		for bit := range uint(64) {
			addr := value ^ 1<<bit
			p := c.places.At(addr)
			if addr < nullPage || !p.Mapped || !p.Allows(a.Kind) || seen[addr] {
				continue
			}
			seen[addr] = true
			f := BitFlip{Address: addr, Register: register, Details: c.flipDetails(addr, value, !c.possible(value))}
			f.Confidence = f.Details.confidence()
			c.out.BitFlips = append(c.out.BitFlips, f)
		}
	}
	// Try the registers first: a flip happens in a register, or in the memory from which it was
	// loaded.
	for _, r := range []Register{a.Base, a.Index} {
		if r.Name != "" {
			try(r.Value, r.Name)
		}
	}
	if a.Base.Name == "" || a.Index.Name != "" {
		try(a.Address, "")
	}
	sort.SliceStable(c.out.BitFlips, func(i, j int) bool { return c.out.BitFlips[i].Confidence > c.out.BitFlips[j].Confidence })
	const most = 8
	c.out.BitFlips = c.out.BitFlips[:min(most, len(c.out.BitFlips))]
}
