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
	// Form is what its content is, as far as the type tells.
	Form Form
	// Decoded says that this build reads the stream and it was read without error.
	Decoded bool
	// Duplicate: a later stream of the same type exists, which is used instead.
	Duplicate bool
}

// Form is what a stream's content is.
type Form uint8

const (
	FormBytes  Form = iota // only its writer knows its format, or the type is unknown
	FormFields             // decoded into fields of Dump
	FormText               // UTF-8 or ASCII; some are decoded besides
	FormJSON               // JSON text
)

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
	StreamThreadExList   StreamType = 8
	StreamWineModules    StreamType = 0xfff0
	StreamBreakpadInfo   StreamType = 0x47670001
	StreamAssertion      StreamType = 0x47670002
	StreamLinuxCPUInfo   StreamType = 0x47670003
	StreamLinuxStatus    StreamType = 0x47670004
	StreamLinuxLSB       StreamType = 0x47670005
	StreamLinuxCmdLine   StreamType = 0x47670006
	StreamLinuxEnviron   StreamType = 0x47670007
	StreamLinuxAuxv      StreamType = 0x47670008
	StreamLinuxMaps      StreamType = 0x47670009
	StreamLLDB           StreamType = 0x4c4c4442
)

// The most entries that are read of a list. An entry takes more room in memory than in the file,
// and a file can be made of nothing else; the largest real dumps stay far below (Breakpad's own
// limits are 2048 modules and 4096 threads or regions).
const (
	maxModules = 50_000
	maxThreads = 50_000
	maxRegions = 200_000
)

// decoder reads one stream from its cursor into the dump. What stops it is the cursor's error; what
// it can live with goes to Dump.diagnose.
type decoder func(d *Dump, s *Stream, c *input.Cursor)

// streamRow is all there is to know about a stream type.
type streamRow struct {
	Type   StreamType
	Name   string
	Vendor string
	Form   Form
	Decode decoder // nil: named, shown as bytes
}

// streamTable has one row a stream type. Decoding goes through it from top to bottom, not in the
// order of the file: SystemInfo comes first because modules and contexts depend on it.
//
// Types 0 to 24: minidumpapiset.h; 0x4767: minidump_format.h; 0x4350: Crashpad's
// minidump_extensions.h; 0x4d7a: Mozilla's additions in rust-minidump's format.rs; 0xfff0: Wine's
// dlls/dbghelp/minidump.c (inside Microsoft's range); 0xFACE and 0x4C4C4442: LLVM's
// MinidumpConstants.def; 0x4b6b: Chromium's stability report.
var streamTable []streamRow

// Set in init because decoders refer, through diagnostics, to the table's names.
func init() {
	streamTable = []streamRow{
		{StreamSystemInfo, "SystemInfo", "Microsoft", FormFields, decodeSystemInfo},
		{StreamMiscInfo, "MiscInfo", "Microsoft", FormFields, decodeMiscInfo},
		{StreamThreadList, "ThreadList", "Microsoft", FormFields, decodeThreadList},
		{StreamThreadExList, "ThreadExList", "Microsoft", FormFields, decodeThreadExList},
		{StreamThreadNames, "ThreadNames", "Microsoft", FormFields, decodeThreadNames},
		{StreamModuleList, "ModuleList", "Microsoft", FormFields, decodeModuleList},
		{StreamUnloadedList, "UnloadedModuleList", "Microsoft", FormFields, decodeUnloadedList},
		{StreamMemoryList, "MemoryList", "Microsoft", FormFields, decodeMemoryList},
		{StreamMemory64List, "Memory64List", "Microsoft", FormFields, decodeMemory64List},
		{StreamMemoryInfoList, "MemoryInfoList", "Microsoft", FormFields, decodeMemoryInfoList},
		{StreamException, "Exception", "Microsoft", FormFields, decodeException},
		{StreamBreakpadInfo, "BreakpadInfo", "Breakpad", FormFields, decodeBreakpadInfo},
		{StreamAssertion, "AssertionInfo", "Breakpad", FormFields, decodeAssertion},
		{StreamLinuxCPUInfo, "LinuxCpuInfo", "Breakpad", FormText, decodeLinuxCPUInfo},
		{StreamLinuxStatus, "LinuxProcStatus", "Breakpad", FormText, decodeLinuxStatus},
		{StreamLinuxLSB, "LinuxLsbRelease", "Breakpad", FormText, decodeLinuxLSB},
		{StreamLinuxMaps, "LinuxMaps", "Breakpad", FormText, decodeLinuxMaps},
		{StreamLinuxCmdLine, "LinuxCmdLine", "Breakpad", FormText, decodeLinuxRaw},
		{StreamLinuxEnviron, "LinuxEnviron", "Breakpad", FormText, decodeLinuxRaw},
		{StreamLinuxAuxv, "LinuxAuxv", "Breakpad", FormFields, decodeLinuxAuxv},

		{StreamUnused, "Unused", "Microsoft", FormBytes, nil},
		{1, "Reserved0", "Microsoft", FormBytes, nil},
		{2, "Reserved1", "Microsoft", FormBytes, nil},
		{10, "CommentA", "Microsoft", FormText, decodeCommentA},
		{11, "CommentW", "Microsoft", FormFields, decodeCommentW},
		{12, "HandleData", "Microsoft", FormFields, decodeHandleData},
		{13, "FunctionTable", "Microsoft", FormFields, decodeFunctionTable},
		{17, "ThreadInfoList", "Microsoft", FormFields, decodeThreadInfoList},
		{18, "HandleOperationList", "Microsoft", FormFields, decodeHandleOperations},
		{19, "Token", "Microsoft", FormFields, decodeTokens},
		{20, "JavaScriptData", "Microsoft", FormBytes, nil},
		{21, "SystemMemoryInfo", "Microsoft", FormFields, decodeSystemMemory},
		{22, "ProcessVmCounters", "Microsoft", FormFields, decodeVMCounters},
		{23, "IptTrace", "Microsoft", FormBytes, nil},
		{StreamWineModules, "WineHostModuleList", "Wine", FormFields, decodeHostModules},
		{0x8000, "CeNull", "Microsoft", FormBytes, nil},
		{0x8001, "CeSystemInfo", "Microsoft", FormBytes, nil},
		{0x8002, "CeException", "Microsoft", FormBytes, nil},
		{0x8003, "CeModuleList", "Microsoft", FormBytes, nil},
		{0x8004, "CeProcessList", "Microsoft", FormBytes, nil},
		{0x8005, "CeThreadList", "Microsoft", FormBytes, nil},
		{0x8006, "CeThreadContextList", "Microsoft", FormBytes, nil},
		{0x8007, "CeThreadCallStackList", "Microsoft", FormBytes, nil},
		{0x8008, "CeMemoryVirtualList", "Microsoft", FormBytes, nil},
		{0x8009, "CeMemoryPhysicalList", "Microsoft", FormBytes, nil},
		{0x800a, "CeBucketParameters", "Microsoft", FormBytes, nil},
		{0x800b, "CeProcessModuleMap", "Microsoft", FormBytes, nil},
		{0x800c, "CeDiagnosisList", "Microsoft", FormBytes, nil},
		{0x4767000a, "LinuxDsoDebug", "Breakpad", FormFields, decodeLinuxDSODebug},
		{0x4767000b, "LinuxProcStat", "LLDB", FormText, decodeText},
		{0x4767000c, "LinuxProcUptime", "LLDB", FormText, decodeText},
		{0x4767000d, "LinuxProcFD", "LLDB", FormText, decodeText},
		{0x43500001, "CrashpadInfo", "Crashpad", FormFields, decodeCrashpadInfo},
		{0x4b6b0002, "StabilityReport", "Chromium", FormBytes, nil},
		{0x4d7a0001, "MozMacosCrashInfo", "Mozilla", FormFields, decodeMacCrashInfo},
		{0x4d7a0002, "MozMacosBootArgs", "Mozilla", FormFields, decodeMacBootArgs},
		{0x4d7a0003, "MozLinuxLimits", "Mozilla", FormText, decodeLinuxLimits},
		{0x4d7a0004, "MozSoftErrors", "Mozilla", FormJSON, decodeSoftErrors},
		{0xface1ca7, "FacebookLogcat", "Facebook", FormText, decodeText},
		{0xfacecafa, "FacebookAppCustomData", "Facebook", FormJSON, decodeText},
		{0xfacecafb, "FacebookBuildID", "Facebook", FormText, decodeText},
		{0xfacecafc, "FacebookAppVersionName", "Facebook", FormText, decodeText},
		{0xfacecafd, "FacebookJavaStack", "Facebook", FormText, decodeText},
		{0xfacecafe, "FacebookDalvikInfo", "Facebook", FormText, decodeText},
		{0xfacecaff, "FacebookUnwindSymbols", "Facebook", FormBytes, nil},
		{0xfacecb00, "FacebookDumpErrorLog", "Facebook", FormText, decodeText},
		{0xfacecccc, "FacebookAppStateLog", "Facebook", FormText, decodeText},
		{0xfacedead, "FacebookAbortReason", "Facebook", FormText, decodeText},
		{0xfacee000, "FacebookThreadName", "Facebook", FormText, decodeText},
		{StreamLLDB, "LLDBGenerated", "LLDB", FormBytes, nil},
	}
}

// row returns the stream's row of the table, or nil for a type that the table lacks.
func (t StreamType) row() *streamRow {
	for i := range streamTable {
		if streamTable[i].Type == t {
			return &streamTable[i]
		}
	}
	return nil
}

// Name returns the stream's name without "Stream", or "" if the type is not known.
func (t StreamType) Name() string {
	if r := t.row(); r != nil {
		return r.Name
	}
	return ""
}

// Vendor returns who defined the stream. Types that are not known go by their upper half, which is
// each vendor's mark.
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

// form returns how a stream's content is shown: as bytes for a type that the table lacks.
func (t StreamType) form() Form {
	if r := t.row(); r != nil {
		return r.Form
	}
	return FormBytes
}

// part names the stream in errors.
func (t StreamType) part() string {
	if n := t.Name(); n != "" {
		return n + " stream"
	}
	return fmt.Sprintf("stream 0x%x", uint32(t))
}

// decodeStreams decodes the streams in the order of the table, not of the file: some need what
// others say, such as the system.
func (d *Dump) decodeStreams() {
	for i := range streamTable {
		row := &streamTable[i]
		if row.Decode == nil {
			continue
		}
		for k := range d.Streams {
			// Of several exceptions each is decoded.
			if s := &d.Streams[k]; s.Type == row.Type && (!s.Duplicate || s.Type == StreamException) {
				d.decodeStream(row, s)
			}
		}
	}
}

// breakpadStreams is the high half of the types of Breakpad's own streams.
const breakpadStreams = 0x4767

// decodeStream decodes one stream.
func (d *Dump) decodeStream(row *streamRow, s *Stream) {
	if s.Loc == (Location{}) && s.Type>>16 == breakpadStreams {
		s.Decoded = true // the entry of an optional stream that the writer had nothing for
		return
	}
	c := input.NewCursor(d.Src, row.Type.part(), int64(s.Loc.Off), int64(s.Loc.Size), d.Header.Order)
	before := d.bad
	if !s.Loc.In(d.Src.Size) {
		d.remark(Bad, row.Type, int64(s.Loc.Off), fmt.Sprintf("%d bytes", s.Loc.Size), fmt.Sprintf("a file of %d bytes", d.Src.Size))
	}
	row.Decode(d, s, c)
	d.endPadding(s, c)
	d.diagnose(Bad, row.Type, c.Err())
	s.Decoded = c.Err() == nil && d.bad == before
}

// endPadding goes over the zeros with which writers round a stream's size up.
func (d *Dump) endPadding(s *Stream, c *input.Cursor) {
	n := c.Left()
	if n == 0 || n > maxPadding {
		return
	}
	if p, err := d.Src.Bytes(c.Off(), n); err == nil && allZero(p) {
		d.Src.NoteRead(s.Type.part()+", padding", c.Off(), n)
	}
}

// maxPadding is the most that a writer pads a stream with, in bytes.
const maxPadding = 16

// Stream returns the directory entry of a type that is used, the last one, or nil.
func (d *Dump) Stream(t StreamType) *Stream {
	for i := range d.Streams {
		if d.Streams[i].Type == t && !d.Streams[i].Duplicate {
			return &d.Streams[i]
		}
	}
	return nil
}

// countedList reads the count of the old kind of list (a 32-bit number, then the entries) and says
// how many entries of size bytes to read, at most most of them. Writers with 8-byte alignment put 4
// bytes between the count and the entries; both peers know those by the stream's size. A count that
// the stream has no room for is cut.
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

// sizedList reads the header of the newer kind of list, which says its own size and that of an
// entry. It leaves the cursor at the first entry.
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

// DecodedStreams returns the types of stream that this package decodes, in the order in which it
// does.
func DecodedStreams() []StreamType {
	var out []StreamType
	for i := range streamTable {
		if streamTable[i].Decode != nil {
			out = append(out, streamTable[i].Type)
		}
	}
	return out
}
