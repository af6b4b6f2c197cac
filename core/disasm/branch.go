package disasm

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// Operand is a register as an instruction names it: Bits bits of a register of cpu.Arch, from the
// bit Shift on.
type Operand struct {
	Reg         cpu.Reg
	Shift, Bits int
}

// Value returns the operand's part of a register's value.
func (o Operand) Value(register uint64) uint64 {
	return register >> o.Shift & (^uint64(0) >> (64 - o.Bits))
}

// Register finds the register that a word of an instruction names: on amd64 also eax, ax, al and ah,
// on arm64 w0.
func Register(arch *cpu.Arch, word string) (Operand, bool) {
	if r, ok := arch.Lookup(word); ok {
		return Operand{r, 0, 8 * arch.WordSize}, true
	}
	switch arch.Instructions {
	case cpu.DecodedA64:
		if rest, ok := strings.CutPrefix(word, "w"); ok && rest != "" {
			if rest[0] != 's' {
				rest = "x" + rest
			}
			r, ok := arch.Lookup(rest)
			return Operand{r, 0, 32}, ok
		}
	case cpu.DecodedX86:
		return partX86(arch, word)
	}
	return Operand{}, false
}

// partX86 finds the register that a word names a part of.
//
//	eax ax al ah    rax, or on x86 eax
//	r8d r8w r8b     r8
//	sil             rsi
func partX86(arch *cpu.Arch, word string) (Operand, bool) {
	wide := "r"
	if arch.WordSize == 4 {
		wide = "e"
	}
	name, shift, bits := "", 0, 0
	switch n := len(word); {
	case n >= 3 && word[0] == 'r' && word[1] >= '0' && word[1] <= '9':
		name, bits = word[:n-1], map[byte]int{'d': 32, 'w': 16, 'b': 8}[word[n-1]]
	case n == 3 && word[0] == 'e':
		name, bits = wide+word[1:], 32
	case n == 3 && word[2] == 'l':
		name, bits = wide+word[:2], 8
	case n == 2 && word[1] == 'l':
		name, bits = wide+word[:1]+"x", 8
	case n == 2 && word[1] == 'h':
		name, shift, bits = wide+word[:1]+"x", 8, 8
	case n == 2:
		name, bits = wide+word, 16
	}
	r, ok := arch.Lookup(name)
	return Operand{r, shift, bits}, ok && bits > 0
}

// Branch is what a conditional jump does with the registers that a thread has.
type Branch struct {
	Taken bool
	// Why says what decides it: "ZF is 1", "x0 is 0x0".
	Why string
}

// Decide says whether a jump, by its text, is taken. value returns a register, by its name; those of
// flags are "eflags" on x86 and amd64, "cpsr" on arm and arm64. ok is false if it is not a conditional
// jump, or what decides it is not known.
//
// Sources: Intel SDM volume 2, Jcc; Arm Architecture Reference Manual, C1.2.4; RISC-V Unprivileged
// ISA, section 2.5; LoongArch Reference Manual, section 2.2.4.
func Decide(arch *cpu.Arch, text string, value func(name string) (uint64, bool)) (b Branch, ok bool) {
	name, operands, _ := strings.Cut(text, " ")
	args := strings.FieldsFunc(operands, func(r rune) bool { return r == ',' || r == ' ' })
	if len(args) == 0 {
		return Branch{}, false
	}
	register := func(word string) (uint64, bool) {
		o, ok := Register(arch, strings.TrimPrefix(word, "$"))
		if !ok {
			return 0, zeros[word]
		}
		v, known := value(arch.RegName(o.Reg))
		return o.Value(v), known
	}
	switch arch {
	case cpu.X86, cpu.AMD64:
		if word, ok := strings.CutSuffix(strings.TrimPrefix(name, "j"), "xz"); ok && name[0] == 'j' { // jcxz, jecxz, jrcxz
			v, known := register(word + "x")
			return Branch{v == 0, word + "x is " + hexWord(v)}, known
		}
		flags, known := value("eflags")
		return condition(x86Conditions, strings.TrimPrefix(name, "j"), flags, known && strings.HasPrefix(name, "j"))
	case cpu.ARM64:
		switch {
		case name == "cbz" || name == "cbnz":
			v, known := register(args[0])
			return Branch{(v == 0) == (name == "cbz"), args[0] + " is " + hexWord(v)}, known
		case (name == "tbz" || name == "tbnz") && len(args) == 3:
			v, known := register(args[0])
			bit, err := strconv.ParseUint(strings.TrimPrefix(args[1], "#"), 0, 6)
			v = v >> bit & 1
			return Branch{(v == 0) == (name == "tbz"), "bit " + strconv.Itoa(int(bit)) + " of " + args[0] + " is " + strconv.Itoa(int(v))}, known && err == nil
		}
		flags, known := value("cpsr")
		return condition(armConditions, strings.TrimPrefix(name, "b."), flags, known && strings.HasPrefix(name, "b."))
	case cpu.ARM:
		flags, known := value("cpsr")
		word := strings.TrimPrefix(name, "b")
		if len(word) == 3 {
			word = strings.TrimPrefix(word, "l")
		}
		return condition(armConditions, word, flags, known && name[0] == 'b')
	case cpu.RISCV64, cpu.LoongArch64:
		return compare(name, args, register)
	}
	return Branch{}, false
}

func hexWord(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// zeros are the names of the register that is always 0.
var zeros = map[string]bool{"zero": true, "$zero": true, "$r0": true, "xzr": true, "wzr": true}

// flag is a bit of the register of flags.
type flag struct {
	name string
	bit  int
}

// conditions are those of a processor: their words, the flags that each reads, and what these must be.
type conditions []struct {
	words string
	flags []flag
	holds func(f []bool) bool
}

var (
	cf, pf, zf, sf, of = flag{"CF", 0}, flag{"PF", 2}, flag{"ZF", 6}, flag{"SF", 7}, flag{"OF", 11}
	an, az, ac, av     = flag{"N", 31}, flag{"Z", 30}, flag{"C", 29}, flag{"V", 28}
)

// Each row is followed by its opposite in condition.
var x86Conditions = conditions{
	{"o|no", []flag{of}, first}, {"b c nae|ae nb nc", []flag{cf}, first}, {"z e|nz ne", []flag{zf}, first},
	{"be na|a nbe", []flag{cf, zf}, func(f []bool) bool { return f[0] || f[1] }},
	{"s|ns", []flag{sf}, first}, {"p pe|np po", []flag{pf}, first},
	{"l nge|ge nl", []flag{sf, of}, func(f []bool) bool { return f[0] != f[1] }},
	{"le ng|g nle", []flag{zf, sf, of}, func(f []bool) bool { return f[0] || f[1] != f[2] }},
}

var armConditions = conditions{
	{"eq|ne", []flag{az}, first}, {"cs hs|cc lo", []flag{ac}, first}, {"mi|pl", []flag{an}, first}, {"vs|vc", []flag{av}, first},
	{"hi|ls", []flag{ac, az}, func(f []bool) bool { return f[0] && !f[1] }},
	{"ge|lt", []flag{an, av}, func(f []bool) bool { return f[0] == f[1] }},
	{"gt|le", []flag{az, an, av}, func(f []bool) bool { return !f[0] && f[1] == f[2] }},
}

func first(f []bool) bool { return f[0] }

// condition decides a condition by its word. Words after the bar are the opposite.
func condition(all conditions, word string, flags uint64, known bool) (Branch, bool) {
	if !known || word == "" {
		return Branch{}, false
	}
	for _, c := range all {
		yes, no, _ := strings.Cut(c.words, "|")
		for i, words := range []string{yes, no} {
			for _, w := range strings.Fields(words) {
				if w != word {
					continue
				}
				values, why := make([]bool, len(c.flags)), make([]string, len(c.flags))
				for k, f := range c.flags {
					values[k] = flags>>f.bit&1 == 1
					why[k] = f.name + " is " + strconv.Itoa(int(flags>>f.bit&1))
				}
				return Branch{c.holds(values) == (i == 0), strings.Join(why, ", ")}, true
			}
		}
	}
	return Branch{}, false
}

// compare decides the jumps that compare registers: "blt a0,a1,0x1000", "beqz a0,0x1000".
func compare(name string, args []string, register func(string) (uint64, bool)) (Branch, bool) {
	word, unary := strings.CutSuffix(strings.TrimPrefix(name, "b"), "z")
	if need := map[bool]int{true: 2, false: 3}[unary]; name[0] != 'b' || len(args) != need {
		return Branch{}, false
	}
	a, known := register(args[0])
	b, knownB := uint64(0), true
	why := args[0] + " is " + hexWord(a)
	if !unary {
		b, knownB = register(args[1])
		why += ", " + args[1] + " is " + hexWord(b)
	}
	var taken bool
	switch word {
	case "eq":
		taken = a == b
	case "ne":
		taken = a != b
	case "lt":
		taken = int64(a) < int64(b)
	case "ge":
		taken = int64(a) >= int64(b)
	case "gt":
		taken = int64(a) > int64(b)
	case "le":
		taken = int64(a) <= int64(b)
	case "ltu":
		taken = a < b
	case "geu":
		taken = a >= b
	case "gtu":
		taken = a > b
	case "leu":
		taken = a <= b
	default:
		return Branch{}, false
	}
	return Branch{taken, why}, known && knownB
}
