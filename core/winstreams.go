package core

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// WindowsInfo is what only Windows' own writer (MiniDumpWriteDump) puts into a dump. Source of the
// layouts: minidumpapiset.h, which is packed to 4 bytes, and avrfsdk.h for the handle operations.
type WindowsInfo struct {
	// ThreadsEx is stream 8: threads with a backing store, which Itanium has.
	ThreadsEx []ThreadEx
	// CommentA and CommentW are the texts of streams 10 and 11, or nil.
	CommentA, CommentW *string
	// ThreadInfo is stream 17, in file order.
	ThreadInfo []ThreadInfo
	// FunctionTables is stream 13: unwind data of code that was made while the program ran.
	FunctionTables []FunctionTable
	// Tokens is stream 19.
	Tokens []Token
	// SystemMemory and VMCounters are streams 21 and 22, or nil.
	SystemMemory *SystemMemory
	VMCounters   *VMCounters
}

// ThreadEx is an entry of stream 8.
type ThreadEx struct {
	Thread
	BackingStart uint64
	Backing      Location
}

// ThreadInfo is an entry of stream 17. Times are in units of 100 ns, those of day since 1601-01-01
// UTC.
type ThreadInfo struct {
	ThreadID uint32
	// DumpFlags say how the thread could be dumped (MINIDUMP_THREAD_INFO_*: 1 error, 2 writing
	// thread, 4 exited, 8 without info, 16 without context, 32 without TEB); DumpError is the
	// HRESULT if it could not.
	DumpFlags, DumpError, ExitStatus           uint32
	CreateTime, ExitTime, KernelTime, UserTime uint64
	StartAddress, Affinity                     uint64
}

// FunctionTable is an entry of stream 13: a range of addresses and its functions' entries, whose
// form depends on the CPU.
type FunctionTable struct {
	Minimum, Maximum, Base uint64
	EntryCount             uint32
	EntrySize              uint32   // bytes
	Native                 Location // the system's own description of the table
	Entries                Location
}

// Token is an entry of stream 19: an access token. Data is in a form that Microsoft does not
// describe.
type Token struct {
	ID     uint32 // of the process or thread that it is for
	Handle uint64
	Data   Location
}

const (
	threadExSize   = 64
	threadInfoSize = 64
	maxTables      = 50_000
	maxTokens      = 50_000
)

// decodeThreadExList reads MINIDUMP_THREAD_EX entries: a MINIDUMP_THREAD, then BackingStore:
// StartOfMemoryRange u64 · DataSize u32 · Rva u32. They are the dump's threads if it has no
// ThreadList.
func decodeThreadExList(d *Dump, s *Stream, c *input.Cursor) {
	n := d.countedList(s, c, threadExSize, maxThreads)
	for range n {
		t := ThreadEx{Thread: readThread(c)}
		t.BackingStart = c.U64()
		t.Backing = location(c)
		if c.Err() != nil {
			break
		}
		d.Windows.ThreadsEx = append(d.Windows.ThreadsEx, t)
	}
	if d.Stream(StreamThreadList) == nil {
		for i := range d.Windows.ThreadsEx {
			d.Threads = append(d.Threads, d.Windows.ThreadsEx[i].Thread)
		}
	}
}

// decodeCommentA reads bytes up to their first 0, decodeCommentW UTF-16.
func decodeCommentA(d *Dump, _ *Stream, c *input.Cursor) {
	t := cString([]byte(text(c)))
	d.Windows.CommentA = &t
}

// decodeCommentW reads the comment that a debugger or a program put into the dump, in UTF-16.
func decodeCommentW(d *Dump, _ *Stream, c *input.Cursor) {
	t := utf16Field([]byte(text(c)), c.Order)
	d.Windows.CommentW = &t
}

// decodeThreadInfoList reads MINIDUMP_THREAD_INFO entries.
//
//	 0 ThreadId u32 · 4 DumpFlags u32 · 8 DumpError u32 · 12 ExitStatus u32 · 16 CreateTime u64 · 24 ExitTime u64
//	32 KernelTime u64 · 40 UserTime u64 · 48 StartAddress u64 · 56 Affinity u64
func decodeThreadInfoList(d *Dump, s *Stream, c *input.Cursor) {
	n, entry := d.sizedList(s, c, threadInfoSize, maxThreads, false)
	for range n {
		t := ThreadInfo{ThreadID: c.U32(), DumpFlags: c.U32(), DumpError: c.U32(), ExitStatus: c.U32(), CreateTime: c.U64(), ExitTime: c.U64(),
			KernelTime: c.U64(), UserTime: c.U64(), StartAddress: c.U64(), Affinity: c.U64()}
		c.Skip(entry - threadInfoSize)
		if c.Err() != nil {
			return
		}
		d.Windows.ThreadInfo = append(d.Windows.ThreadInfo, t)
	}
}

// ThreadInfo is stream 17's entry of a thread, or nil.
func (d *Dump) ThreadInfo(id uint32) *ThreadInfo {
	for i := range d.Windows.ThreadInfo {
		if d.Windows.ThreadInfo[i].ThreadID == id {
			return &d.Windows.ThreadInfo[i]
		}
	}
	return nil
}

// decodeFunctionTable reads MINIDUMP_FUNCTION_TABLE_STREAM and its tables, each with what belongs
// to it after it.
//
//	0 SizeOfHeader u32 · 4 SizeOfDescriptor u32 · 8 SizeOfNativeDescriptor u32 · 12 SizeOfFunctionEntry u32
//	16 NumberOfDescriptors u32 · 20 SizeOfAlignPad u32 · padding
//	then: 0 MinimumAddress u64 · 8 MaximumAddress u64 · 16 BaseAddress u64 · 24 EntryCount u32 · 28 SizeOfAlignPad u32 ·
//	native descriptor · EntryCount entries · padding
func decodeFunctionTable(d *Dump, s *Stream, c *input.Cursor) {
	const headerMin, descriptorMin = 24, 32
	start := c.Off()
	header, descriptor, native, entry, count, pad := int64(c.U32()), int64(c.U32()), int64(c.U32()), c.U32(), int64(c.U32()), int64(c.U32())
	if c.Err() != nil {
		return
	}
	if header < headerMin || descriptor < descriptorMin {
		c.FailAt(start, fmt.Sprintf("a header of %d bytes or more and descriptors of %d or more", headerMin, descriptorMin),
			fmt.Sprintf("%d and %d", header, descriptor))
		return
	}
	c.Skip(header - headerMin + pad)
	for range d.fit(s, c, count, descriptor+native, maxTables) {
		t := FunctionTable{Minimum: c.U64(), Maximum: c.U64(), Base: c.U64(), EntryCount: c.U32(), EntrySize: entry}
		pad := int64(c.U32())
		c.Skip(descriptor - descriptorMin)
		t.Native = skipped(c, native)
		t.Entries = skipped(c, int64(t.EntryCount)*int64(entry))
		c.Skip(pad)
		if c.Err() != nil {
			return
		}
		d.Windows.FunctionTables = append(d.Windows.FunctionTables, t)
	}
}

// skipped moves over n bytes and says where they are.
func skipped(c *input.Cursor, n int64) Location {
	at := c.Off()
	c.Skip(n)
	return Location{FileOff(at), uint64(n)}
}

// decodeTokens reads MINIDUMP_TOKEN_INFO_LIST and its tokens.
//
//	0 TokenListSize u32 · 4 TokenListEntries u32 · 8 ListHeaderSize u32 · 12 ElementHeaderSize u32
//	then: 0 TokenSize u32 · 4 TokenId u32 · 8 TokenHandle u64 · data
//
// The header's comment leaves open whether TokenSize counts the element's header. It does not where
// counting it would not reach the end of the stream.
func decodeTokens(d *Dump, s *Stream, c *input.Cursor) {
	const headerMin, elementMin = 16, 16
	start := c.Off()
	size, count, header, element := int64(c.U32()), int64(c.U32()), int64(c.U32()), int64(c.U32())
	if c.Err() != nil {
		return
	}
	if header < headerMin || element < elementMin {
		c.FailAt(start, fmt.Sprintf("a header of %d bytes or more and elements of %d or more", headerMin, elementMin), fmt.Sprintf("%d and %d", header, element))
		return
	}
	c.Skip(header - headerMin)
	// Without the elements' headers in the sizes, the list is longer than what they add up to.
	with, without := d.tokenSums(c, count, element)
	end := min(int64(s.Loc.Size), max(size, header))
	inclusive := header+with == end || header+without != end
	for range d.fit(s, c, count, element, maxTokens) {
		n := int64(c.U32())
		t := Token{ID: c.U32(), Handle: c.U64()}
		c.Skip(element - elementMin)
		if inclusive {
			n -= element
		}
		t.Data = skipped(c, max(n, 0))
		if c.Err() != nil {
			return
		}
		d.Windows.Tokens = append(d.Windows.Tokens, t)
	}
}

// tokenSums returns the sizes of all elements if TokenSize counts the header, and if it does not;
// -1 where that cannot be.
func (d *Dump) tokenSums(c *input.Cursor, count, element int64) (with, without int64) {
	walk := func(header int64) int64 {
		at, sum := c.Off(), int64(0)
		for range min(count, maxTokens) {
			p, err := d.Src.Bytes(at, 4)
			if err != nil || sum > c.Left() {
				return -1
			}
			n := header + int64(d.Header.Order.Uint32(p))
			if n < element {
				return -1
			}
			at, sum = at+n, sum+n
		}
		return sum
	}
	return walk(0), walk(element)
}
