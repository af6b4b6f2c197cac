// Package core reads minidumps: what the dump says, decoded into plain Go data, with a diagnostic for everything that is
// wrong in it. It knows nothing of symbols or stacks.
//
// Source of the layouts: Microsoft's minidumpapiset.h and Breakpad's minidump_format.h and its per-CPU headers.
package core

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// Addr is an absolute address in the crashed process. FileOff is a position in the dump file ("RVA" in the format's
// own words). Module-relative addresses are RVA in symfile and walker; the three never mix.
type (
	Addr    uint64
	FileOff uint64
)

// Location is a run of bytes in the dump file.
type Location struct {
	Off  FileOff
	Size uint64
}

// Header is the file's fixed header.
type Header struct {
	Order       binary.ByteOrder // of the whole file, from the signature
	Version     uint32
	StreamCount uint32
	Directory   FileOff
	Checksum    uint32
	Time        uint32 // seconds since 1970 (UTC) when the dump was written
	Flags       uint64 // MINIDUMP_TYPE
}

// Stream is a directory entry.
type Stream struct {
	Type   StreamType
	Name   string // "ThreadList"; "" for an unknown type
	Vendor string // "Microsoft", "Breakpad", "Crashpad", "Mozilla", …; "Unknown"
	Loc    Location
	// Decoded says that this build reads the stream and it was read without error.
	Decoded bool
	// Duplicate: a stream of the same type stood earlier; the first one is used.
	Duplicate bool
}

// StreamType is the number of a stream.
type StreamType uint32

// Severity of a Diagnostic.
type Severity uint8

const (
	Note    Severity = iota // unusual, harmless
	Warning                 // something is missing or was corrected
	Bad                     // a part of the dump could not be read
)

// Diagnostic is something wrong or noteworthy in the dump; the rest of it is still shown.
type Diagnostic struct {
	Severity Severity
	Stream   StreamType // 0 if it is about the file as a whole
	Err      *input.FormatError
}

// Dump is an opened minidump. Everything that is not in the file is nil, empty or zero.
type Dump struct {
	Src     *input.Source
	Header  Header
	Streams []Stream
	Diags   []Diagnostic

	System    *SystemInfo
	Misc      *MiscInfo
	Exception *Exception
	Breakpad  *BreakpadInfo
	Assertion *Assertion
	Threads   []Thread
	Modules   []Module         // in file order
	Unloaded  []UnloadedModule // in file order
	Regions   []MemoryInfo     // MemoryInfoList (16), in file order
	Linux     Linux
	Memory    *Memory // never nil
}

// Arch is the CPU table of the dump's processor, or nil if this build has none for it. The contexts decide if SystemInfo is
// missing or names an unknown processor.

// OS is the system that wrote the dump.
type OS uint8

const (
	OSUnknown OS = iota
	Windows
	MacOS
	IOS
	Linux_
	Android
	Solaris
	PS3
	NaCl
	Fuchsia
)

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
	// CPUBytes is the processor-specific part (24 bytes): x86 vendor and feature words, ARM cpuid and hwcaps, or
	// two 64-bit feature words.
	CPUBytes [24]byte
	Loc      Location
}

// MiscInfo is stream 15, all known versions of it; Size says how much was there.
type MiscInfo struct {
	Size, Flags                                              uint32
	ProcessID                                                uint32
	CreateTime, UserTime, KernelTime                         uint32 // seconds; CreateTime since 1970
	MaxMHz, CurrentMHz, MHzLimit, MaxIdle, CurrentIdle       uint32
	IntegrityLevel, ExecuteFlags, ProtectedProcess           uint32
	TimeZoneID                                               uint32
	TimeZoneBias                                             int32
	StandardName, DaylightName                               string
	BuildString, DbgBldStr                                   string
	XStateFeatures                                           []XStateFeature
	XStateEnabled                                            uint64
	XStateSize                                               uint32
	ProcessCookie                                            uint32
	HasProcessID, HasTimes, HasPower, HasIntegrity, HasBuild bool
}

// XStateFeature is where one feature's bytes lie in an extended context.
type XStateFeature struct{ Index, Offset, Size uint32 }

// Exception is stream 6.
type Exception struct {
	ThreadID   uint32
	Code       uint32
	Flags      uint32
	Record     uint64
	Address    uint64
	Params     []uint64 // NumberParameters of them, at most 15
	ContextLoc Location
}

// BreakpadInfo is stream 0x47670001; a thread id is nil if the writer did not mark it valid.
type BreakpadInfo struct {
	DumpThread, RequestingThread *uint32
}

// Assertion is stream 0x47670002.
type Assertion struct {
	Expression, Function, File string
	Line                       uint32
	Type                       uint32 // 1 invalid parameter, 2 pure virtual call
}

// Thread is an entry of stream 3, with its name from stream 24.
type Thread struct {
	ID, SuspendCount, PriorityClass, Priority uint32
	TEB                                       uint64
	StackStart                                uint64   // address of the lowest stack byte in the dump
	Stack                                     Location // its bytes
	ContextLoc                                Location
	Name                                      string
}

// Module is an entry of stream 4, as stored and as the field reads it.
type Module struct {
	Base, Size    uint64
	Checksum      uint32
	TimeDateStamp uint32
	Name          string // path as stored
	Version       [4]uint16
	HasVersion    bool // VS_FIXEDFILEINFO's signature is right
	FileVersionMS uint32
	FileVersionLS uint32
	CodeView      CodeView
	MiscDebugFile string // IMAGE_DEBUG_MISC (old dumps)
	CodeViewLoc   Location
	MiscLoc       Location
	DebugFile     string // path as stored in the CodeView record, else the module's own
	DebugID       string // 33+ upper-case hex digits as in a symbol store; "" if there is none
	CodeID        string // Windows: timestamp and size; others: the build id or uuid; "" if there is none
}

// CodeView is a module's debug record.
type CodeView struct {
	Signature uint32 // RSDS, NB10, BpEL …; 0 if there is none
	GUID      [16]byte
	Age       uint32
	Offset    uint32 // NB10
	Time      uint32 // NB10
	BuildID   []byte // BpEL
	File      string // PDB name as stored
}

// UnloadedModule is an entry of stream 14.
type UnloadedModule struct {
	Base, Size    uint64
	Checksum      uint32
	TimeDateStamp uint32
	Name          string
}

// MemoryInfo is an entry of stream 16, or of /proc/maps where there is none.
type MemoryInfo struct {
	Base, AllocationBase, Size uint64
	AllocationProtect, State   uint32
	Protect, Type              uint32
}

// Linux is what Breakpad's Linux writer adds: text files of /proc and more.
type Linux struct {
	CPUInfo, Status, LSBRelease, CmdLine, Environ, Auxv, MapsText Location // raw; Size 0 if absent
	LSB                                                           map[string]string
	PID                                                           uint32 // from /proc/status
	HasPID                                                        bool
	StatusFields                                                  []KeyValue
	CPUFields                                                     []KeyValue // of /proc/cpuinfo, first processor first
	Maps                                                          []Mapping
}

// KeyValue is one line of a /proc file.
type KeyValue struct{ Key, Value string }

// Mapping is a line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64 // End exclusive
	Perms      string // "rwxp"
	Offset     uint64
	Device     string
	Inode      uint64
	Path       string
}
