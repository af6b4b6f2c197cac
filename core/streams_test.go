package core

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

var (
	reportID = [16]byte{0x9d, 0x1d, 0x97, 0x32, 0xda, 0x36, 0x41, 0xec, 0xbd, 0xb4, 0xfe, 0xc9, 0x1b, 0x8e, 0xd2, 0x92}
	clientID = [16]byte{}
)

const limitsText = "Limit                     Soft Limit           Hard Limit           Units     \n" +
	"Max cpu time              unlimited            unlimited            seconds   \n" +
	"Max nice priority         0                    7                    \n"

// rareStreams adds one of each stream that the basic dump lacks.
func rareStreams(b *dumptest.Dump, order binary.AppendByteOrder) *dumptest.Dump {
	b.ThreadEx(7, dumptest.Context(order, "amd64", nil), 0x9ff000, []byte("stack of thread ex"), 0xaff000, []byte("backing store")).
		CommentA("a comment").CommentW("ein Kommentär").
		Handles(true, dumptest.Handle{Handle: 0x44, Type: "File", Name: `\Device\x`, Attributes: 1, Access: 0x120089, Handles: 3, Points: 65536,
			Info: []dumptest.HandleFact{{Type: 2, Data: []byte("mutant!!")}, {Type: 3, Data: []byte("owner")}}},
			dumptest.Handle{Handle: 0x48, Type: "File"}).
		FunctionTable(0x10000, 0x20000, 0x10000, []byte("native.."), [3]uint32{0, 16, 1}, [3]uint32{16, 64, 2}).
		ThreadInfo(2, [3]uint32{2, 3, 259}, [6]uint64{11, 12, 13, 14, 0x401000, 15}).
		HandleOperation(0x4c, 4242, 1, 2, 9, 0x401111, 0x402222).
		Tokens(false, []byte("token data 1"), []byte("2")).
		SystemMemory(1, 0xf).VMCounters(2, 0x1f).HostModule(0x7b000000, 0x1000, "/usr/lib/wine/ntdll.so", nil).
		Stream(20, []byte("thread data of a script engine")).Stream(23, []byte{1, 2, 3, 4}).Stream(0x8001, []byte("ce system info")).
		Stream(0x47670006, []byte("/opt/app\x00--key\x00secret\x00")).Stream(0x47670007, []byte("HOME=/root\x00EMPTY=\x00")).
		Auxv(8, [2]uint64{3, 0x400040}, [2]uint64{9, 0x401000}, [2]uint64{1000, 5}).
		DSODebug("64", 1, 0x7f0001, 0x7f0002, 0x600e00, dumptest.DSO{Addr: 0, Dynamic: 0x600e00, Name: ""}, dumptest.DSO{Addr: 0x7f0000, Dynamic: 0x7f0e00, Name: "/lib/libc.so.6"}).
		Stream(0x4767000b, []byte("4242 (app) S 1")).Stream(0x4767000c, []byte("12345.67 100.00\n")).Stream(0x4767000d, []byte("0 -> /dev/null\n"))
	for _, typ := range []uint32{0xfacecafb, 0xfacecafc, 0xfacecafd, 0xfacecafe, 0xfacecb00, 0xfacecccc, 0xfacee000} {
		b.Stream(typ, []byte("text"))
	}
	return b.Crashpad(reportID, clientID, 0x7f00000000000, [][2]string{{"ptype", "gpu"}, {"lang", "de-ä"}},
		dumptest.CrashpadModule{Index: 1, List: []string{"one", "two"}, Simple: [][2]string{{"k", "v"}},
			Objects: []dumptest.CrashpadObject{{Name: "text", Type: 1, Value: []byte("hello")}, {Name: "own", Type: 0x8001, Value: []byte{0, 0xff}}}},
		dumptest.CrashpadModule{Index: 2}).
		MacCrashInfo(5, [3]uint64{1, 2, 3}, "/usr/lib/dyld", "message", "signature", "backtrace", "more").
		MacBootArgs(true, "debug=0x144 -v").
		Stream(0x4d7a0003, []byte(limitsText)).Stream(0x4d7a0004, []byte(`[{"InitErrors": []}]`)).
		Stream(0x4b6b0002, []byte{0x12, 0x09, 0x18}).Stream(0xface1ca7, []byte("logcat")).Stream(0xfacecafa, []byte(`{"a": 1}`)).
		Stream(0xfacedead, []byte("abort reason")).Stream(0x4c4c4442, nil).Stream(0x0badcafe, []byte("a user stream"))
}

// TestRareStreams reads one of each in both byte orders; the account of bytes has no hole.
func TestRareStreams(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
		t.Run(order.String(), func(t *testing.T) {
			data := everything(order).Bytes()
			d, cover, err := Cover(input.FromBytes("rare.dmp", data))
			if err != nil {
				t.Fatal(err)
			}
			checkCoverage(t, "everything", data, cover)
			for _, diag := range d.Diags {
				t.Errorf("diagnostic: %v", diag.Err)
			}
			for _, s := range d.Streams {
				if s.Decoded != (s.Form != FormBytes) {
					t.Errorf("%s: decoded %v, form %d", s.Name, s.Decoded, s.Form)
				}
			}
			same := func(what string, got, want any) {
				t.Helper()
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s = %v, want %v", what, got, want)
				}
			}
			bytesAt := func(l Location) string { return string(data[l.Off:][:l.Size]) }

			w := d.Windows
			same("thread ex", []any{w.ThreadsEx[0].ID, w.ThreadsEx[0].StackStart, w.ThreadsEx[0].BackingStart, bytesAt(w.ThreadsEx[0].Backing)},
				[]any{7, 0x9ff000, 0xaff000, "backing store"})
			same("threads", len(d.Threads), 2)
			v, ok := d.Memory.Word(0xaff000, 1)
			same("backing store in memory", []any{v, ok}, []any{'b', true})
			same("host modules", []any{len(d.Modules), len(d.HostModules), d.HostModules[0].Base, d.HostModules[0].Name}, []any{3, 1, 0x7b000000, "/usr/lib/wine/ntdll.so"})
			same("comments", []string{*w.CommentA, *w.CommentW}, []string{"a comment", "ein Kommentär"})
			h := d.Handles[0]
			same("handle", []any{h.Handle, h.Type, h.Name, h.Attributes, h.GrantedAccess, h.HandleCount, h.PointerCount}, []any{0x44, "File", `\Device\x`, 1, 0x120089, 3, 65536})
			same("handle facts", []string{h.Info[0].Name(), bytesAt(h.Info[0].Data), h.Info[1].Name(), bytesAt(h.Info[1].Data)},
				[]string{"MutantInformation1", "mutant!!", "MutantInformation2", "owner"})
			same("second handle", []any{d.Handles[1].Handle, d.Handles[1].Type, d.Handles[1].Name, len(d.Handles[1].Info)}, []any{0x48, "File", "", 0})
			f := w.FunctionTables[0]
			same("function table", []any{f.Minimum, f.Maximum, f.Base, f.EntryCount, f.EntrySize, bytesAt(f.Native), f.Entries.Size, d.Header.Order.Uint32(data[f.Entries.Off+16:])},
				[]any{0x10000, 0x20000, 0x10000, 2, 12, "native..", 24, 64})
			same("thread info", *d.ThreadInfo(2), ThreadInfo{2, 2, 3, 259, 11, 12, 13, 14, 0x401000, 15})
			same("no thread info", d.ThreadInfo(1) == nil, true)
			same("operation", d.HandleOperations[0], HandleOperation{0x4c, 4242, 1, 2, 9, []uint64{0x401111, 0x402222}})
			same("tokens", []any{w.Tokens[0].ID, w.Tokens[0].Handle, bytesAt(w.Tokens[0].Data), bytesAt(w.Tokens[1].Data)}, []any{100, 4, "token data 1", "2"})
			checkCounters(t, w.SystemMemory.Counters, 101)
			checkCounters(t, w.VMCounters.Counters, 19)
			same("last figures", []string{w.SystemMemory.Counters[100].Name, w.VMCounters.Counters[18].Name}, []string{"SharedCommittedPages", "JobTotalCommitLimit"})

			l := d.Linux
			same("auxv", []string{l.Aux[0].Name(), l.Aux[2].Name()}, []string{"AT_PHDR", "AT_1000"})
			entry, ok := l.AuxValue("AT_ENTRY")
			same("entry", []any{entry, ok, len(l.Aux)}, []any{0x401000, true, 3})
			same("debug", *l.Debug, LinuxDebug{1, 0x7f0001, 0x7f0002, 0x600e00,
				[]LinkMap{{0, 0x600e00, ""}, {0x7f0000, 0x7f0e00, "/lib/libc.so.6"}}, []DynamicEntry{{1, 1}, {0, 0}}})

			c := d.Crashpad
			same("crashpad", []any{c.Version, c.ReportID, c.ClientID, *c.AddressMask, c.Annotations}, []any{1, "9d1d9732-da36-41ec-bdb4-fec91b8ed292", "", uint64(0x7f00000000000),
				[]KeyValue{{"ptype", "gpu"}, {"lang", "de-ä"}}})
			m := c.Modules[0]
			same("module", []any{m.Module, m.Version, m.List, m.Simple, m.Objects}, []any{1, 1, []string{"one", "two"}, []KeyValue{{"k", "v"}},
				[]Annotation{{"text", 1, []byte("hello")}, {"own", 0x8001, []byte{0, 0xff}}}})
			text, isText := m.Objects[0].Text()
			_, own := m.Objects[1].Text()
			same("annotation", []any{text, isText, own}, []any{"hello", true, false})
			same("mac", d.MacCrashInfo, []MacCrashInfo{{5, 1, 2, 3, "/usr/lib/dyld", "message", "signature", "backtrace", "more"}})
			same("boot", *d.MacBootArgs, "debug=0x144 -v")
			same("limits", d.Limits, []Limit{{"Max cpu time", "unlimited", "unlimited", "seconds"}, {"Max nice priority", "0", "7", ""}})
			same("soft errors", d.SoftErrors, `[{"InitErrors": []}]`)
		})
	}
}

// checkCounters: the writer's figures count up from 1.
func checkCounters(t *testing.T, list []Counter, n int) {
	t.Helper()
	if len(list) != n {
		t.Fatalf("%d figures, want %d", len(list), n)
	}
	seen := map[string]bool{}
	for i, c := range list {
		if c.Value != uint64(i+1) || c.Name == "" || seen[c.Name] {
			t.Errorf("figure %d is %s %d", i, c.Name, c.Value)
		}
		seen[c.Name] = true
	}
}

// TestVersions: the other versions and forms of streams that have several.
func TestVersions(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
		cover := func(b *dumptest.Dump) *Dump {
			t.Helper()
			data := b.Bytes()
			d, c, err := Cover(input.FromBytes("v.dmp", data))
			if err != nil {
				t.Fatal(err)
			}
			checkCoverage(t, "version", data, c)
			for _, diag := range d.Diags {
				t.Error(diag.Err)
			}
			return d
		}
		arm := dumptest.System{Processor: dumptest.CPUARM, Platform: dumptest.OSAndroid}
		amd64 := dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}
		dsos := []dumptest.DSO{{Addr: 0x1000, Dynamic: 0x2000, Name: "libx.so"}}
		for form, system := range map[string]dumptest.System{"32": arm, "64": amd64, "packed": amd64} {
			l := cover(dumptest.New(order).System(system).DSODebug(form, 1, 2, 3, 4, dsos...)).Linux.Debug
			if fmt.Sprint(*l) != fmt.Sprint(LinuxDebug{1, 2, 3, 4, []LinkMap{{0x1000, 0x2000, "libx.so"}}, []DynamicEntry{{1, 1}, {0, 0}}}) {
				t.Errorf("%s: %+v", form, *l)
			}
		}
		if a := cover(dumptest.New(order).System(arm).Auxv(4, [2]uint64{6, 4096})).Linux.Aux; len(a) != 1 || a[0] != (AuxEntry{6, 4096}) {
			t.Errorf("auxv of 32 bits: %v", a)
		}
		d := cover(dumptest.New(order).Handles(false, dumptest.Handle{Handle: 4, Type: "Event"}).SystemMemory(2, 0).VMCounters(1, 0).
			MacCrashInfo(4, [3]uint64{7, 8}, "m").MacBootArgs(false, "-x").Tokens(true, []byte("abc"), []byte("defg")))
		checkCounters(t, d.Windows.VMCounters.Counters, 10)
		if n := len(d.Windows.SystemMemory.Counters); n != 91 { // of 105, without flags
			t.Errorf("%d figures without flags", n)
		}
		if len(d.Handles) != 1 || d.Handles[0].Type != "Event" || d.MacCrashInfo[0].Thread != 7 || d.MacCrashInfo[0].Module != "m" || *d.MacBootArgs != "-x" {
			t.Errorf("%+v %+v", d.Handles, d.MacCrashInfo)
		}
		if tk := d.Windows.Tokens; len(tk) != 2 || tk[0].Data.Size != 3 || tk[1].Data.Size != 4 {
			t.Errorf("tokens %+v", tk)
		}
		checkCounters(t, cover(dumptest.New(order).SystemMemory(2, 0x3f)).Windows.SystemMemory.Counters, 105)
		if d := cover(dumptest.New(order).MacCrashInfo(1, [3]uint64{})); len(d.MacCrashInfo) != 1 || d.MacCrashInfo[0].Version != 1 {
			t.Errorf("%+v", d.MacCrashInfo)
		}
		c := cover(dumptest.New(order).Crashpad(reportID, reportID, 0, nil)).Crashpad
		if c.AddressMask != nil || c.ClientID != c.ReportID || len(c.Modules) != 0 {
			t.Errorf("%+v", c)
		}
		// Threads of the second kind are the dump's if there are no others.
		d = cover(dumptest.New(order).System(amd64).ThreadEx(3, dumptest.Context(order, "amd64", map[string]uint64{"rip": 5}), 0x1000, make([]byte, 8), 0, nil))
		if ctx, err := d.ThreadContext(0); err != nil || ctx.Regs.PC() != 5 || d.Threads[0].ID != 3 {
			t.Errorf("%v, %+v", err, d.Threads)
		}
	}
}

// TestBrokenRareStreams: damage is reported, and what is readable is kept.
func TestBrokenRareStreams(t *testing.T) {
	words := func(v ...uint32) (p []byte) {
		for _, x := range v {
			p = binary.LittleEndian.AppendUint32(p, x)
		}
		return p
	}
	for name, c := range map[string]struct {
		typ  uint32
		data []byte
		want string
	}{
		"function table sizes":   {13, words(8, 8, 0, 0, 1, 0), "a header of 24 bytes"},
		"function table entries": {13, append(words(24, 32, 0, 12, 1, 0, 1, 1, 1, 1, 1, 1, 0x10000000, 0), 0), "more bytes"},
		"handle sizes":           {12, words(16, 8, 1, 0), "entries of 32"},
		"handles":                {12, words(16, 32, 0x7fffffff, 0), "room for 0"},
		"token sizes":            {19, words(16, 1, 16, 4), "elements of 16"},
		"tokens":                 {19, words(16, 0xffffffff, 16, 16), "room for 0"},
		"system memory":          {21, words(1, 2, 3), "more bytes"},
		"crashpad":               {0x43500001, make([]byte, 20), "more bytes"},
		"crashpad modules":       {0x43500001, append(make([]byte, 44), words(100, 0x7000000)...), "to the end of the file"},
		"mac records":            {0x4d7a0001, append(words(1, 21, 40), make([]byte, 160)...), "at most 20 records"},
		"boot arguments":         {0x4d7a0002, words(1, 0, 1), "the offset of the boot arguments"},
		"link map":               {0x4767000a, append(words(1, 0x7fffffff, 5, 0), make([]byte, 24)...), "a link map"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, dumptest.New(dumptest.LittleEndian).Stream(c.typ, c.data).Bytes())
			var all []string
			for _, diag := range d.Diags {
				all = append(all, diag.Err.Error())
			}
			if !strings.Contains(strings.Join(all, "\n"), c.want) {
				t.Errorf("no diagnostic with %q in %q", c.want, all)
			}
		})
	}
}

// TestModuleFlags: what is odd about modules.
func TestModuleFlags(t *testing.T) {
	id := dumptest.ELF(buildID)
	d := open(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Platform: dumptest.OSAndroid}).
		Module(0x1000, 0x1000, "/lib/a.so", id).
		Module(0x1800, 0x1000, "/lib/b.so", id).
		Module(0x5000, 0x1000, "/lib/c.so (deleted)", id).
		Module(0x6000, 0x1000, "/memfd:jit (deleted)", nil).
		Module(0x8000, 0x1000, "/data/app/base.apk!/lib/arm64-v8a/libapp.so", id).
		Module(0x5000, 0x1000, "/lib/c.so (deleted)", id).
		Module(0x9000, 0, "/lib/empty.so", id).
		Module(0xa000, 0x1000, "", id).
		Module(0xb000, 0x1000, "linux-gate.so", id).
		Module(0xc000, 0x9000, "/lib/large.so", id).Module(0xd000, 0x10, "/lib/inside.so", id).Module(0xe000, 0x10, "/lib/inside2.so", id).
		Module(^uint64(0)-4, 0x10, "/lib/end.so", id).Bytes())
	for i, want := range []string{"overlaps another module", "overlaps another module", "file deleted while in use",
		"file deleted while in use, memory, not a file, no debug id", "inside an Android package", "listed twice, file deleted while in use", "no address range",
		"no name", "mapped by the kernel", "overlaps another module", "overlaps another module", "overlaps another module", "no address range"} {
		if got := strings.Join(d.Modules[i].Flags.Words(), ", "); got != want {
			t.Errorf("module %d, %s: %q, want %q", i, d.Modules[i].Name, got, want)
		}
	}
	if file, member := d.Modules[4].File(); file != "/data/app/base.apk" || member != "lib/arm64-v8a/libapp.so" {
		t.Errorf("%q %q", file, member)
	}
	if file, member := d.Modules[2].File(); file != "/lib/c.so" || member != "" {
		t.Errorf("%q %q", file, member)
	}
}

// A chain of an object's facts that leads back to one of them is read once.
func TestHandleInfoLoop(t *testing.T) {
	facts := []dumptest.HandleFact{{Type: 2, Data: []byte("mutant!!")}, {Type: 3, Data: []byte("owner")}}
	data := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9}).Handles(true, dumptest.Handle{Handle: 4, Info: facts}).Bytes()
	d, err := Open(input.FromBytes("x", data))
	if err != nil || len(d.Handles[0].Info) != 2 {
		t.Fatal(err)
	}
	const header = 12 // it begins with the place of the next one
	first, last := d.Handles[0].Info[0].Data.Off-header, d.Handles[0].Info[1].Data.Off-header
	binary.LittleEndian.PutUint32(data[last:], uint32(first))
	if d, err = Open(input.FromBytes("x", data)); err != nil || len(d.Handles[0].Info) != 2 {
		t.Errorf("%d facts, %v", len(d.Handles[0].Info), err)
	}
	if len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Err.Error(), "in the chain already") {
		t.Errorf("diagnostics %v", d.Diags)
	}
}
