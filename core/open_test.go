package core

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

var buildID = []byte{0xd6, 0xd1, 0xfe, 0xc9, 0xa1, 0x5d, 0xe7, 0xf3, 0x8a, 0x23, 0x68, 0x98, 0x87, 0x1a, 0x2e, 0x77, 1, 2, 3, 4}

// everything is a dump with all streams that are decoded; basics are those that nearly all dumps
// have.
func everything(order binary.AppendByteOrder) *dumptest.Dump {
	return rareStreams(basics(order), order)
}

func basics(order binary.AppendByteOrder) *dumptest.Dump {
	one, two := uint32(1), uint32(2)
	ctx := dumptest.Context(order, "amd64", map[string]uint64{"rip": 0x401010, "rsp": 0x7ff010, "rbp": 0x7ff020, "eflags": 0x246, "cs": 0x33})
	stack := make([]byte, 64)
	for i := range stack {
		stack[i] = byte(i)
	}
	return dumptest.New(order).Time(1_700_000_100).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Level: 6, Revision: 0x2d07, CPUs: 8, Platform: dumptest.OSLinux, CSD: "Linux 6.1.0 #1 SMP x86_64"}).
		Misc5(4242, 1_700_000_000, "Mitteleuropäische Zeit", "26100.1.amd64fre", dumptest.XState{Index: 2, Offset: 576, Size: 256}).
		Thread(1, ctx, 0x7ff000, stack).Thread(2, ctx, 0x8ff000, stack).
		ThreadName(2, "worker 🧵").
		VersionedModule(0x400000, 0x2000, 0x5f000000, "/opt/app", dumptest.ELF(buildID), [4]uint16{1, 2, 3, 4}, true).
		Module(0x500000, 0x1000, `C:\x\lib.dll`, dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 0xab, `C:\pdb\lib.pdb`)).
		Module(0x600000, 0x1000, "old.dll", dumptest.NB10(0x3a7d5e00, 0x1c, "old.pdb")).
		UnloadedModule(0x700000, 0x3000, 0x5f5e1000, "gone.dll").
		Memory(0x401000, []byte("code at the crash")).
		Memory64(0xa00000, []byte("sixty-four")).Memory64(0xb00000, []byte("more")).
		MemoryInfo(0x10000, 0x2000, 0x1000, 4, 0x20000).
		Exception(1, 11, 1, 0xdead, ctx, 7, 8).
		BreakpadInfo(&two, &one).
		Assertion("x == y", "f()", "a.cc", 12, 1).
		Stream(0x47670003, []byte("processor\t: 0\nmicrocode\t: 0x2b\n\nprocessor\t: 1\nmicrocode\t: 0x2c\n")).
		Stream(0x47670004, []byte("Name:\tapp\nPid:\t77\n")).
		Stream(0x47670005, []byte("DISTRIB_ID=Ubuntu\nDISTRIB_DESCRIPTION=\"Ubuntu 16.04\"\n")).
		Stream(0x47670009, []byte("00400000-00402000 r-xp 00001000 08:01 1234                       /opt/my app\n7ffc0000-7ffe0000 rw-p 00000000 00:00 0 \n"))
}

func open(t testing.TB, data []byte) *Dump {
	t.Helper()
	d, err := Open(input.FromBytes("test.dmp", data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEverything reads one dump with all streams in both byte orders.
func TestEverything(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
		t.Run(order.String(), func(t *testing.T) {
			d := open(t, basics(order).Bytes())
			for _, diag := range d.Diags {
				t.Errorf("diagnostic: %v", diag.Err)
			}
			for _, s := range d.Streams {
				if !s.Decoded {
					t.Errorf("%s is not decoded", s.Name)
				}
			}
			same := func(what string, got, want any) {
				t.Helper()
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s = %v, want %v", what, got, want)
				}
			}
			same("order", d.Header.Order, order)
			same("time", d.Header.Time, 1_700_000_100)
			same("os", d.OSName(), "Linux")
			same("os version", d.OSVersion(), "6.1.0 #1 SMP")
			same("build", *d.BuildText(), "Linux 6.1.0 #1 SMP x86_64")
			same("cpu", d.CPUName(), "amd64")
			same("cpu info", d.CPUInfo(), "family 6 model 45 stepping 7")
			same("microcode", *d.Microcode(), 0x2b)
			same("pid", *d.PID(), 4242)
			same("uptime", *d.Uptime(), 100)
			same("zone", d.Misc.StandardName, "Mitteleuropäische Zeit")
			same("summer", d.Misc.DaylightName, "Mitteleuropäische Zeit summer")
			same("biases", []int32{d.Misc.TimeZoneBias, d.Misc.StandardBias, d.Misc.DaylightBias}, []int32{-60, 0, -60})
			same("dates", []SystemTime{d.Misc.StandardDate, d.Misc.DaylightDate}, []SystemTime{{Month: 10, Day: 5, Hour: 3}, {Month: 3, Day: 5, Hour: 2}})
			m0 := &d.Modules[0]
			same("file info", []any{m0.FileFlagsMask, m0.FileFlags, m0.FileOS, m0.FileType, m0.FileSubtype, m0.FileDate}, []any{0x3f, 0x2a, 0x40004, 2, 9, uint64(0x01d5000012345678)})
			same("build", d.Misc.BuildString, "26100.1.amd64fre")
			same("debug build", d.Misc.DbgBldStr, "dbg")
			same("cookie", fmt.Sprintf("%x", d.Misc.ProcessCookie), "c00c1e")
			same("xstate", d.Misc.XStateFeatures, []XStateFeature{{2, 576, 256}})

			same("threads", len(d.Threads), 2)
			same("name", d.Threads[1].Name, "worker 🧵")
			same("thread 2", d.ThreadByID(2), 1)
			same("no thread", d.ThreadByID(3), -1)
			same("suspended", d.Threads[0].TEB, 0x7ffd1000)

			m := d.Modules
			same("modules", len(m), 3)
			same("name", m[0].Name, "/opt/app")
			same("end", m[0].End(), 0x402000)
			same("id", m[0].DebugID, "C9FED1D65DA1F3E78A236898871A2E770")
			same("id", m[0].StoredID(), "C9FED1D65DA1F3E78A236898871A2E770")
			same("code id", m[0].CodeID, "d6d1fec9a15de7f38a236898871a2e7701020304")
			same("version", m[0].FileVersion(), "1.2.3.4")
			same("debug file", m[0].DebugFile, "/opt/app")
			same("id", m[1].DebugID, "11223344556677880102030405060708AB")
			same("id", m[1].StoredID(), "11223344556677880102030405060708ab")
			same("debug file", m[1].DebugFile, `C:\pdb\lib.pdb`)
			same("id", m[2].DebugID, "3A7D5E001C")
			same("unloaded", d.Unloaded, []UnloadedModule{{Base: 0x700000, Size: 0x3000, TimeDateStamp: 0x5f5e1000, Name: "gone.dll"}})
			same("unloaded code id", d.Unloaded[0].CodeID(), "5f5e10003000")
			same("regions", d.Regions, []MemoryInfo{{Base: 0x10000, AllocationBase: 0x10000, Size: 0x2000, AllocationProtect: 4, State: 0x1000, Protect: 4, Type: 0x20000}})

			e := d.Exception
			same("exception", []any{e.ThreadID, e.Code, e.Flags, e.Address, e.Params}, []any{1, 11, 1, 0xdead, []uint64{7, 8}})
			same("dump thread", *d.Breakpad.DumpThread, 2)
			same("requesting thread", *d.Breakpad.RequestingThread, 1)
			same("assertion", *d.Assertion, Assertion{"x == y", "f()", "a.cc", 12, 1})

			l := d.Linux
			same("pid", []any{l.PID, l.HasPID}, []any{77, true})
			same("distribution", l.Distribution, Distribution{ID: "Ubuntu", Description: "Ubuntu 16.04"})
			same("maps", l.Maps, []Mapping{
				{0x400000, 0x402000, "r-xp", 0x1000, "08:01", 1234, "/opt/my app"}, {0x7ffc0000, 0x7ffe0000, "rw-p", 0, "00:00", 0, ""}})

			c, err := d.ExceptionContext()
			if err != nil {
				t.Fatal(err)
			}
			same("arch", c.Arch.Name, "amd64")
			same("pc", c.Regs.PC(), 0x401010)
			same("sp", c.Regs.SP(), 0x7ff010)
			same("all known", c.Regs.AllKnown(), true)
			same("cs", extraReg(c, "cs"), []byte{0x33, 0})
			same("eflags", extraReg(c, "eflags"), []byte{0x46, 2, 0, 0})

			v, ok := d.Memory.Word(0x401000, 1)
			same("code", []any{v, ok}, []any{'c', true})
			p := make([]byte, 20)
			same("bytes", d.Memory.Read(0xa00005, p), 5)
			same("bytes", string(p[:5]), "-four")
			want := d.Header.Order.Uint64([]byte{8, 9, 10, 11, 12, 13, 14, 15})
			v, ok = d.Memory.Word(0x7ff008, 8)
			same("word", []any{v, ok}, []any{want, true})
			same("count of regions", len(d.Memory.Regions()), 5)
		})
	}
}

func extraReg(c *Context, name string) []byte {
	for _, r := range c.Extra {
		if r.Name == name {
			return r.Bytes
		}
	}
	return nil
}

// TestNotADump: what is not a minidump is refused with a sentence that says what it is.
func TestNotADump(t *testing.T) {
	good := dumptest.New(dumptest.LittleEndian).System(dumptest.System{}).Bytes()
	bad := func(f func(p []byte)) []byte { p := append([]byte(nil), good...); f(p); return p }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "an empty file"},
		{"short", []byte("MD"), `a file that starts with "MD"`},
		{"text", []byte("MODULE Linux x86_64 0 a.out\n"), `a file that starts with "MODU"`},
		{"header only", []byte("MDMP\x93\xa7"), "a header of 32 bytes"},
		{"version", bad(func(p []byte) { p[4] = 0 }), "0xa793"},
		{"directory outside", bad(func(p []byte) { binary.LittleEndian.PutUint32(p[12:], 1<<30) }), "stream directory"},
		{"many streams, no room", bad(func(p []byte) {
			binary.LittleEndian.PutUint32(p[8:], 1<<31)
			binary.LittleEndian.PutUint32(p[12:], uint32(len(p)-4))
		}), "room for 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(input.FromBytes("x.dmp", c.data))
			var fe *input.FormatError
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.dmp: ") {
				t.Errorf("error %v, want one of x.dmp with %q", err, c.want)
			}
		})
	}
	// The high half of the version is the writer's own.
	if _, err := Open(input.FromBytes("x.dmp", dumptest.New(dumptest.LittleEndian).Version(0x1234a793).Bytes())); err != nil {
		t.Errorf("version 0x1234a793: %v", err)
	}
}

// TestBrokenStreams: one bad stream is a diagnostic and the rest is read.
func TestBrokenStreams(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() *dumptest.Dump
		want string // in one of the diagnostics
		look func(d *Dump) bool
	}{
		{"stream outside the file", func() *dumptest.Dump { return dumptest.New(dumptest.LittleEndian).Entry(6, 1<<30, 168) },
			"Exception stream at offset 0x40000000", func(d *Dump) bool { return d.Exception == nil }},
		{"short exception", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Stream(6, make([]byte, 20))
		}, "Exception stream", func(d *Dump) bool { return d.Exception == nil }},
		{"too many threads", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Stream(3, append([]byte{0xff, 0xff, 0xff, 0x7f}, make([]byte, 100)...))
		}, "room for 2", func(d *Dump) bool { return len(d.Threads) == 2 }},
		{"duplicate", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Stream(3, make([]byte, 4)).Thread(9, nil, 0, nil)
		}, "the last is used", func(d *Dump) bool {
			return len(d.Threads) == 1 && d.Streams[0].Duplicate && !d.Streams[2].Duplicate
		}},
		{"name outside", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Thread(9, nil, 0, nil).Stream(24, []byte{1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0})
		}, "the offset of a name", func(d *Dump) bool { return len(d.Threads) == 1 }},
		{"module without size", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Module(0x1000, 0, "empty", nil).Module(0x2000, 1, "good", nil)
		}, "a module with an address range", func(d *Dump) bool { return len(d.Modules) == 2 }},
		{"unknown codeview", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Module(0x1000, 1, "m", dumptest.Raw([]byte("NB11...."))).Module(0x2000, 1, "n", dumptest.Raw([]byte("RSDS")))
		}, "CodeView record", func(d *Dump) bool { return len(d.Modules) == 2 && d.Modules[0].DebugID == "" }},
		{"memory outside", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).MemoryAt(0x1000, 1<<30, 16).Memory(0x2000, []byte("abcd"))
		}, "beyond the end of the file", func(d *Dump) bool { return len(d.Memory.Regions()) == 1 }},
		{"bad pid", func() *dumptest.Dump {
			return dumptest.New(dumptest.LittleEndian).Stream(0x47670004, []byte("Pid: x\n"))
		},
			"a number after Pid", func(d *Dump) bool { return d.PID() == nil }},
		{"parameters", func() *dumptest.Dump {
			p := make([]byte, 168)
			p[32] = 200
			return dumptest.New(dumptest.LittleEndian).Stream(6, p)
		}, "at most 15 parameters", func(d *Dump) bool { return len(d.Exception.Params) == 15 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, c.make().System(dumptest.System{CPUs: 3}).Bytes())
			found := false
			for _, diag := range d.Diags {
				found = found || strings.Contains(diag.Err.Error(), c.want)
			}
			if !found {
				t.Errorf("no diagnostic with %q in %v", c.want, d.Diags)
			}
			if !c.look(d) || d.System == nil || d.System.CPUCount != 3 {
				t.Errorf("wrong content: %+v", d)
			}
		})
	}
}

// TestPaddedLists: the lists with 4 bytes between count and entries.
func TestPaddedLists(t *testing.T) {
	d := open(t, dumptest.New(dumptest.LittleEndian).Padded().Thread(5, nil, 0x10, []byte("12345678")).
		Module(0x1000, 0x10, "m", nil).Memory(0x2000, []byte("abcd")).Bytes())
	if len(d.Diags) > 0 || len(d.Threads) != 1 || d.Threads[0].ID != 5 || len(d.Modules) != 1 || d.Modules[0].Name != "m" || len(d.Memory.Regions()) != 2 {
		t.Errorf("%v %+v %+v %+v", d.Diags, d.Threads, d.Modules, d.Memory.Regions())
	}
}

// TestNeed: a source without all bytes answers which it needs, and Open hands that on.
func TestNeed(t *testing.T) {
	data := everything(dumptest.LittleEndian).Bytes()
	src := input.New("remote.dmp", needy{}, int64(len(data)))
	_, err := Open(src)
	var need *input.NeedError
	if !errors.As(err, &need) || len(need.Ranges) == 0 {
		t.Errorf("error %v, want a NeedError", err)
	}
}

type needy struct{}

func (needy) ReadAt(p []byte, off int64) (int, error) {
	return 0, &input.NeedError{Name: "remote.dmp", Ranges: []input.Range{{Offset: off, Size: int64(len(p))}}}
}

var _ io.ReaderAt = needy{}

// TestStreamTable: no stream type twice, every row named, and the tests have one of each that is
// decoded.
func TestStreamTable(t *testing.T) {
	seen := map[StreamType]bool{}
	for _, r := range streamTable {
		if seen[r.Type] || r.Name == "" || r.Vendor == "" {
			t.Errorf("row %+v is there twice or has no name", r)
		}
		seen[r.Type] = true
	}
	// The dump with everything is read in both byte orders and broken in all places.
	made := open(t, everything(dumptest.LittleEndian).Bytes())
	for _, typ := range DecodedStreams() {
		if made.Stream(typ) == nil {
			t.Errorf("%s is decoded, and everything() makes none", typ.Name())
		}
	}
	for typ, want := range map[StreamType]string{3: "Microsoft", 0xff00: "Microsoft", 0x4767ffff: "Breakpad", 0x43500002: "Crashpad", 0x4d7a0009: "Mozilla", 0x12345678: "Unknown"} {
		if got := typ.Vendor(); got != want {
			t.Errorf("vendor of %#x = %s, want %s", uint32(typ), got, want)
		}
	}
}

func TestUTF16(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{[]byte{'a', 0, 0xac, 0x20}, "a€"},
		{[]byte{0x3d, 0xd8, 0x00, 0xde}, "😀"},
		{[]byte{0x3d, 0xd8, 'x', 0}, "\uFFFDx"}, // high surrogate alone
		{[]byte{0x00, 0xde, 'x', 0}, "\uFFFDx"}, // low surrogate alone
		{[]byte{0x3d, 0xd8}, "\uFFFD"},          // cut off
		{[]byte{'a', 0, 'b'}, "a"},              // half a unit
	} {
		if got := utf16String(c.in, binary.LittleEndian); got != c.want {
			t.Errorf("% x = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestBadStringLength: a string with an impossible length is reported, and says nothing about the others.
func TestBadStringLength(t *testing.T) {
	b := dumptest.New(dumptest.LittleEndian).Module(0x400000, 0x1000, "first", nil).Module(0x500000, 0x1000, "second", nil)
	bad := b.Put([]byte{0xf0, 0xff, 0xff, 0xff})
	data := b.Bytes()
	first := bytes.Index(data, binary.LittleEndian.AppendUint64(nil, 0x400000))
	binary.LittleEndian.PutUint32(data[first+20:], uint32(bad))
	d := open(t, data)
	if d.Modules[0].Name != "" || d.Modules[1].Name != "second" {
		t.Errorf("the modules are %q and %q", d.Modules[0].Name, d.Modules[1].Name)
	}
	if len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Err.Error(), "a string of at most") {
		t.Error(d.Diags)
	}
}

// TestBadBehindManyDiagnostics: a stream with an error is not called decoded, even if Diags has reached its limit.
func TestBadBehindManyDiagnostics(t *testing.T) {
	b := dumptest.New(dumptest.LittleEndian)
	for range maxDiags + 1 {
		b.MemoryAt(0x1000, 4, 0)
	}
	handle := make([]byte, 48)
	for at, v := range map[int]uint32{0: 16, 4: 32, 8: 1, 24: 0xfffffff0} {
		binary.LittleEndian.PutUint32(handle[at:], v)
	}
	d := open(t, b.Stream(12, handle).Bytes())
	if len(d.Diags) != maxDiags+1 || len(d.Handles) != 1 || d.Stream(12).Decoded {
		t.Errorf("%d diagnostics, %d handles, decoded: %v", len(d.Diags), len(d.Handles), d.Stream(12).Decoded)
	}
}

// far is a file with zeros between its beginning and some bytes at a large offset.
type far struct {
	head, tail []byte
	at         int64
}

func (f far) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(f.head)) {
		copy(p, f.head[off:])
	}
	if end := f.at + int64(len(f.tail)); off < end && off+int64(len(p)) > f.at {
		copy(p[max(0, f.at-off):], f.tail[max(0, off-f.at):])
	}
	return len(p), nil
}

// TestFarNames: offsets of 64 bits reach beyond 4 GiB.
func TestFarNames(t *testing.T) {
	const at = 5 << 30
	names := binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 7, 0, 0, 0}, at)
	args := binary.LittleEndian.AppendUint64(make([]byte, 8), at)
	data := dumptest.New(dumptest.LittleEndian).Thread(7, nil, 0, nil).Stream(24, names).Stream(0x4d7a0002, args).Bytes()
	d, err := Open(input.New("big.dmp", far{data, []byte("\x04\x00\x00\x00h\x00i\x00"), at}, at+100))
	if err != nil || d.Threads[0].Name != "hi" || d.MacBootArgs == nil || *d.MacBootArgs != "hi" {
		t.Errorf("%q, %v, %v", d.Threads[0].Name, d.Diags, err)
	}
}

// TestLargeSoftErrors: a text that would take much memory as JSON is no JSON, and is reported.
func TestLargeSoftErrors(t *testing.T) {
	json := []byte("[" + strings.Repeat(" ", maxSoftErrors) + "]")
	d := open(t, dumptest.New(dumptest.LittleEndian).Stream(0x4d7a0004, json).Bytes())
	if s := d.Stream(0x4d7a0004); d.SoftErrors != "" || s.Decoded || len(d.Diags) != 1 {
		t.Errorf("%d bytes, %v", len(d.SoftErrors), d.Diags)
	}
}
