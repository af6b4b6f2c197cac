package dumptext

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// fieldNames has the fields whose printed name does not follow from the Go name.
var fieldNames = map[string]string{
	"MaxMHz": "max_mhz", "CurrentMHz": "current_mhz", "MHzLimit": "mhz_limit", "LSBRelease": "lsb_release", "DbgBldStr": "dbg_bld_str",
	"FileVersionMS": "file_version_ms", "FileVersionLS": "file_version_ls",
	"ProductVersionMS": "product_version_ms", "ProductVersionLS": "product_version_ls",
	"XStateFeatures": "xstate_features", "XStateEnabled": "xstate_enabled", "XStateSize": "xstate_size",
}

// omitIfEmpty has the strings that are omitted if they are empty, because then the dump does not
// have them.
var omitIfEmpty = words("Stream.Name Module.MiscDebugFile Module.DebugID Module.CodeID Exception.Name Micro.Signal Micro.Product Micro.ProcessType")

// notPrinted has what says nothing by itself.
var notPrinted = words("Exception.CodeKnown")

// recordFields has the fields of a CodeView record that only one kind of record has.
var recordFields = map[string]uint64{"GUID": core.SigRSDS, "Offset": core.SigNB10, "Time": core.SigNB10, "BuildID": core.SigBpEL}

// minidumps has the structs in which microdumps and core files set only some fields. Zero fields of them
// are omitted for these.
var minidumps = words("Header SystemInfo Thread Exception")

// unlikeCores are further structs in which core files set only some fields, and notInCores the fields that their reader sets to
// what a minidump would have.
var (
	unlikeCores = words("Module CodeView")
	notInCores  = words("SystemInfo.Processor SystemInfo.PlatformID CodeView.Signature")
)

// onlyIf has the fields that are valid only if another field of their struct is true.
var onlyIf = map[string]string{
	"MiscInfo.ProcessID": "HasProcessID", "MiscInfo.CreateTime": "HasTimes", "MiscInfo.UserTime": "HasTimes", "MiscInfo.KernelTime": "HasTimes",
	"MiscInfo.MaxMHz": "HasPower", "MiscInfo.CurrentMHz": "HasPower", "MiscInfo.MHzLimit": "HasPower", "MiscInfo.MaxIdle": "HasPower",
	"MiscInfo.CurrentIdle": "HasPower", "MiscInfo.IntegrityLevel": "HasIntegrity", "MiscInfo.BuildString": "HasBuild", "MiscInfo.DbgBldStr": "HasBuild",
	"Linux.PID": "HasPID", "Module.Version": "HasVersion", "Module.FileVersionMS": "HasVersion", "Module.FileVersionLS": "HasVersion",
	"Module.StructVersion": "HasVersion", "Module.ProductVersionMS": "HasVersion", "Module.ProductVersionLS": "HasVersion",
	"Thread.Name": "Named",
}

// private reports whether a field is a command line or an environment, which are printed only with
// Options.All. It decides by name, so that a new field of this kind is private at once.
//
// It is used for fields of core's types and for the names of streams, such as "LinuxCmdLine" and
// "LinuxEnviron".
func private(goName string) bool {
	s := strings.ToLower(goName)
	return strings.Contains(s, "environ") || strings.Contains(s, "cmdline") || strings.Contains(s, "commandline")
}

// Private reports whether a stream is a command line or an environment, which are shown only at the
// user's request.
func Private(t core.StreamType) bool { return private(t.Name()) }

// counts has the unsigned fields that are printed in decimal: counts, lengths, versions. Others are
// hexadecimal.
var counts = words(`Count StreamCount SuspendCount CPUCount Major Minor Build Level Age Line Number Size32 PID Gaps ProcessID
	MaxMHz CurrentMHz MHzLimit MaxIdle CurrentIdle Bit Index FirstLine LastLine Version4 Inode HandleCount PointerCount
	Iteration ReferenceCount OpenCount`)

// times has the fields with a time: 32 bits are seconds since 1970, 64 bits a FILETIME, units of
// 100 ns since 1601.
var times = words("Time TimeDateStamp CreateTime ExitTime")

// durations has the fields with a duration: 32 bits are seconds, 64 bits units of 100 ns.
var durations = words("UserTime KernelTime")

// words makes a set of a text's words.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// fieldValue formats a number, string or bool as its field needs it.
func fieldValue(goName string, v reflect.Value) scalar {
	switch v.Kind() {
	case reflect.Bool:
		return boolean(v.Bool())
	case reflect.String:
		return quoted(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decimal(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return number(goName, v.Uint(), v.Type().Bits())
	}
	return quoted(fmt.Sprint(v.Interface()))
}

// number chooses the form of a number by the name of its field: a count is decimal, an address
// hexadecimal, a time a date.
//
//	Count 3                       3
//	StackStart 0x7ffe0000         0x7ffe0000
//	TimeDateStamp, 32 bits        0x523a284a 2013-09-18T22:25:14Z
//	KernelTime, 64 bits           0xe4e1c0 1.5000000 s
//	Flags, 64 bits                0x21 MiniDumpWithDataSegs|MiniDumpWithUnloadedModules
func number(goName string, v uint64, bits int) scalar {
	hex := hexadecimal(v, 0)
	switch {
	case counts[goName] || bits <= 16 && goName == "Version":
		return decimal(v)
	case times[goName]:
		return hex.with("utc", utc(v, bits))
	case durations[goName]:
		return hex.with("text", durationText(v, bits))
	}
	for i := range flagWords {
		if f := &flagWords[i]; f.field == goName && f.bits == 0 || f.field == goName && f.bits == bits {
			return f.form(v)
		}
	}
	return hex
}

// utc formats a time, or returns "" for 0, which means unknown.
func utc(v uint64, bits int) string {
	if v == 0 {
		return ""
	}
	if bits <= 32 {
		return dateText(time.Unix(int64(v), 0))
	}
	const to1970 = 11644473600 // seconds from 1601
	sec := int64(v/1e7) - to1970
	t := time.Unix(sec, int64(v%1e7)*100).UTC()
	if t.Year() > 9999 {
		return ""
	}
	return dateText(t)
}

// dateText formats a time in UTC as of RFC 3339, to 100 ns. It does without time.Format, which is a
// large part of the page's program.
func dateText(t time.Time) string {
	t = t.UTC()
	y, m, d := t.Date()
	h, min, sec := t.Clock()
	fraction := ""
	if n := t.Nanosecond() / 100; n != 0 {
		fraction = strings.TrimRight(fmt.Sprintf(".%07d", n), "0")
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d%sZ", y, int(m), d, h, min, sec, fraction)
}

// durationText formats a duration: seconds in 32 bits, units of 100 ns in 64.
func durationText(v uint64, bits int) string {
	if bits <= 32 {
		return fmt.Sprintf("%d s", v)
	}
	return fmt.Sprintf("%d.%07d s", v/1e7, v%1e7)
}

// flagWord is a field whose bits or values have names.
//
// A name of a field alone is not enough where structs use it for different things; sections.go then
// gives the field another name (MiscFlags, MemoryType).
type flagWord struct {
	field string
	// bits is the width of the field, or 0 for any width: some names occur in several structs.
	bits  int
	exact bool // names are of values, not of bits
	names []flagName
}

// flagName is the name of a bit.
type flagName struct {
	value uint64
	name  string
}

// form returns the number with the names of its bits. Bits without a name follow as a number.
func (f *flagWord) form(v uint64) scalar {
	s := hexadecimal(v, 0)
	if f.exact {
		s.remarkName = "name"
		for _, n := range f.names {
			if n.value == v {
				s.remark = n.name
			}
		}
		return s
	}
	s.remarkName, s.remarks = "names", []string{}
	rest := v
	for _, n := range f.names {
		if n.value != 0 && v&n.value == n.value {
			s.remarks = append(s.remarks, n.name)
			rest &^= n.value
		}
	}
	if rest != 0 && len(s.remarks) > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("0x%x", rest))
	}
	return s
}

// flagWords has the names of flags. The first row that matches a field and its width counts.
// Sources: minidumpapiset.h (MINIDUMP_TYPE, MINIDUMP_MISC*), winnt.h (MEM_*, PAGE_*, VER_NT_*,
// VER_SUITE_*, PROCESSOR_ARCHITECTURE_*), minidump_format.h (MD_OS_*, MD_CPU_ARCHITECTURE_*).
var flagWords = []flagWord{
	{field: "Flags", bits: 64, names: []flagName{
		{0x1, "MiniDumpWithDataSegs"}, {0x2, "MiniDumpWithFullMemory"}, {0x4, "MiniDumpWithHandleData"}, {0x8, "MiniDumpFilterMemory"},
		{0x10, "MiniDumpScanMemory"}, {0x20, "MiniDumpWithUnloadedModules"}, {0x40, "MiniDumpWithIndirectlyReferencedMemory"},
		{0x80, "MiniDumpFilterModulePaths"}, {0x100, "MiniDumpWithProcessThreadData"}, {0x200, "MiniDumpWithPrivateReadWriteMemory"},
		{0x400, "MiniDumpWithoutOptionalData"}, {0x800, "MiniDumpWithFullMemoryInfo"}, {0x1000, "MiniDumpWithThreadInfo"},
		{0x2000, "MiniDumpWithCodeSegs"}, {0x4000, "MiniDumpWithoutAuxiliaryState"}, {0x8000, "MiniDumpWithFullAuxiliaryState"},
		{0x10000, "MiniDumpWithPrivateWriteCopyMemory"}, {0x20000, "MiniDumpIgnoreInaccessibleMemory"},
		{0x40000, "MiniDumpWithTokenInformation"}, {0x80000, "MiniDumpWithModuleHeaders"}, {0x100000, "MiniDumpFilterTriage"},
		{0x200000, "MiniDumpWithAvxXStateContext"}, {0x400000, "MiniDumpWithIptTrace"}, {0x800000, "MiniDumpScanInaccessiblePartialPages"},
		{0x1000000, "MiniDumpFilterWriteCombinedMemory"}}},
	{field: "MiscFlags", names: []flagName{
		{0x1, "MINIDUMP_MISC1_PROCESS_ID"}, {0x2, "MINIDUMP_MISC1_PROCESS_TIMES"}, {0x4, "MINIDUMP_MISC1_PROCESSOR_POWER_INFO"},
		{0x10, "MINIDUMP_MISC3_PROCESS_INTEGRITY"}, {0x20, "MINIDUMP_MISC3_PROCESS_EXECUTE_FLAGS"}, {0x40, "MINIDUMP_MISC3_TIMEZONE"},
		{0x80, "MINIDUMP_MISC3_PROTECTED_PROCESS"}, {0x100, "MINIDUMP_MISC4_BUILDSTRING"}, {0x200, "MINIDUMP_MISC5_PROCESS_COOKIE"}}},
	{field: "State", exact: true, names: []flagName{{0x1000, "MEM_COMMIT"}, {0x2000, "MEM_RESERVE"}, {0x10000, "MEM_FREE"}}},
	{field: "MemoryType", exact: true, names: []flagName{{0x20000, "MEM_PRIVATE"}, {0x40000, "MEM_MAPPED"}, {0x1000000, "MEM_IMAGE"}}},
	{field: "Protect", names: pageFlags},
	{field: "AllocationProtect", names: pageFlags},
	{field: "Product", bits: 8, exact: true, names: []flagName{{1, "VER_NT_WORKSTATION"}, {2, "VER_NT_DOMAIN_CONTROLLER"}, {3, "VER_NT_SERVER"}}},
	{field: "SuiteMask", names: []flagName{
		{0x1, "VER_SUITE_SMALLBUSINESS"}, {0x2, "VER_SUITE_ENTERPRISE"}, {0x4, "VER_SUITE_BACKOFFICE"}, {0x10, "VER_SUITE_TERMINAL"},
		{0x20, "VER_SUITE_SMALLBUSINESS_RESTRICTED"}, {0x40, "VER_SUITE_EMBEDDEDNT"}, {0x80, "VER_SUITE_DATACENTER"},
		{0x100, "VER_SUITE_SINGLEUSERTS"}, {0x200, "VER_SUITE_PERSONAL"}, {0x400, "VER_SUITE_BLADE"}}},
	{field: "PlatformID", exact: true, names: []flagName{
		{1, "VER_PLATFORM_WIN32_WINDOWS"}, {2, "VER_PLATFORM_WIN32_NT"}, {0x8101, "MD_OS_MAC_OS_X"}, {0x8102, "MD_OS_IOS"}, {0x8201, "MD_OS_LINUX"},
		{0x8202, "MD_OS_SOLARIS"}, {0x8203, "MD_OS_ANDROID"}, {0x8204, "MD_OS_PS3"}, {0x8205, "MD_OS_NACL"}, {0x8206, "MD_OS_FUCHSIA"}}},
	{field: "Processor", exact: true, names: processorNames()},
	{field: "Signature", exact: true, names: []flagName{{core.SigRSDS, "RSDS"}, {core.SigNB10, "NB10"}, {core.SigBpEL, "BpEL"}}},
	{field: "Form", exact: true, names: []flagName{{0, "bytes"}, {1, "fields"}, {2, "text"}, {3, "JSON"}}},
	{field: "AssertionType", exact: true, names: []flagName{{1, "invalid parameter"}, {2, "pure virtual call"}}},
}

var pageFlags = []flagName{
	{0x1, "PAGE_NOACCESS"}, {0x2, "PAGE_READONLY"}, {0x4, "PAGE_READWRITE"}, {0x8, "PAGE_WRITECOPY"}, {0x10, "PAGE_EXECUTE"},
	{0x20, "PAGE_EXECUTE_READ"}, {0x40, "PAGE_EXECUTE_READWRITE"}, {0x80, "PAGE_EXECUTE_WRITECOPY"}, {0x100, "PAGE_GUARD"},
	{0x200, "PAGE_NOCACHE"}, {0x400, "PAGE_WRITECOMBINE"}, {0x40000000, "PAGE_TARGETS_INVALID"},
}

var osNames = map[core.OS]string{
	core.Windows: "Windows", core.MacOS: "macOS", core.IOS: "iOS", core.OSLinux: "Linux", core.Android: "Android", core.Solaris: "Solaris",
	core.PS3: "PS3", core.NaCl: "NaCl", core.Fuchsia: "Fuchsia",
}

// processorNames returns those of the CPUs' tables, and of the numbers that have none.
func processorNames() []flagName {
	out := []flagName{{core.ProcUnknown, "unknown"}}
	for _, list := range [][]cpu.ProcessorName{cpu.SecondProcessors, cpu.OtherProcessors} {
		for _, p := range list {
			out = append(out, flagName{uint64(p.Number), p.Name})
		}
	}
	for _, a := range cpu.All() {
		for i, n := range a.Processors {
			if i == 0 {
				out = append(out, flagName{uint64(n), a.Name})
			}
		}
	}
	return out
}
