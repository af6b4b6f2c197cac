package intake

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// The processors that have no table in core/cpu, or are another form of one there, by their numbers
// in the formats. Sources: elf.h (e_machine), winnt.h (IMAGE_FILE_MACHINE_*), mach/machine.h
// (cpu_type_t).
var (
	otherELF = map[uint32]string{43: "sparc64", 50: "ia64", 247: "bpf"}
	otherPE  = map[uint32]string{0x200: "ia64", 0xa641: "arm64ec"}
	otherMac = map[uint32]string{0x200000c: "arm64_32"}
)

// cpuName returns the name of a processor by its number in a format: the table's that was found, or
// that in others.
func cpuName(a *cpu.Arch, others map[uint32]string, number uint32) string {
	if name := others[number]; name != "" {
		return name
	}
	if a != nil {
		return a.Name
	}
	return fmt.Sprintf("processor %#x", number)
}

// elfCPU returns the processor of an ELF header. Flags, which distinguish calling conventions, and
// an unusual class are ignored.
func elfCPU(head []byte, machine uint16) string {
	a := cpu.ByELF(machine, 32*int(head[4]), 0)
	for _, class := range []int{32, 64} {
		if a == nil {
			a = cpu.ByELF(machine, class, 0)
		}
	}
	return cpuName(a, otherELF, uint32(machine))
}

// sniffELF reads the header: 4 class, 5 byte order, 16 type u16, 18 machine u16, and the program
// headers, in which an executable that can be loaded anywhere differs from a library by naming its
// interpreter.
func sniffELF(_ *input.Source, head []byte) Guess {
	if len(head) < 20 || string(head[:4]) != "\x7fELF" {
		return Guess{}
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[5] == 2 {
		order = binary.BigEndian
	}
	what := "an ELF file"
	switch order.Uint16(head[16:]) {
	case 1:
		what = "an ELF object file"
	case 2:
		what = "an ELF executable"
	case 3:
		what = "an ELF shared library"
		if hasInterpreter(head, order) {
			what = "an ELF executable"
		}
	case 4:
		what = "an ELF core file"
	}
	what += " for " + elfCPU(head, order.Uint16(head[18:]))
	if order.Uint16(head[16:]) == 4 {
		return Guess{ELFCore, what}
	}
	return Guess{ELF, what}
}

// hasInterpreter looks for a PT_INTERP program header, as far as the headers are in the first
// bytes.
func hasInterpreter(head []byte, order binary.ByteOrder) bool {
	const ptInterp = 3
	if len(head) < 64 {
		return false
	}
	off, size, count := uint64(order.Uint32(head[28:])), order.Uint16(head[42:]), order.Uint16(head[44:])
	if head[4] == 2 {
		off, size, count = order.Uint64(head[32:]), order.Uint16(head[54:]), order.Uint16(head[56:])
	}
	if size < 4 || off > sniffSize {
		return false
	}
	for i := uint64(0); i < uint64(count); i++ {
		at := off + i*uint64(size)
		if at+4 > uint64(len(head)) {
			return false
		}
		if order.Uint32(head[at:]) == ptInterp {
			return true
		}
	}
	return false
}

// sniffPE follows the DOS header's pointer at 60 to "PE\0\0", the machine and, 18 bytes after
// that, the characteristics.
func sniffPE(_ *input.Source, head []byte) Guess {
	const isDLL = 0x2000
	if len(head) < 64 || string(head[:2]) != "MZ" {
		return Guess{}
	}
	// The pointer is a few hundred bytes in all real files; a far one must not make us unpack a
	// whole archive.
	at := int64(binary.LittleEndian.Uint32(head[60:]))
	if at+24 > int64(len(head)) || string(head[at:at+4]) != "PE\x00\x00" {
		return Guess{PE, "a DOS program, or a damaged Windows program"}
	}
	coff, what := head[at:], "a Windows program"
	if binary.LittleEndian.Uint16(coff[22:])&isDLL != 0 {
		what = "a Windows DLL"
	}
	machine := binary.LittleEndian.Uint16(coff[4:])
	return Guess{PE, what + " for " + cpuName(cpu.ByPE(machine), otherPE, uint32(machine))}
}

// fat64 is the magic number of a fat header with 64-bit offsets.
const fat64 = 0xcafebabf

// sniffMachO reads the header: magic, 4 cpu type, 12 file type; or a fat header: magic, 4 the
// number of files in it.
func sniffMachO(_ *input.Source, head []byte) Guess {
	if len(head) < 16 {
		return Guess{}
	}
	switch magic := binary.BigEndian.Uint32(head); magic {
	case 0xcafebabe, fat64:
		// Java class files have the same magic and then their version, which is 45 or more.
		if n := binary.BigEndian.Uint32(head[4:]); n >= 45 && magic == 0xcafebabe {
			return Guess{OtherBinary, "a Java class file"}
		}
		return Guess{Fat, "a Mach-O file for several processors (fat)"}
	case 0xfeedface, 0xfeedfacf:
		return machO(head, binary.BigEndian)
	case 0xcefaedfe, 0xcffaedfe:
		return machO(head, binary.LittleEndian)
	}
	return Guess{}
}

// machO says what kind of Mach-O file a header is of, by its field filetype.
func machO(head []byte, order binary.ByteOrder) Guess {
	what := "a Mach-O file"
	number := order.Uint32(head[4:])
	of := " for " + cpuName(cpu.ByMachO(number), otherMac, number)
	switch order.Uint32(head[12:]) {
	case 1:
		what = "a Mach-O object file"
	case 2:
		what = "a Mach-O executable"
	case 4:
		return Guess{MachOCore, "a Mach-O core file" + of + ", not a minidump"}
	case 6:
		what = "a Mach-O library"
	case 8:
		what = "a Mach-O bundle"
	case 10:
		what = "the debug information of a dSYM folder (Mach-O)"
	case 11:
		what = "a kernel extension (Mach-O)"
	case 12:
		what = "a kernel collection (Mach-O)"
	}
	return Guess{MachO, what + of}
}

// sniffCache reads the magic number of a dyld shared cache, which ends in the name of its processor:
// "dyld_v1  arm64e". The files that a large cache is split into begin with the same.
//
// Source: dyld_cache_format.h of Apple's dyld.
func sniffCache(_ *input.Source, head []byte) Guess {
	if len(head) < 16 || !strings.HasPrefix(string(head), "dyld_v") || head[15] != 0 || !isText(head[:15], true) {
		return Guess{}
	}
	return Guess{Cache, "a shared cache of libraries of macOS or iOS for " + strings.TrimSpace(string(head[7:15])) +
		"; extract those of the stack (ipsw dyld extract), or use the copies that Xcode makes of a device's (iOS DeviceSupport/VERSION/Symbols)"}
}

// sniffImage recognizes a disk image by its last 512 bytes, which begin with "koly". It looks at those
// of files with the name of one only: an archive's member is unpacked for that as a whole.
func sniffImage(src *input.Source, _ []byte) Guess {
	const trailer = 512
	if src.Size < trailer || !strings.HasSuffix(strings.ToLower(src.Name), ".dmg") {
		return Guess{}
	}
	if b, err := src.Bytes(src.Size-trailer, 4); err != nil || string(b) != "koly" {
		return Guess{}
	}
	return Guess{DiskImage, "a disk image of macOS (.dmg); open it first"}
}
