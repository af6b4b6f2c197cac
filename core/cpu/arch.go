package cpu

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// all are the CPUs that have a table. Adding one: a file NAME_cpu.go with everything that is true
// of it, and a line here and in elfs; its context record and its frames in the tests that fail
// until they have them.
var all = []*Arch{X86, AMD64, ARM, ARM64, MIPS, MIPS64, PPC, PPC64, SPARC, RISCV, RISCV64, S390X, LoongArch64}

// elfs are what the readers of ELF files need to know about each CPU; the forms of 32 and 64 bits may
// share one.
var elfs = []*ELF{&x86ELF, &amd64ELF, &armELF, &arm64ELF, &mipsELF, &ppcELF, &ppc64ELF, &sparcELF, &riscvELF, &s390xELF, &loongArch64ELF}

// All returns the CPUs that have a table.
func All() []*Arch { return all }

// ByName finds a CPU by its stable name, or nil.
func ByName(name string) *Arch {
	return find(func(a *Arch) bool { return a.Name == name })
}

// ByELF finds a CPU by an ELF file's e_machine, its class in bits (32 or 64) and e_flags; nil if
// there is no table for it. 32-bit code of a 64-bit machine (x32, MIPS n32) is not a CPU of ours: its
// registers have 64 bits, its addresses 32.
func ByELF(machine uint16, class int, flags uint32) *Arch {
	return find(func(a *Arch) bool {
		return a.WordSize*8 == class && slices.Contains(a.ELFMachines[:], machine) && a.NotELFFlags&flags == 0
	})
}

// ByPE finds a CPU by its IMAGE_FILE_MACHINE_* number in PE and PDB files, or nil.
func ByPE(machine uint16) *Arch {
	return find(func(a *Arch) bool { return machine != 0 && slices.Contains(a.PEMachines[:], machine) })
}

// ByMachO finds a CPU by its cpu_type_t in Mach-O files, or nil.
func ByMachO(number uint32) *Arch {
	return find(func(a *Arch) bool { return number != 0 && a.MachO == number })
}

// ByModuleWord finds a CPU by the word of MODULE records and microdumps, or nil.
func ByModuleWord(word string) *Arch {
	return find(func(a *Arch) bool { return a.ModuleWord() == word })
}

// BySFrame finds a CPU by the ABI of an SFrame section, or nil; big says that it is its big-endian
// form.
func BySFrame(abi uint8) (a *Arch, big bool) {
	a = find(func(a *Arch) bool { return abi != 0 && (a.SFrameBig == abi || a.SFrameLittle == abi) })
	return a, a != nil && a.SFrameBig == abi
}

func find(fits func(*Arch) bool) *Arch {
	for _, a := range all {
		if fits(a) {
			return a
		}
	}
	return nil
}

// ByWord finds a CPU by a word that begins with one of its names in MODULE records, ELF files or
// this program: "x86_64", "i686", "aarch64". The longest such name counts.
func ByWord(word string) *Arch {
	var best *Arch
	length := 0
	for _, a := range all {
		for _, name := range append([]string{a.Name, a.ModuleWord()}, a.Words...) {
			if len(name) > length && strings.HasPrefix(word, name) {
				best, length = a, len(name)
			}
		}
	}
	return best
}

// registers are the names of a CPU's registers, as lists that expand reads. newArch turns them into
// numbers.
type registers struct {
	// names are in the order of Arch.Names, order in that of Arch.Order; "" is the same order.
	names, order string
	// aliases are pairs "r11=fp".
	aliases string
	// The registers with a role; "" where the CPU has none.
	pc, sp, fp, lr string
	// saved are the callee-saved registers.
	saved string
	// dwarf are the registers in the order of their DWARF numbers, from 0 on. "65=lr" goes on at
	// number 65.
	dwarf string
	// iosFP is the frame pointer on iOS, if it is another register there.
	iosFP string
}

// newArch turns the names in a table into register numbers. The tables are fixed at compile time,
// so a name that does not exist is a mistake in this package and panics when the program starts.
func newArch(a *Arch) *Arch {
	r := &a.regs
	num := func(name string) Reg {
		if name == "" {
			return NoReg
		}
		reg, ok := a.Lookup(name)
		if !ok {
			panic("cpu " + a.Name + ": no register " + name)
		}
		return reg
	}
	a.Names = expand(r.names)
	if len(a.Names) > MaxRegs {
		panic("cpu " + a.Name + ": too many registers")
	}
	if r.order != "" {
		a.Order = expand(r.order)
	}
	a.Aliases = map[string]Reg{}
	for _, pair := range strings.Fields(r.aliases) {
		alias, name, _ := strings.Cut(pair, "=")
		names := expand(name)
		for i, alias := range expand(alias) {
			a.Aliases[alias] = num(names[i])
		}
	}
	a.PC, a.SP, a.FP, a.LR, a.IOSFramePointer = num(r.pc), num(r.sp), num(r.fp), num(r.lr), num(r.iosFP)
	if r.iosFP == "" {
		a.IOSFramePointer = a.FP
	}
	for _, name := range expand(r.saved) {
		a.CalleeSaved = append(a.CalleeSaved, num(name))
	}
	for _, item := range strings.Fields(r.dwarf) {
		if at, name, jumps := strings.Cut(item, "="); jumps {
			number, _ := strconv.Atoi(at)
			for len(a.DWARF) < number {
				a.DWARF = append(a.DWARF, NoReg)
			}
			item = name
		}
		for _, name := range expand(item) {
			a.DWARF = append(a.DWARF, num(name))
		}
	}
	for _, l := range a.Contexts {
		l.Arch = a
		l.What = cmp.Or(l.What, a.Name)
		if l.Usual == 0 {
			l.Usual = a.Processors[0]
		}
	}
	return a
}

// expand lists the names in a text: "x0-28 fp" are x0 to x28 and fp, "p1-6_home" are p1_home to
// p6_home.
func expand(text string) []string {
	var out []string
	for _, item := range strings.Fields(text) {
		from, to, many := strings.Cut(item, "-")
		if !many {
			out = append(out, item)
			continue
		}
		base := strings.TrimRight(from, digits)
		suffix := strings.TrimLeft(to, digits)
		first, _ := strconv.Atoi(from[len(base):])
		last, _ := strconv.Atoi(to[:len(to)-len(suffix)])
		for i := first; i <= last; i++ {
			out = append(out, base+strconv.Itoa(i)+suffix)
		}
	}
	return out
}

const digits = "0123456789"
