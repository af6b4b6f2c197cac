package core

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

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

// The stream types that this package decodes.
const (
	StreamUnused         StreamType = 0
	StreamThreadList     StreamType = 3
	StreamModuleList     StreamType = 4
	StreamMemoryList     StreamType = 5
	StreamException      StreamType = 6
	StreamSystemInfo     StreamType = 7
	StreamMemory64List   StreamType = 9
	StreamUnloadedList   StreamType = 14
	StreamMiscInfo       StreamType = 15
	StreamMemoryInfoList StreamType = 16
	StreamThreadNames    StreamType = 24
	StreamBreakpadInfo   StreamType = 0x47670001
	StreamAssertion      StreamType = 0x47670002
	StreamLinuxCPUInfo   StreamType = 0x47670003
	StreamLinuxStatus    StreamType = 0x47670004
	StreamLinuxLSB       StreamType = 0x47670005
	StreamLinuxCmdLine   StreamType = 0x47670006
	StreamLinuxEnviron   StreamType = 0x47670007
	StreamLinuxAuxv      StreamType = 0x47670008
	StreamLinuxMaps      StreamType = 0x47670009
)

// The most entries that are read of a list. An entry takes more room in memory than in the file, and a file can be made of nothing
// else; the largest real dumps stay far below (Breakpad's own limits are 2048 modules and 4096 threads or regions).
const (
	maxModules = 50_000
	maxThreads = 50_000
	maxRegions = 200_000
)

// decoder reads one stream from its cursor into the dump. What stops it is the cursor's error; what it can live with goes
// to Dump.diagnose.
type decoder func(d *Dump, s *Stream, c *input.Cursor)

// streamRow is all there is to know of a stream type.
type streamRow struct {
	Type   StreamType
	Name   string
	Vendor string
	Decode decoder // nil: named, not decoded
}

// streamTable has one row a stream type. Decoding goes through it from top to bottom, not in the order of the file:
// SystemInfo comes first because modules and contexts depend on it.
//
// Types 0 to 24: minidumpapiset.h; 0x4767: minidump_format.h; 0x4350: Crashpad's minidump_extensions.h; 0x4d7a: Mozilla's
// additions in rust-minidump's format.rs; 0xFACE and 0x4C4C4442: LLVM's MinidumpConstants.def; 0x4b6b: Chromium's
// stability report.
var streamTable []streamRow

// Set in init because decoders refer, through diagnostics, to the table's names.
func init() {
	streamTable = []streamRow{
		{StreamSystemInfo, "SystemInfo", "Microsoft", decodeSystemInfo},
		{StreamMiscInfo, "MiscInfo", "Microsoft", decodeMiscInfo},
		{StreamThreadList, "ThreadList", "Microsoft", decodeThreadList},
		{StreamThreadNames, "ThreadNames", "Microsoft", decodeThreadNames},
		{StreamModuleList, "ModuleList", "Microsoft", decodeModuleList},
		{StreamUnloadedList, "UnloadedModuleList", "Microsoft", decodeUnloadedList},
		{StreamMemoryList, "MemoryList", "Microsoft", decodeMemoryList},
		{StreamMemory64List, "Memory64List", "Microsoft", decodeMemory64List},
		{StreamMemoryInfoList, "MemoryInfoList", "Microsoft", decodeMemoryInfoList},
		{StreamException, "Exception", "Microsoft", decodeException},
		{StreamBreakpadInfo, "BreakpadInfo", "Breakpad", decodeBreakpadInfo},
		{StreamAssertion, "AssertionInfo", "Breakpad", decodeAssertion},
		{StreamLinuxCPUInfo, "LinuxCpuInfo", "Breakpad", decodeLinuxCPUInfo},
		{StreamLinuxStatus, "LinuxProcStatus", "Breakpad", decodeLinuxStatus},
		{StreamLinuxLSB, "LinuxLsbRelease", "Breakpad", decodeLinuxLSB},
		{StreamLinuxMaps, "LinuxMaps", "Breakpad", decodeLinuxMaps},
		{StreamLinuxCmdLine, "LinuxCmdLine", "Breakpad", decodeLinuxRaw},
		{StreamLinuxEnviron, "LinuxEnviron", "Breakpad", decodeLinuxRaw},
		{StreamLinuxAuxv, "LinuxAuxv", "Breakpad", decodeLinuxRaw},

		{StreamUnused, "Unused", "Microsoft", nil},
		{1, "Reserved0", "Microsoft", nil},
		{2, "Reserved1", "Microsoft", nil},
		{8, "ThreadExList", "Microsoft", nil},
		{10, "CommentA", "Microsoft", nil},
		{11, "CommentW", "Microsoft", nil},
		{12, "HandleData", "Microsoft", nil},
		{13, "FunctionTable", "Microsoft", nil},
		{17, "ThreadInfoList", "Microsoft", nil},
		{18, "HandleOperationList", "Microsoft", nil},
		{19, "Token", "Microsoft", nil},
		{20, "JavaScriptData", "Microsoft", nil},
		{21, "SystemMemoryInfo", "Microsoft", nil},
		{22, "ProcessVmCounters", "Microsoft", nil},
		{23, "IptTrace", "Microsoft", nil},
		{0x8000, "CeNull", "Microsoft", nil},
		{0x8001, "CeSystemInfo", "Microsoft", nil},
		{0x8002, "CeException", "Microsoft", nil},
		{0x8003, "CeModuleList", "Microsoft", nil},
		{0x8004, "CeProcessList", "Microsoft", nil},
		{0x8005, "CeThreadList", "Microsoft", nil},
		{0x8006, "CeThreadContextList", "Microsoft", nil},
		{0x8007, "CeThreadCallStackList", "Microsoft", nil},
		{0x8008, "CeMemoryVirtualList", "Microsoft", nil},
		{0x8009, "CeMemoryPhysicalList", "Microsoft", nil},
		{0x800a, "CeBucketParameters", "Microsoft", nil},
		{0x800b, "CeProcessModuleMap", "Microsoft", nil},
		{0x800c, "CeDiagnosisList", "Microsoft", nil},
		{0x4767000a, "LinuxDsoDebug", "Breakpad", nil},
		{0x4767000b, "LinuxProcStat", "LLDB", nil},
		{0x4767000c, "LinuxProcUptime", "LLDB", nil},
		{0x4767000d, "LinuxProcFD", "LLDB", nil},
		{0x43500001, "CrashpadInfo", "Crashpad", nil},
		{0x4b6b0002, "StabilityReport", "Chromium", nil},
		{0x4d7a0001, "MozMacosCrashInfo", "Mozilla", nil},
		{0x4d7a0002, "MozMacosBootArgs", "Mozilla", nil},
		{0x4d7a0003, "MozLinuxLimits", "Mozilla", nil},
		{0x4d7a0004, "MozSoftErrors", "Mozilla", nil},
		{0xface1ca7, "FacebookLogcat", "Facebook", nil},
		{0xfacecafa, "FacebookAppCustomData", "Facebook", nil},
		{0xfacecafb, "FacebookBuildID", "Facebook", nil},
		{0xfacecafc, "FacebookAppVersionName", "Facebook", nil},
		{0xfacecafd, "FacebookJavaStack", "Facebook", nil},
		{0xfacecafe, "FacebookDalvikInfo", "Facebook", nil},
		{0xfacecaff, "FacebookUnwindSymbols", "Facebook", nil},
		{0xfacecb00, "FacebookDumpErrorLog", "Facebook", nil},
		{0xfacecccc, "FacebookAppStateLog", "Facebook", nil},
		{0xfacedead, "FacebookAbortReason", "Facebook", nil},
		{0xfacee000, "FacebookThreadName", "Facebook", nil},
		{0x4c4c4442, "LLDBGenerated", "LLDB", nil},
	}
}

func (t StreamType) row() *streamRow {
	for i := range streamTable {
		if streamTable[i].Type == t {
			return &streamTable[i]
		}
	}
	return nil
}

// Name is the stream's name without "Stream", or "" if the type is not known.
func (t StreamType) Name() string {
	if r := t.row(); r != nil {
		return r.Name
	}
	return ""
}

// Vendor is who defined the stream. Types that are not known go by their upper half, which is each vendor's mark.
func (t StreamType) Vendor() string {
	if r := t.row(); r != nil {
		return r.Vendor
	}
	switch t >> 16 {
	case 0:
		return "Microsoft" // everything up to LastReservedStream, 0xffff
	case 0x4767:
		return "Breakpad"
	case 0x4350:
		return "Crashpad"
	case 0x4b6b:
		return "Chromium"
	case 0x4d7a:
		return "Mozilla"
	case 0xface:
		return "Facebook"
	}
	return "Unknown"
}

// part names the stream in errors.
func (t StreamType) part() string {
	if n := t.Name(); n != "" {
		return n + " stream"
	}
	return fmt.Sprintf("stream 0x%x", uint32(t))
}

func (d *Dump) decodeStreams() {
	for i := range streamTable {
		row := &streamTable[i]
		if row.Decode == nil {
			continue
		}
		if s := d.Stream(row.Type); s != nil {
			c := input.NewCursor(d.Src, row.Type.part(), int64(s.Loc.Off), int64(s.Loc.Size), d.Header.Order)
			before := len(d.Diags)
			if !s.Loc.In(d.Src.Size) {
				d.remark(Bad, row.Type, int64(s.Loc.Off), fmt.Sprintf("%d bytes", s.Loc.Size), fmt.Sprintf("a file of %d bytes", d.Src.Size))
			}
			row.Decode(d, s, c)
			d.diagnose(Bad, row.Type, c.Err())
			s.Decoded = c.Err() == nil
			for _, diag := range d.Diags[before:] {
				s.Decoded = s.Decoded && diag.Severity != Bad
			}
		}
	}
}

// Stream is the first directory entry of a type, the one that is used, or nil.
func (d *Dump) Stream(t StreamType) *Stream {
	for i := range d.Streams {
		if d.Streams[i].Type == t && !d.Streams[i].Duplicate {
			return &d.Streams[i]
		}
	}
	return nil
}

// countedList reads the count of the old kind of list (a 32-bit number, then the entries) and says how many entries of
// size bytes to read, at most most of them. Writers with 8-byte alignment put 4 bytes between the count and the entries; both peers know those by
// the stream's size. A count that the stream has no room for is cut.
func (d *Dump) countedList(s *Stream, c *input.Cursor, size, most int64) int {
	count := int64(c.U32())
	if c.Err() != nil {
		return 0
	}
	if int64(s.Loc.Size) == 4+4+count*size {
		c.Skip(4)
	}
	return d.fit(s, c, count, size, most)
}

// sizedList reads the header of the newer kind of list, which says its own size and that of an entry. It leaves the cursor
// at the first entry.
//
//	0 SizeOfHeader u32 · 4 SizeOfEntry u32 · 8 NumberOfEntries u32 or u64
func (d *Dump) sizedList(s *Stream, c *input.Cursor, minEntry, most int64, wide bool) (count int, entry int64) {
	start := c.Off()
	header, entry := int64(c.U32()), int64(c.U32())
	var n uint64
	if wide {
		n = c.U64()
	} else {
		n = uint64(c.U32())
	}
	read := c.Off() - start
	if c.Err() != nil {
		return 0, 0
	}
	if header < read || entry < minEntry {
		c.FailAt(start, fmt.Sprintf("a header of %d bytes or more and entries of %d or more", read, minEntry), fmt.Sprintf("%d and %d", header, entry))
		return 0, 0
	}
	c.Skip(header - read)
	return d.fit(s, c, int64(min(n, 1<<40)), entry, most), entry
}

// fit cuts a claimed count to the room that the stream has, and to most.
func (d *Dump) fit(s *Stream, c *input.Cursor, count, size, most int64) int {
	room := c.Left() / size
	if count > most && room > most {
		d.remark(Bad, s.Type, c.Off(), fmt.Sprintf("at most %d entries", most), fmt.Sprint(count))
		return int(most)
	}
	if count > room {
		d.remark(Bad, s.Type, c.Off(), fmt.Sprintf("%d entries of %d bytes", count, size), fmt.Sprintf("room for %d", room))
		return int(room)
	}
	return int(count)
}
