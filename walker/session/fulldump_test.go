package session_test

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/session"
)

// counted counts what is read of a file.
type counted struct {
	r     io.ReaderAt
	reads int
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += int64(len(p))
	return c.r.ReadAt(p, off)
}

// TestFullDump opens a full-memory dump of 6 GB, which has the stack near its end: nothing is read
// but what is looked at.
func TestFullDump(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: a sparse file of 6 GB is for a real file system")
	}
	const (
		gb       = 1 << 30
		region   = 1 << 20
		regions  = 6 * gb / region
		from     = 0x7f0000000000
		stackAt  = from + 5*gb + 3*region + 0x800
		codeBase = 0x400000
		frames   = 30
	)
	// MINIDUMP_MEMORY64_LIST: count, offset of the first range's bytes, then start and size of
	// each.
	list := binary.LittleEndian.AppendUint64(nil, regions)
	list = binary.LittleEndian.AppendUint64(list, 1<<20)
	for i := range uint64(regions) {
		list = binary.LittleEndian.AppendUint64(list, from+i*region)
		list = binary.LittleEndian.AppendUint64(list, region)
	}
	head := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(codeBase, 0x10000, "/bin/app", dumptest.ELF([]byte("0123456789abcdef0123"))).
		Thread(1, dumptest.AMD64(map[string]uint64{"rip": codeBase + 0x10, "rsp": stackAt, "rbp": stackAt + 16}), 0, nil).
		Stream(9, list).Bytes()
	if len(head) > 1<<20 {
		t.Fatal("the list is in the way")
	}
	// Frames of 32 bytes, each with the next one's rbp and a return address.
	var stack []byte
	for i := range uint64(frames) {
		next := stackAt + 16 + (i+1)*32
		if i == frames-1 {
			next = 0
		}
		stack = binary.LittleEndian.AppendUint64(stack, next)
		stack = binary.LittleEndian.AppendUint64(stack, codeBase+0x100+i*0x20)
		stack = append(stack, make([]byte, 16)...)
	}
	path := filepath.Join(t.TempDir(), "full.dmp")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(1<<20) + 6*gb
	if err := f.Truncate(size); err != nil {
		t.Skip("*** SKIPPED: no sparse files here: ", err)
	}
	for off, b := range map[int64][]byte{0: head, 1<<20 + stackAt + 16 - from: stack} {
		if _, err := f.WriteAt(b, off); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := &counted{r: f}
	s := session.NewFiles(session.Options{})
	s.Add(input.New(path, c, size))
	r := s.Report(0)
	runtime.ReadMemStats(&after)
	if r == nil || len(r.Threads) != 1 || len(r.Threads[0].Frames) < frames {
		t.Fatalf("%+v", r)
	}
	opened := *c
	mem := s.Session(0).Dump.Memory
	for i := range uint64(10) {
		if v, ok := mem.Word(from+i*gb/2, 8); !ok || v != 0 {
			t.Errorf("word %d: %x %v", i, v, ok)
		}
	}
	t.Logf("opened and walked by %d reads of %d KB, %d KB allocated; ten words elsewhere by %d reads of %d KB", opened.reads, opened.bytes>>10,
		(after.TotalAlloc-before.TotalAlloc)>>10, c.reads-opened.reads, (c.bytes-opened.bytes)>>10)
	if opened.reads > 40 || opened.bytes > 4<<20 || c.bytes-opened.bytes > 10*64<<10 {
		t.Errorf("%d reads of %d bytes to open and walk, then %d of %d", opened.reads, opened.bytes, c.reads-opened.reads, c.bytes-opened.bytes)
	}
	if alloc := after.TotalAlloc - before.TotalAlloc; alloc > 16<<20 {
		t.Errorf("%d bytes were allocated", alloc)
	}
}
