package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/session"
)

// dumpAt is a dump that crashed at an offset of its program.
func dumpAt(offset int) []byte {
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400000 + uint64(offset), "rsp": 0x7000})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x100000, "/opt/app", dumptest.RSDS(1, 2, 3, [8]byte{4}, 1, "app")).
		Thread(7, context, 0x7000, make([]byte, 64)).Exception(7, 11, 1, 0x45, context).Bytes()
}

// TestShared: goroutines that share symbols name every dump by its own function, and describing a dump
// adds nothing to the store.
func TestShared(t *testing.T) {
	const functions = 256
	var sym strings.Builder
	sym.WriteString("MODULE Linux x86_64 000000010002000304000000000000001 app\n")
	for i := range functions {
		fmt.Fprintf(&sym, "FUNC %x 100 0 f%d\n", i*0x100, i)
	}
	library := session.NewFiles(session.Options{})
	library.Add(input.FromBytes("app.sym", []byte(sym.String())))
	opt := Options{Session: session.Options{Store: library.Store()}, Frames: 3, Lists: signature.Own}
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := w; i < functions; i += 4 {
				for _, r := range Describe(input.FromBytes("a.dmp", dumpAt(i*0x100+8)), opt) {
					if want := fmt.Sprintf("f%d", i); r.Error != "" || r.Signature != want || r.Threads[0].Frames[0].Function != want {
						t.Errorf("%d: %+v", i, r)
					}
				}
			}
		})
	}
	wait.Wait()
	if n := len(library.Store().Since(0)); n != 1 {
		t.Errorf("%d files in the store", n)
	}
}

// TestJSON: a record with nothing and one with an error are objects too, and a writer's error is
// returned.
func TestJSON(t *testing.T) {
	for _, r := range []Record{{}, {Name: "a", Error: "b\n"}, {Name: "a\xff", Threads: []Thread{{}}, Problems: []string{"<"}}} {
		var b bytes.Buffer
		if err := WriteJSON(&b, &r); err != nil || !json.Valid(b.Bytes()) || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%v: %s", err, b.String())
		}
	}
	full := errors.New("full")
	if err := WriteJSON(failing{full}, &Record{}); !errors.Is(err, full) {
		t.Error(err)
	}
}

// TestEveryRecordField: each field of a record is in its JSON, and docs/COMMAND.md names each member.
func TestEveryRecordField(t *testing.T) {
	var r Record
	testfile.Fill(&r)
	r.Error = "" // a record with an error has nothing else
	line := func() string {
		var b bytes.Buffer
		if err := WriteJSON(&b, &r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if unused := testfile.Unused(&r, line); len(unused) > 0 {
		t.Errorf("not in the JSON: %q", unused)
	}
	doc, err := os.ReadFile("../../docs/COMMAND.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "**Batch**")
	section, _, found := strings.Cut(section, "**Database.**")
	names := regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(line(), -1)
	if !found || len(names) < 40 {
		t.Fatalf("docs/COMMAND.md has no section on batch, or there are only %d members", len(names))
	}
	for _, name := range names {
		if !strings.Contains(section, "`"+name[1]+"`") {
			t.Errorf("docs/COMMAND.md does not name %s", name[1])
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzDescribe: any bytes are a record or an error.
func FuzzDescribe(f *testing.F) {
	f.Add(dumpAt(8))
	f.Add(dumpAt(8)[:200])
	f.Fuzz(func(t *testing.T, data []byte) {
		all := Describe(input.FromBytes("a.dmp", data), Options{Frames: 3, Lists: signature.Own, AllThreads: true})
		if len(all) == 0 {
			t.Fatal("no record")
		}
		for i := range all {
			var b bytes.Buffer
			if WriteJSON(&b, &all[i]); !json.Valid(b.Bytes()) {
				t.Fatalf("%s", b.String())
			}
		}
	})
}

// TestCoresShare: the shared symbols name the functions of a core and of a microdump, too.
func TestCoresShare(t *testing.T) {
	library := session.NewFiles(session.Options{})
	library.Add(input.FromBytes("app.sym", []byte("MODULE Linux x86_64 333231303534373638396162636465660 app\nFUNC 1000 100 0 f\n")))
	library.Add(input.FromBytes("arm.sym", []byte("MODULE Android arm 333231303534373638396162636465660 arm.so\nFUNC 1000 100 0 g\n")))
	var registers []byte
	for i := range 27 {
		registers = dumptest.LittleEndian.AppendUint64(registers, map[int]uint64{16: 0x401010, 19: 0x7fff0000}[i])
	}
	core := dumptest.NewCore(dumptest.LittleEndian, true, 62).Thread(1, 11, registers).Signal(11, 1, 8).File(0x400000, 0x402000, 0, "/opt/app").
		Memory(0x400000, 0x1000, dumptest.Read, dumptest.ELFImage(dumptest.LittleEndian, true, 62, 0x2000, []byte("0123456789abcdef"))).
		Memory(0x401000, 0x1000, dumptest.Read|dumptest.Exec, nil).Bytes()
	micro := dumptest.Micro{OS: "A", Arch: "arm", Hardware: "armv7l", Fingerprint: "x", Signal: 11, SignalName: "SIGSEGV",
		Context: dumptest.ARM(map[string]uint64{"pc": 0x401010, "sp": 0x7fff0000}),
		Modules: []dumptest.MicroModule{{Base: 0x400000, Size: 0x10000, ID: "333231303534373638396162636465660", Name: "arm.so"}}}.Log("", "\n")
	for name, dump := range map[string][]byte{"f": core, "g": []byte(micro)} {
		for _, r := range Describe(input.FromBytes("dump", dump), Options{Session: session.Options{Store: library.Store()}, Frames: 3, Lists: signature.Own}) {
			if r.Error != "" || len(r.Threads) == 0 || r.Threads[0].Frames[0].Function != name || r.AddressSignature == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// TestHang: a dump of a process that did not crash is grouped by the thread that others wait for, not by the first.
func TestHang(t *testing.T) {
	const app, libc, lock, stacks = 0x400000, 0x7f0000000000, 0x600000, 0x7f5000000000
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(app, 0x10000, "/opt/app", dumptest.RSDS(1, 0, 0, [8]byte{}, 1, "app")).
		Module(libc, 0x10000, "/lib/x86_64-linux-gnu/libc.so.6", dumptest.RSDS(2, 0, 0, [8]byte{}, 1, "libc"))
	thread := func(id uint32, pc uint64) {
		sp := uint64(stacks) + uint64(id)<<16
		d.Thread(id, dumptest.AMD64(map[string]uint64{"rip": pc, "rsp": sp, "rdi": lock}), sp, make([]byte, 32))
	}
	thread(1, libc+0x1002)
	thread(2, libc+0x1002)
	thread(3, app+0x1010)
	var mutex []byte
	for _, word := range []uint32{2, 0, 3, 0} { // held by thread 3
		mutex = dumptest.LittleEndian.AppendUint32(mutex, word)
	}
	d.Memory(libc+0x1000, []byte{0x0f, 0x05, 0xc3, 0x90}).Memory(lock, mutex)
	library := session.NewFiles(session.Options{})
	library.Add(input.FromBytes("app.sym", []byte("MODULE linux x86_64 000000010000000000000000000000001 app\nFUNC 1000 100 0 rebuild_index\n")))
	library.Add(input.FromBytes("libc.sym", []byte("MODULE linux x86_64 000000020000000000000000000000001 libc\nFUNC 1000 100 0 __pthread_mutex_lock\n")))
	r := Describe(input.FromBytes("hang.dmp", d.Bytes()), Options{Session: session.Options{Store: library.Store()}, Frames: 3, Lists: signature.Own})[0]
	if r.Signature != "hang | rebuild_index" || r.Hang == nil || r.Hang.Thread != 2 || r.Threads[0].Index != 2 || r.AddressSignature != "" {
		t.Errorf("%+v", r)
	}
}
