package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// OSName returns the system's name: "Windows NT", "Linux", …, and the number of one without a name.
// Like all facts about the system it is empty without a SystemInfo stream.
func (d *Dump) OSName() string {
	i := d.System
	if i == nil || d.Micro != nil && i.OS == OSUnknown {
		return ""
	}
	for _, row := range osTable {
		if row.Platform == i.PlatformID {
			return row.Name
		}
	}
	return fmt.Sprintf("0x%08x", i.PlatformID)
}

// OSVersion is "major.minor.build", then a space and the system's own text (a service pack, Apple's
// build). Linux writers leave the numbers 0 and have uname's text, "Linux <version> <build …>
// <arch> [Linux/GNU]": the version is taken out of it then. A microdump has a text alone.
func (d *Dump) OSVersion() string {
	i := d.System
	switch {
	case i == nil:
		return ""
	case d.Micro != nil:
		return d.Micro.Fingerprint
	case d.Registers != nil: // cores do not say
		return ""
	}
	numbers := fmt.Sprintf("%d.%d.%d", i.Major, i.Minor, i.Build)
	if parts := strings.Split(i.CSDVersion, " "); i.OS == OSLinux && numbers == "0.0.0" && len(parts) > 1 && parts[1] != "0.0.0" {
		version, build := parts[1], parts[2:]
		if n := len(build); n > 1 && build[n-1] == "Linux/GNU" {
			build = build[:n-1]
		}
		return version + " " + strings.Join(build[:max(0, len(build)-1)], " ") // without the architecture
	}
	if build := strings.TrimSpace(i.CSDVersion); build != "" {
		return numbers + " " + build
	}
	return numbers
}

// BuildText returns the text that SystemInfo points to, which may be empty, or nil.
func (d *Dump) BuildText() *string {
	if d.System == nil || d.Micro != nil || d.Registers != nil {
		return nil
	}
	if p, err := d.Src.Bytes(int64(d.System.Loc.Off)+24, 4); d.System.CSDVersion == "" && (err != nil || d.Header.Order.Uint32(p) == 0) {
		return nil
	}
	return &d.System.CSDVersion
}

// CPUName returns the processor's name, or the number of one without a name. If two CPUs have
// its number, the dump's registers say which it is.
func (d *Dump) CPUName() string {
	i := d.System
	if i == nil {
		return ""
	}
	archs := archsOf(i.Processor)
	if len(archs) > 1 {
		archs = []*cpu.Arch{d.Arch()}
	}
	for _, a := range archs {
		return a.Name
	}
	if d.Micro != nil {
		return d.Micro.Arch
	}
	return fmt.Sprintf("0x%04x", i.Processor)
}

// CPUInfo returns the CPU's make, or "". Only x86 has the vendor in SystemInfo; arm has an id and
// feature bits, and a microdump the machine's own name.
func (d *Dump) CPUInfo() string {
	i := d.System
	switch {
	case i == nil:
		return ""
	case d.Micro != nil:
		return d.Micro.Hardware
	case d.Registers != nil:
		return ""
	}
	family := fmt.Sprintf("family %d model %d stepping %d", i.Level, i.Revision>>8, i.Revision&0xff)
	if i.host != 0 { // the rest of SystemInfo is about that processor
		return family
	}
	switch i.Processor {
	case ProcX86, ProcX86Win64:
		return i.vendor(d) + " " + family
	case ProcAMD64:
		return family
	case ProcARM:
		return i.armInfo(d)
	}
	return ""
}

// vendor returns the answer to cpuid 0: three words of four letters.
func (i *SystemInfo) vendor(d *Dump) string {
	var p [12]byte
	for k := 0; k < 12; k += 4 {
		binary.LittleEndian.PutUint32(p[k:], d.Header.Order.Uint32(i.CPUBytes[k:]))
	}
	return string(bytes.ToValidUTF8(p[:], []byte("\uFFFD")))
}

// armInfo describes an ARM CPU: its architecture, maker and part from the MIDR register (with
// revision and variant masked), and Linux' hwcaps by name, those without a name as a number.
func (i *SystemInfo) armInfo(d *Dump) string {
	s := fmt.Sprintf("ARMv%d", i.Level)
	id, caps := d.Header.Order.Uint32(i.CPUBytes[0:]), d.Header.Order.Uint32(i.CPUBytes[4:])
	if id != 0 {
		maker, part := id>>24, id&0xff00fff0
		s += " " + named(armMakers, maker, "vendor") + " " + named(armParts, part, "part")
	}
	if caps == 0 {
		return s
	}
	var names []string
	for bit, name := range armCaps {
		if caps&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	if rest := caps >> len(armCaps) << len(armCaps); rest != 0 {
		names = append(names, fmt.Sprintf("0x%x", rest))
	}
	return s + " features: " + strings.Join(names, ",")
}

// named returns the name of an id, or "what(0x12)" for one without a name.
func named(table map[uint32]string, id uint32, what string) string {
	if n := table[id]; n != "" {
		return n
	}
	return fmt.Sprintf("%s(0x%x)", what, id)
}

// Makers and parts (Main ID Register, Arm ARM section B4.1.105), and the hwcaps of the kernel's
// arch/arm/include/uapi/asm/hwcap.h, bit 0 first.
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

// PID returns the process' id: that of /proc/PID/status, else MiscInfo's, else the line Pid of that
// file, which is the id of a thread; nil if the dump has none.
func (d *Dump) PID() *uint32 {
	switch {
	case d.Linux.TGID != nil:
		return d.Linux.TGID
	case d.Misc != nil && d.Misc.HasProcessID:
		return &d.Misc.ProcessID
	case d.Linux.HasPID:
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

// Uptime returns how long the process had run, in seconds, or nil if either time is 0 or the start
// is later than the dump.
func (d *Dump) Uptime() *uint64 {
	start := d.CreateTime()
	if start == nil || *start == 0 || *start > d.Header.Time {
		return nil
	}
	up := uint64(d.Header.Time - *start)
	return &up
}
