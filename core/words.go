package core

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// Words are one fact in both peers' words.
type Words struct{ Breakpad, Rust string }

// SystemWords is what both peers print of the system. An empty CPUInfo means that the peer prints
// none.
type SystemWords struct {
	OS        Words // "Windows NT", "Linux", …
	OSVersion Words // "10.0.19042"
	CPU       Words // "x86", "amd64", …
	CPUInfo   Words // "GenuineIntel family 6 model 13 stepping 8"
	CPUCount  int
	Microcode *uint64 // rust-minidump only: from /proc/cpuinfo
}

// SystemWords puts SystemInfo into the peers' words: Breakpad's GetOSInfo and GetCPUInfo
// (minidump_processor.cc), rust-minidump's MinidumpSystemInfo (minidump.rs) and its JSON. Without a
// SystemInfo stream everything is empty.
func (d *Dump) SystemWords() SystemWords {
	var w SystemWords
	w.Microcode = d.Microcode()
	i := d.System
	if i == nil {
		return w
	}
	w.OS = Words{fmt.Sprintf("0x%08x", i.PlatformID), fmt.Sprintf("0x%08x", i.PlatformID)}
	for _, row := range osTable {
		if row.Platform != i.PlatformID {
			continue
		}
		w.OS.Breakpad = row.Breakpad
		switch row.OS {
		case Windows:
			w.OS.Rust = "Windows NT" // also for Windows 9x
		case Fuchsia: // not among the platforms that rust-minidump knows
		default:
			w.OS.Rust = row.Breakpad
		}
	}
	w.OSVersion = d.osVersion()
	w.CPU = i.cpuName(d)
	w.CPUInfo = i.cpuInfo(d)
	w.CPUCount = int(i.CPUCount)
	if d.Micro != nil {
		return d.microWords(w)
	}
	return w
}

// osVersion is "major.minor.build", then a space and the system's own text (a service pack, Apple's
// build, uname). Linux writers leave the numbers 0 and uname has them: rust-minidump takes the
// version out of "Linux <version> <build …> <arch> [Linux/GNU]" then and leaves the rest as the
// build.
func (d *Dump) osVersion() Words {
	i := d.System
	numbers := fmt.Sprintf("%d.%d.%d", i.Major, i.Minor, i.Build)
	w := Words{numbers, numbers}
	if i.CSDVersion != "" || d.hasCSD() {
		w.Breakpad += " " + i.CSDVersion
	}
	build := strings.TrimSpace(i.CSDVersion)
	if i.OS == OSLinux && numbers == "0.0.0" {
		parts := strings.Split(i.CSDVersion, " ")
		if len(parts) > 1 && parts[1] != "0.0.0" {
			w.Rust = parts[1]
			parts = parts[2:]
			if n := len(parts); n > 0 {
				last := parts[n-1]
				parts = parts[:n-1]
				if last == "Linux/GNU" && len(parts) > 0 {
					parts = parts[:len(parts)-1]
				}
			}
			w.Rust += " " + strings.Join(parts, " ")
			return w
		}
	}
	if build != "" {
		w.Rust += " " + build
	}
	return w
}

// hasCSD reports whether SystemInfo points to a version string, be it empty: Breakpad prints the
// space before it all the same.
func (d *Dump) hasCSD() bool {
	p, err := d.Src.Bytes(int64(d.System.Loc.Off)+24, 4)
	return err == nil && d.Header.Order.Uint32(p) != 0
}

// cpuName returns how the peers call the processor. Where two CPUs have its number, the dump's
// registers say which it is.
func (i *SystemInfo) cpuName(d *Dump) Words {
	w := Words{fmt.Sprintf("0x%04x", i.Processor), "unknown"}
	archs := archsOf(i.Processor)
	if len(archs) > 1 {
		archs = []*cpu.Arch{d.Arch()}
	}
	for _, a := range archs {
		// Breakpad has no name for programs of 32 bits whose dump Windows' 64-bit debugger wrote,
		// and neither peer has one for those on Windows for ARM.
		if i.Processor != ProcX86Win64 && !i.UnknownToPeers() {
			w.Breakpad = a.Name
		}
		if !a.RustUnknown && !i.UnknownToPeers() {
			w.Rust = a.Name
		}
	}
	return w
}

// cpuInfo returns the CPU's make. Only x86 has the vendor in SystemInfo; arm has an id and feature
// bits.
func (i *SystemInfo) cpuInfo(d *Dump) Words {
	family := fmt.Sprintf("family %d model %d stepping %d", i.Level, i.Revision>>8, i.Revision&0xff)
	if i.host != 0 { // the rest of SystemInfo is about that processor
		return Words{family, family}
	}
	switch i.Processor {
	case ProcX86:
		s := i.vendor(d) + " " + family
		return Words{s, s}
	case ProcX86Win64:
		return Words{"", i.vendor(d) + " " + family}
	case ProcAMD64:
		return Words{family, family}
	case ProcARM:
		return i.armInfo(d)
	}
	return Words{}
}

// vendor returns the answer to cpuid 0: three words of four letters.
func (i *SystemInfo) vendor(d *Dump) string {
	var p [12]byte
	for k := 0; k < 12; k += 4 {
		putLE32(p[k:], d.Header.Order.Uint32(i.CPUBytes[k:]))
	}
	return string(bytes.ToValidUTF8(p[:], []byte("\uFFFD")))
}

// armInfo spells an ARM CPU: its architecture, maker and part from the MIDR register (with revision
// and variant masked), and Linux' hwcaps by name.
func (i *SystemInfo) armInfo(d *Dump) Words {
	s := fmt.Sprintf("ARMv%d", i.Level)
	id, caps := d.Header.Order.Uint32(i.CPUBytes[0:]), d.Header.Order.Uint32(i.CPUBytes[4:])
	if id != 0 {
		maker, part := id>>24, id&0xff00fff0
		s += " " + named(armMakers, maker, "vendor") + " " + named(armParts, part, "part")
	}
	w := Words{s, s}
	if caps != 0 {
		var names []string
		for bit, name := range armCaps {
			if caps&(1<<bit) != 0 {
				names = append(names, name)
			}
		}
		list := " features: " + strings.Join(names, ",")
		w.Breakpad += list
		if len(names) > 0 { // bits without a name count for Breakpad only
			w.Rust += list
		}
	}
	return w
}

// named returns the name of an id, or "what(0x12)" for one without a name.
func named(table map[uint32]string, id uint32, what string) string {
	if n := table[id]; n != "" {
		return n
	}
	return fmt.Sprintf("%s(0x%x)", what, id)
}

// The makers and parts that both peers name (Main ID Register, Arm ARM section B4.1.105), and the
// hwcaps of the kernel's arch/arm/include/uapi/asm/hwcap.h, bit 0 first, in Breakpad's spelling.
var (
	armMakers = map[uint32]string{0x41: "ARM", 0x51: "Qualcomm", 0x56: "Marvell", 0x69: "Intel/Marvell"}
	armParts  = map[uint32]string{
		0x4100c050: "Cortex-A5", 0x4100c080: "Cortex-A8", 0x4100c090: "Cortex-A9", 0x4100c0f0: "Cortex-A15",
		0x4100c140: "Cortex-R4", 0x4100c150: "Cortex-R5", 0x4100b360: "ARM1136", 0x4100b560: "ARM1156",
		0x4100b760: "ARM1176", 0x4100b020: "ARM11-MPCore", 0x41009260: "ARM926", 0x41009460: "ARM946",
		0x41009660: "ARM966", 0x510006f0: "Krait", 0x510000f0: "Scorpion",
	}
	armCaps = []string{"swp", "half", "thumb", "26bit", "fastmult", "fpa", "vfpv2", "edsp", "java", "iwmmxt", "crunch",
		"thumbee", "neon", "vfpv3", "vfpv3d16", "tls", "vfpv4", "idiva", "idivt"}
)

// Microcode returns the CPU's microcode version out of /proc/cpuinfo's first "microcode" line
// ("0x2b"), or nil.
func (d *Dump) Microcode() *uint64 {
	for _, f := range d.Linux.CPUFields {
		if f.Key != "microcode" {
			continue
		}
		digits, ok := strings.CutPrefix(f.Value, "0x")
		if v, err := strconv.ParseUint(digits, 16, 64); ok && err == nil {
			return &v
		}
	}
	return nil
}

// PID returns the process' id: that of /proc/PID/status, else MiscInfo's; nil if neither has it.
func (d *Dump) PID() *uint32 {
	if d.Linux.TGID != nil {
		return d.Linux.TGID
	}
	return d.PIDRust()
}

// PIDRust returns the process id as rust-minidump takes it: MiscInfo's, else the line Pid of
// /proc/PID/status, which is the id of a thread. Breakpad prints none.
func (d *Dump) PIDRust() *uint32 {
	if d.Misc != nil && d.Misc.HasProcessID {
		return &d.Misc.ProcessID
	}
	if d.Linux.HasPID {
		return &d.Linux.PID
	}
	return nil
}

// CreateTime returns when the process started, in seconds since 1970, or nil.
func (d *Dump) CreateTime() *uint32 {
	if d.Misc == nil || !d.Misc.HasTimes {
		return nil
	}
	return &d.Misc.CreateTime
}

// UptimeRust returns how long the process had run, in seconds: the dump's time minus the start, nil
// if the start is missing or later than the dump (rust-minidump's process_uptime).
func (d *Dump) UptimeRust() *uint64 {
	start := d.CreateTime()
	if start == nil || *start > d.Header.Time {
		return nil
	}
	up := uint64(d.Header.Time - *start)
	return &up
}

// UptimeBreakpad returns Breakpad's "Process uptime": nil ("not available") if either time is 0 or
// the start is later than the dump.
func (d *Dump) UptimeBreakpad() *uint64 {
	start := d.CreateTime()
	if start == nil || *start == 0 || d.Header.Time == 0 {
		return nil
	}
	return d.UptimeRust()
}
