package core

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// Handle is an entry of stream 12: something that the process had open. Source of the layouts:
// minidumpapiset.h.
type Handle struct {
	Handle                                               uint64
	Type, Name                                           string // "File", `\Device\…`; "" if not stored
	Attributes, GrantedAccess, HandleCount, PointerCount uint32
	// Info are the object's own facts, for the kinds of object that have some.
	Info []HandleInfo
}

// HandleInfo is a MINIDUMP_HANDLE_OBJECT_INFORMATION. What it holds depends on its type and
// Windows' version.
type HandleInfo struct {
	Type uint32
	Data Location
}

// handleInfoNames are the values of MINIDUMP_HANDLE_OBJECT_INFORMATION_TYPE, from 0 on.
var handleInfoNames = []string{"None", "ThreadInformation1", "MutantInformation1", "MutantInformation2", "ProcessInformation1",
	"ProcessInformation2", "EventInformation1", "SectionInformation1", "SemaphoreInformation1"}

// Name is Microsoft's name of the type of information.
func (i HandleInfo) Name() string {
	if int(i.Type) < len(handleInfoNames) {
		return handleInfoNames[i.Type]
	}
	return fmt.Sprintf("information %d", i.Type)
}

// HandleOperation is an entry of stream 18: what Application Verifier saw done to a handle. Source:
// avrfsdk.h.
type HandleOperation struct {
	Handle              uint64
	ProcessID, ThreadID uint32
	Type                uint32 // 1 open, 2 close, 3 bad reference
	BackTraceIndex      uint32
	Stack               []uint64 // return addresses, youngest first; at most 32
}

const (
	handleSize          = 32
	handle2Size         = 40
	handleOperationSize = 288
	maxBackTrace        = 32
	maxHandles          = 200_000
	maxHandleInfo       = 64 // of one handle; writers know about two
	handleInfoCost      = 48 // of one fact, in memory, in bytes
)

// decodeHandleData reads MINIDUMP_HANDLE_DATA_STREAM and its descriptors, of either version.
//
//	 0 SizeOfHeader u32 · 4 SizeOfDescriptor u32 · 8 NumberOfDescriptors u32 · 12 reserved u32
//	then: 0 Handle u64 · 8 TypeNameRva u32 · 12 ObjectNameRva u32 · 16 Attributes u32 · 20 GrantedAccess u32 ·
//	      24 HandleCount u32 · 28 PointerCount u32 · (2:) 32 ObjectInfoRva u32 · 36 reserved u32
func decodeHandleData(d *Dump, s *Stream, c *input.Cursor) {
	n, entry := d.sizedList(s, c, handleSize, maxHandles, false)
	names := map[uint32]string{} // all files have one type's name
	name := func(off uint32, what string) string {
		v, ok := names[off]
		if !ok {
			v = d.stringAt(s.Type, FileOff(off), what)
			names[off] = v
		}
		return v
	}
	for range n {
		h := Handle{Handle: c.U64(), Type: name(c.U32(), "handle's type"), Name: name(c.U32(), "object's name"), Attributes: c.U32(),
			GrantedAccess: c.U32(), HandleCount: c.U32(), PointerCount: c.U32()}
		used, info := int64(handleSize), uint32(0)
		if entry >= handle2Size {
			info, used = c.U32(), handle2Size
			c.Skip(4)
		}
		c.Skip(entry - used)
		if c.Err() != nil {
			return
		}
		h.Info = d.handleInfo(s, info)
		d.Handles = append(d.Handles, h)
	}
}

// handleInfo reads the chain of an object's facts: NextInfoRva u32 · InfoType u32 · SizeOfInfo u32
// · the facts.
func (d *Dump) handleInfo(s *Stream, off uint32) (out []HandleInfo) {
	var chain []uint32
	for off != 0 {
		if slices.Contains(chain, off) {
			d.remark(Warning, s.Type, int64(off), "another fact of an object", "one that is in the chain already")
			return out
		}
		chain = append(chain, off)
		if len(out) >= maxHandleInfo || !d.afford(s.Type, handleInfoCost) {
			d.remark(Warning, s.Type, int64(off), fmt.Sprintf("at most %d facts of an object", maxHandleInfo), "more")
			return out
		}
		c := input.NewCursor(d.Src, s.Type.part()+", object information", int64(off), d.Src.Size-int64(off), d.Header.Order)
		next := c.U32()
		i := HandleInfo{Type: c.U32()}
		i.Data = skipped(c, int64(c.U32()))
		if c.Err() != nil {
			d.diagnose(Warning, s.Type, c.Err())
			return out
		}
		out = append(out, i)
		off = next
	}
	return out
}

// decodeHandleOperations reads MINIDUMP_HANDLE_OPERATION_LIST and its AVRF_HANDLE_OPERATIONs.
//
//	 0 SizeOfHeader u32 · 4 SizeOfEntry u32 · 8 NumberOfEntries u32 · 12 reserved u32
//	then: 0 Handle u64 · 8 ProcessId u32 · 12 ThreadId u32 · 16 OperationType u32 · 20 spare u32 ·
//	      24 Depth u32 · 28 Index u32 · 32 ReturnAddresses 32 × u64
func decodeHandleOperations(d *Dump, s *Stream, c *input.Cursor) {
	n, entry := d.sizedList(s, c, handleOperationSize, maxHandles, false)
	for range n {
		o := HandleOperation{Handle: c.U64(), ProcessID: c.U32(), ThreadID: c.U32(), Type: c.U32()}
		c.Skip(4)
		depth := c.U32()
		o.BackTraceIndex = c.U32()
		for i := range uint32(maxBackTrace) {
			if a := c.U64(); i < depth && c.Err() == nil {
				o.Stack = append(o.Stack, a)
			}
		}
		c.Skip(entry - handleOperationSize)
		if c.Err() != nil {
			return
		}
		d.HandleOperations = append(d.HandleOperations, o)
	}
}
