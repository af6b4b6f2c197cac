package core

import "github.com/crashpane/crashpane/core/input"

// OS is the system that wrote the dump.
type OS uint8

const (
	OSUnknown OS = iota
	Windows
	MacOS
	IOS
	OSLinux
	Android
	Solaris
	PS3
	NaCl
	Fuchsia
)

// The processor_architecture words (PROCESSOR_ARCHITECTURE_* of winnt.h; from 0x8001 on Breakpad's
// own).
const (
	ProcX86      = 0
	ProcMIPS     = 1
	ProcAlpha    = 2
	ProcPPC      = 3
	ProcSHX      = 4
	ProcARM      = 5
	ProcIA64     = 6
	ProcAlpha64  = 7
	ProcAMD64    = 9
	ProcX86Win64 = 10
	ProcARM64    = 12
	ProcSPARC    = 0x8001
	ProcPPC64    = 0x8002
	ProcARM64Old = 0x8003
	ProcMIPS64   = 0x8004
	ProcRISCV    = 0x8005
	ProcRISCV64  = 0x8006
	ProcUnknown  = 0xffff

	ProcARM32Win64 = 13 // a 32-bit program on 64-bit Windows for ARM
	ProcX86ARM64   = 14
)

// osRow is one platform_id.
type osRow struct {
	Platform uint32
	OS       OS
	Name     string
}

// Platform ids: VER_PLATFORM_* of winnt.h; from 0x8000 on MD_OS_* of minidump_format.h.
var osTable = []osRow{
	{1, Windows, "Windows"}, // Windows 95, 98, ME
	{2, Windows, "Windows NT"},
	{0x8101, MacOS, "Mac OS X"},
	{0x8102, IOS, "iOS"},
	{0x8201, OSLinux, "Linux"},
	{0x8202, Solaris, "Solaris"},
	{0x8203, Android, "Android"},
	{0x8204, PS3, "PS3"},
	{0x8205, NaCl, "NaCl"},
	{0x8206, Fuchsia, "Fuchsia"},
}

// SystemInfo is stream 7 with its strings resolved.
type SystemInfo struct {
	Processor  uint16 // MD_CPU_ARCHITECTURE_*
	Level      uint16
	Revision   uint16
	CPUCount   uint8
	Product    uint8
	Major      uint32
	Minor      uint32
	Build      uint32
	PlatformID uint32 // MD_OS_*
	CSDVersion string
	SuiteMask  uint16
	OS         OS
	// CPUBytes is the processor-specific part (24 bytes): x86 vendor and feature words, ARM cpuid
	// and hwcaps, or two 64-bit feature words.
	CPUBytes [24]byte
	Loc      Location
	// host is the processor that the dump names, if Processor is that of a 32-bit program on it; 0
	// otherwise. Normalized sets it.
	host uint16
}

// decodeSystemInfo reads MINIDUMP_SYSTEM_INFO, 56 bytes. Some writers leave the last 8 out.
//
//	 0 ProcessorArchitecture u16 · 2 Level u16 · 4 Revision u16 · 6 NumberOfProcessors u8 · 7 ProductType u8
//	 8 Major u32 · 12 Minor u32 · 16 Build u32 · 20 PlatformId u32 · 24 CSDVersion string offset u32
//	28 SuiteMask u16 · 30 reserved u16 · 32 CPU information, 24 bytes
func decodeSystemInfo(d *Dump, s *Stream, c *input.Cursor) {
	i := &SystemInfo{Loc: s.Loc}
	i.Processor, i.Level, i.Revision = c.U16(), c.U16(), c.U16()
	i.CPUCount, i.Product = c.U8(), c.U8()
	i.Major, i.Minor, i.Build, i.PlatformID = c.U32(), c.U32(), c.U32(), c.U32()
	csd := c.U32()
	i.SuiteMask = c.U16()
	c.Skip(2)
	if c.Err() != nil {
		return
	}
	i.CSDVersion = d.stringAt(s.Type, FileOff(csd), "OS version string")
	for _, row := range osTable {
		if row.Platform == i.PlatformID {
			i.OS = row.OS
		}
	}
	d.System = i
	c.Fill(i.CPUBytes[:])
}

// OS returns the system that wrote the dump, as far as the dump says.
func (d *Dump) OS() OS {
	if d.System == nil {
		return OSUnknown
	}
	return d.System.OS
}
