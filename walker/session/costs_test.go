package session

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/symbols"
)

// costs are the kinds of things that a file can have many of. Each has a function that makes a dump,
// and a symbol file or archive for it, with n of the kind.
var costs = map[string]func(n int) (dump []byte, symbols string){
	"frames":  func(n int) ([]byte, string) { return deepDump(1, n), "" },
	"threads": func(n int) ([]byte, string) { return deepDump(n, 2), "" },
	"modules": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) {
			d.Module(0x7f1000000000+uint64(i)<<16, 0x8000, fmt.Sprintf("/lib/%d.so", i), nil)
		})
	},
	"modules over each other": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) {
			d.Module(0x7f1000000000+uint64(i), 0x800000, fmt.Sprintf("/lib/%d.so", i), nil)
		})
	},
	"unloaded modules": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) { d.UnloadedModule(uint64(i)<<16, 0x8000, 1, fmt.Sprintf("%d.dll", i)) })
	},
	"memory": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) { d.Memory(0x7f1000000000+uint64(i)<<12, make([]byte, 16)) })
	},
	"memory over itself": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) { d.Memory(0x7f1000000000+uint64(i), make([]byte, 64)) })
	},
	"names of threads": func(n int) ([]byte, string) {
		return manyOf(n, func(d *dumptest.Dump, i int) { d.ThreadName(uint32(i), "worker") })
	},
	"lines of maps": func(n int) ([]byte, string) {
		var maps strings.Builder
		for i := range n {
			fmt.Fprintf(&maps, "7f%010x-7f%010x r-xp 00000000 08:01 %d /lib/%d.so\n", i<<16, i<<16+0x8000, i+1, i)
		}
		d := manyDump()
		return d.Stream(0x47670009, []byte(maps.String())).Bytes(), ""
	},
	"FUNC":          records("FUNC %x 8 0 f%d\n"),
	"lines":         records("%x 8 %d 0\n"),
	"PUBLIC":        records("PUBLIC %x 0 f%d\n"),
	"INLINE_ORIGIN": records("INLINE_ORIGIN %[2]d f%[1]x\n"),
	"INLINE":        records("INLINE 0 %[2]d 0 0 %[1]x 8\n"),
	"FILE":          records("FILE %[2]d /src/%[1]x.cc\n"),
	"STACK CFI":     records("STACK CFI INIT %x 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^ $r12: %d\n"),
	"STACK WIN":     records("STACK WIN 4 %x 8 0 0 4 0 %d 0 1 $eip 4 + ^ =\n"),
	"equal FUNC":    records("FUNC 1000%.0[1]d 800 0 f%[2]d\n"),
	"equal PUBLIC":  records("PUBLIC 1000%.0[1]d 0 f%[2]d\n"),
	"rules of a CFI record": func(n int) ([]byte, string) {
		return manyDump().Bytes(), manyHead + "STACK CFI INIT 1000 800 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n" + strings.Repeat("STACK CFI 1004 $r12: 1\n", n)
	},
	"registers of a CFI rule": func(n int) ([]byte, string) {
		return manyDump().Bytes(), manyHead + "STACK CFI INIT 1000 800 .cfa: $rsp 8 + .ra: .cfa 8 - ^" + strings.Repeat(" $q1: .cfa 8 - ^", n) + "\n"
	},
	"ops of a CFI rule": func(n int) ([]byte, string) {
		return manyDump().Bytes(), manyHead + "STACK CFI INIT 1000 800 .cfa: $rsp 8 + .ra: .cfa 8 - ^" + strings.Repeat(" $rbp + $rbp -", n/8) + "\n"
	},
	"functions of PDB":        func(n int) ([]byte, string) { return manyDump().Bytes(), pdbFunctions(n) },
	"symbols of ELF":          func(n int) ([]byte, string) { return elfDump(), elfSymbols(n) },
	"frames of ELF":           func(n int) ([]byte, string) { return elfDump(), elfFrames(n) },
	"functions of DWARF":      func(n int) ([]byte, string) { return elfDump(), elfDebug(3*n, 3*n, 1) },
	"lines of DWARF":          func(n int) ([]byte, string) { return elfDump(), elfDebug(n, 1, n) },
	"symbols of Mach-O":       func(n int) ([]byte, string) { return machoDump(), machoSymbols(n, 1) },
	"load commands of Mach-O": func(n int) ([]byte, string) { return machoDump(), machoSymbols(n, n) },
	"exports of Mach-O":       func(n int) ([]byte, string) { return machoDump(), machoExports(n) },
	"unwind pages of Mach-O":  func(n int) ([]byte, string) { return machoDump(), machoUnwind(n) },
	"objects of Mach-O":       func(n int) ([]byte, string) { return machoDump(), machoObjects(n / 8) },
	"frames of PE":            func(n int) ([]byte, string) { return manyDump().Bytes(), peFrames(n) },
	"handles": func(n int) ([]byte, string) {
		list := make([]dumptest.Handle, n)
		for i := range list {
			list[i] = dumptest.Handle{Handle: uint64(4 * i), Type: "Event", Name: fmt.Sprintf("e%d", i)}
		}
		return manyDump().Handles(true, list...).Bytes(), ""
	},
	"annotations": func(n int) ([]byte, string) {
		list := make([][2]string, n)
		for i := range list {
			list[i] = [2]string{fmt.Sprintf("key%d", i), "value"}
		}
		return manyDump().Crashpad([16]byte{1}, [16]byte{2}, 0, list).Bytes(), ""
	},
	"items of an envelope": func(n int) ([]byte, string) {
		return manyDump().Bytes(), "{\"event_id\":\"9ec79c33ec9942ab8353589fcb2e04dc\"}\n" + strings.Repeat("{\"type\":\"event\",\"length\":2}\n{}\n", n)
	},
	"members of a zip": func(n int) ([]byte, string) {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i := range n {
			f, _ := w.Create(fmt.Sprintf("%d.sym", i))
			fmt.Fprintf(f, "MODULE Linux x86_64 %032X0 lib%d.so\n", i, i)
		}
		w.Close()
		return manyDump().Bytes(), b.String()
	},
	"parts of a multipart body": func(n int) ([]byte, string) {
		part := "--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nvalue\r\n"
		return manyDump().Bytes(), strings.Repeat(part, n) + "--b--\r\n"
	},
}

// manyHead is the MODULE record of manyDump's module.
const manyHead = "MODULE Linux x86_64 112233445566778801020304050607081 app\n"

// manyDump is a dump whose one frame is in the module of manyHead.
func manyDump() *dumptest.Dump {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffc0000, "rbp": 0x7ffc0000})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x1000000, "/opt/app", dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 1, "app")).
		Thread(1, ctx, 0x7ffc0000, make([]byte, 256)).Exception(1, 11, 1, 0x45, ctx)
}

// elfDump is a dump whose one frame is in the module of elfOf.
func elfDump() []byte {
	ctx := dumptest.AMD64(map[string]uint64{"rip": elfCode + 0x10, "rsp": 0x7ffc0000, "rbp": 0x7ffc0000})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(elfBase, 0x10000000, "/opt/app", dumptest.ELF(elfID)).
		Thread(1, ctx, 0x7ffc0000, make([]byte, 256)).Exception(1, 11, 1, 0x45, ctx).Bytes()
}

// machoDump is a dump whose one frame is in the module of machoOf.
func machoDump() []byte {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010 + machoCode, "rsp": 0x7ffc0000, "rbp": 0x7ffc0000})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: dumptest.OSMac}).
		Module(0x400000, 0x1000000, "/opt/app", dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 0, "app")).
		Thread(1, ctx, 0x7ffc0000, make([]byte, 256)).Exception(1, 11, 1, 0x45, ctx).Bytes()
}

// manyOf is manyDump with n of something.
func manyOf(n int, add func(d *dumptest.Dump, i int)) ([]byte, string) {
	d := manyDump()
	for i := range n {
		add(d, i)
	}
	return d.Bytes(), ""
}

// records is a symbol file with n records, each with an address and a number.
func records(form string) func(n int) ([]byte, string) {
	return func(n int) ([]byte, string) {
		b := strings.Builder{}
		b.WriteString(manyHead + "FILE 0 a.cc\nINLINE_ORIGIN 0 g\nFUNC 1000 100000 0 f\n")
		for i := range n {
			fmt.Fprintf(&b, form, 0x1000+i*8, i)
		}
		return manyDump().Bytes(), b.String()
	}
}

// OpenBinary and WriteSym are set by a test that may import their package.
var (
	OpenBinary func(src *input.Source) (symbols.Binary, error)
	WriteSym   func(w *strings.Builder, b symbols.Binary) error
)

// TestCosts: twice as many of anything cost at most two and a half times the work, and as much more
// memory. Both are counted, so a busy machine does not matter.
func TestCosts(t *testing.T) {
	for name, build := range costs {
		measure := func(n int) (work, bytes int64) {
			dump, second := build(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fs := NewFiles(Options{Policy: walker.Best, OpenBinary: OpenBinary})
			fs.Add(input.New("a.dmp", strings.NewReader(string(dump)), int64(len(dump))))
			if second != "" {
				for _, it := range fs.Add(input.New("a.sym", strings.NewReader(second), int64(len(second)))) {
					if it.Kind == KindBinary && !it.Usable {
						t.Fatal(name, it.Message)
					}
				}
			}
			r := fs.Report(0)
			if r == nil || len(r.Threads) == 0 || fs.Budget().Err() != nil {
				t.Fatalf("%s: no report: %v", name, fs.Budget().Err())
			}
			_, err := fs.Session(0).Compare(max(r.FirstThread, 0))
			if err != nil {
				t.Fatal(name, err)
			}
			var sym strings.Builder
			if fs.WithBinary(1, func(b symbols.Binary) { err = WriteSym(&sym, b) }) && (err != nil || strings.Count(sym.String(), "\n") < n) {
				t.Fatal(name, sym.String()[:min(500, sym.Len())], err)
			}
			runtime.ReadMemStats(&after)
			return fs.Budget().Limit(input.Work) - fs.Budget().Left(input.Work), int64(after.TotalAlloc - before.TotalAlloc)
		}
		const n = 1500
		measure(10) // what is made once
		work, bytes := measure(n)
		work2, bytes2 := measure(2 * n)
		if work2 > work*5/2 || bytes2 > bytes*5/2 {
			t.Errorf("%s: %d and %d steps of work, %d and %d bytes were allocated", name, work, work2, bytes, bytes2)
		}
	}
}
