package core

import (
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// Counter is one figure of a table of figures, under Microsoft's name.
type Counter struct {
	Name  string
	Value uint64
}

// SystemMemory is stream 21: the whole machine's memory and its performance counters, those that
// the flags call valid. Pages are PageSize bytes.
type SystemMemory struct {
	Revision, Flags uint16
	Counters        []Counter
}

// VMCounters is stream 22: the process' use of memory, those figures that the flags call valid, in
// bytes unless their name says otherwise.
type VMCounters struct {
	Revision, Flags uint16
	Counters        []Counter
}

// counterRun is a run of figures of one size in a record.
type counterRun struct {
	Size  int64  // bytes
	Flag  uint16 // that makes them valid; 0: always
	Names string // between blanks
}

// MINIDUMP_SYSTEM_MEMORY_INFO_1 and _2 after Revision u16 and Flags u16: the basic, file cache,
// basic performance and performance information of minidumpapiset.h. The last run is that of
// version 2.
var systemMemoryRuns = []counterRun{
	{4, 0, "TimerResolution PageSize NumberOfPhysicalPages LowestPhysicalPageNumber HighestPhysicalPageNumber AllocationGranularity"},
	{8, 0, "MinimumUserModeAddress MaximumUserModeAddress ActiveProcessorsAffinityMask"},
	{4, 0, "NumberOfProcessors"},
	{8, 0, "FileCacheCurrentSize FileCachePeakSize"},
	{4, 0, "FileCachePageFaultCount"},
	{8, 0, "FileCacheMinimumWorkingSet FileCacheMaximumWorkingSet FileCacheCurrentSizeIncludingTransitionInPages FileCachePeakSizeIncludingTransitionInPages"},
	{4, 0x1, "FileCacheTransitionRePurposeCount FileCacheFlags"},
	{8, 0x2, "BasicAvailablePages BasicCommittedPages BasicCommitLimit BasicPeakCommitment"},
	{8, 0, "IdleProcessTime IoReadTransferCount IoWriteTransferCount IoOtherTransferCount"},
	{4, 0, `IoReadOperationCount IoWriteOperationCount IoOtherOperationCount AvailablePages CommittedPages CommitLimit PeakCommitment
		PageFaultCount CopyOnWriteCount TransitionCount CacheTransitionCount DemandZeroCount PageReadCount PageReadIoCount CacheReadCount
		CacheIoCount DirtyPagesWriteCount DirtyWriteIoCount MappedPagesWriteCount MappedWriteIoCount PagedPoolPages NonPagedPoolPages
		PagedPoolAllocs PagedPoolFrees NonPagedPoolAllocs NonPagedPoolFrees FreeSystemPtes ResidentSystemCodePage TotalSystemDriverPages
		TotalSystemCodePages NonPagedPoolLookasideHits PagedPoolLookasideHits AvailablePagedPoolPages ResidentSystemCachePage
		ResidentPagedPoolPage ResidentSystemDriverPage CcFastReadNoWait CcFastReadWait CcFastReadResourceMiss CcFastReadNotPossible
		CcFastMdlReadNoWait CcFastMdlReadWait CcFastMdlReadResourceMiss CcFastMdlReadNotPossible CcMapDataNoWait CcMapDataWait
		CcMapDataNoWaitMiss CcMapDataWaitMiss CcPinMappedDataCount CcPinReadNoWait CcPinReadWait CcPinReadNoWaitMiss CcPinReadWaitMiss
		CcCopyReadNoWait CcCopyReadWait CcCopyReadNoWaitMiss CcCopyReadWaitMiss CcMdlReadNoWait CcMdlReadWait CcMdlReadNoWaitMiss
		CcMdlReadWaitMiss CcReadAheadIos CcLazyWriteIos CcLazyWritePages CcDataFlushes CcDataPages ContextSwitches FirstLevelTbFills
		SecondLevelTbFills SystemCalls`},
	{8, 0x4, "CcTotalDirtyPages CcDirtyPageThreshold"},
	{8, 0x8, "ResidentAvailablePages SharedCommittedPages"},
	{8, 0x10, "MdlPagesAllocated PfnDatabaseCommittedPages"},
	{8, 0x20, "SystemPageTableCommittedPages ContiguousPagesAllocated"},
}

// systemMemory1Runs is how many of the runs version 1 has.
const systemMemory1Runs = 12

// MINIDUMP_PROCESS_VM_COUNTERS_1 after Revision u16 and padding, and _2 after Revision u16 and
// Flags u16.
var (
	vmCounters1Runs = []counterRun{
		{4, 0, "PageFaultCount"},
		{8, 0, `PeakWorkingSetSize WorkingSetSize QuotaPeakPagedPoolUsage QuotaPagedPoolUsage QuotaPeakNonPagedPoolUsage
			QuotaNonPagedPoolUsage PagefileUsage PeakPagefileUsage PrivateUsage`},
	}
	vmCounters2Runs = []counterRun{
		{4, 0x1, "PageFaultCount"},
		{8, 0x1, `PeakWorkingSetSize WorkingSetSize QuotaPeakPagedPoolUsage QuotaPagedPoolUsage QuotaPeakNonPagedPoolUsage
			QuotaNonPagedPoolUsage PagefileUsage PeakPagefileUsage`},
		{8, 0x2, "PeakVirtualSize VirtualSize"},
		{8, 0x4, "PrivateUsage"},
		{8, 0x8, "PrivateWorkingSetSize SharedCommitUsage"},
		{8, 0x10, "JobSharedCommitUsage JobPrivateCommitUsage JobPeakPrivateCommitUsage JobPrivateCommitLimit JobTotalCommitLimit"},
	}
)

// counters reads figures one after the other, up to the end of what is there.
func counters(c *input.Cursor, flags uint16, runs []counterRun) (out []Counter) {
	for _, r := range runs {
		for name := range strings.FieldsSeq(r.Names) {
			v := uint64(0)
			if r.Size == 8 {
				v = c.U64()
			} else {
				v = uint64(c.U32())
			}
			if c.Err() != nil {
				return out
			}
			if r.Flag == 0 || flags&r.Flag != 0 {
				out = append(out, Counter{name, v})
			}
		}
	}
	return out
}

func decodeSystemMemory(d *Dump, _ *Stream, c *input.Cursor) {
	m := &SystemMemory{Revision: c.U16(), Flags: c.U16()}
	if c.Err() != nil {
		return
	}
	runs := systemMemoryRuns
	if m.Revision < 2 {
		runs = runs[:systemMemory1Runs]
	}
	m.Counters = counters(c, m.Flags, runs)
	d.Windows.SystemMemory = m
}

func decodeVMCounters(d *Dump, _ *Stream, c *input.Cursor) {
	m := &VMCounters{Revision: c.U16()}
	runs := vmCounters1Runs
	if m.Revision < 2 {
		c.Skip(2)
	} else {
		m.Flags, runs = c.U16(), vmCounters2Runs
	}
	if c.Err() != nil {
		return
	}
	m.Counters = counters(c, m.Flags, runs)
	d.Windows.VMCounters = m
}
