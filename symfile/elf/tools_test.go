package elf

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// targets are the compilers that are tried; those that are not installed are skipped loudly.
var targets = []string{"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu", "s390x-linux-gnu",
	"powerpc-linux-gnu", "powerpc64-linux-gnu", "mips-linux-gnu", "mips64el-linux-gnuabi64", "sparc64-linux-gnu"}

func gcc(t *testing.T, target string, args ...string) bool {
	t.Helper()
	text, err := exec.Command(target+"-gcc", args...).CombinedOutput()
	if err != nil {
		t.Logf("*** SKIPPED: %s-gcc %s: %v %.100s", target, strings.Join(args, " "), err, text)
	}
	return err == nil
}

func needTools(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no programs can be run under js/wasm; compilers and linkers are tried natively")
	}
}

// TestStubsAgainstObjdump links programs and libraries in several ways for each target and compares
// the names of PLT stubs with objdump's.
func TestStubsAgainstObjdump(t *testing.T) {
	needTools(t)
	line := regexp.MustCompile(`(?m)^([0-9a-f]+) <([^>]+@plt)>:`)
	compared := 0
	for _, target := range targets {
		dir := t.TempDir()
		def := filepath.Join(dir, "libdef.so")
		if !gcc(t, target, "-O1", "-shared", "-fPIC", "-nostdlib", "-o", def, "testdata/imported.c") {
			continue
		}
		for i, options := range [][]string{{}, {"-Wl,-z,now"}, {"-Wl,-z,ibtplt"}, {"-fuse-ld=gold"}, {"-fuse-ld=lld"}, {"-Wl,-z,force-bti"}, {"-mthumb"}} {
			for _, kind := range [][]string{{"-shared", "-fPIC"}, {"-fno-pic", "-no-pie", "-e", "run"}} {
				x86 := target == "x86_64-linux-gnu" || target == "i686-linux-gnu"
				if i == 1 && !x86 && target != "powerpc64-linux-gnu" || i == 2 && !x86 || i == 4 && target != "x86_64-linux-gnu" || i == 5 && target != "aarch64-linux-gnu" || i == 6 && target != "arm-linux-gnueabihf" {
					continue
				}
				out := filepath.Join(dir, "out")
				args := append(append([]string{"-O1", "-nostdlib", "-o", out}, kind...), options...)
				if !gcc(t, target, append(args, "testdata/importing.c", def)...) {
					continue
				}
				text, err := exec.Command(target+"-objdump", "-d", out).Output()
				if err != nil {
					t.Logf("*** SKIPPED: %s-objdump: %v", target, err)
					continue
				}
				f := openFile(t, out)
				p, err := f.Publics()
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]bool{}
				for i := range p.Len() {
					if s := p.At(i); strings.HasSuffix(s.Name, "@plt") {
						got[fmt.Sprintf("%x %s", s.Start+f.Base, s.Name)] = true
						if s.Size > 32 {
							t.Errorf("%s %v: %+v", target, args, s)
						}
					}
				}
				want := map[string]bool{}
				for _, m := range line.FindAllStringSubmatch(string(text), -1) {
					want[strings.TrimLeft(m[1], "0")+" "+m[2]] = true
				}
				if len(want) == 0 { // objdump knows no names of MIPS stubs, nor of position-independent ones of ppc
					t.Logf("%s %v %v: objdump has no names, ours: %v", target, kind, options, got)
					continue
				}
				compared++
				for s := range want {
					if !got[s] {
						t.Errorf("%s %v %v: no %s", target, kind, options, s)
					}
				}
				for s := range got {
					if !want[s] && target != "powerpc64-linux-gnu" { // whose call stubs objdump does not name
						t.Errorf("%s %v %v: %s is not objdump's", target, kind, options, s)
					}
				}
			}
		}
	}
	if compared == 0 {
		t.Skip("*** SKIPPED: no compiler and objdump; NO names of stubs were compared")
	}
	t.Logf("%d programs compared", compared)
}

// TestRelocationsAgainstReadelf compares the relocated sections of object files with readelf's.
// Readelf leaves all sections at address 0, so they are put there.
func TestRelocationsAgainstReadelf(t *testing.T) {
	needTools(t)
	compared, size := 0, 0
	for _, target := range targets {
		for _, options := range [][]string{{"-g", "-O1"}, {"-gdwarf-4", "-O0", "-gz"}} {
			out := filepath.Join(t.TempDir(), "out.o")
			if !gcc(t, target, append(options, "-fno-asynchronous-unwind-tables", "-c", "-o", out, "testdata/importing.c")...) {
				continue
			}
			f := openFile(t, out)
			for i := range f.Sections {
				f.Sections[i].Address = 0
			}
			for i := range f.Sections {
				s := &f.Sections[i]
				if !strings.HasPrefix(s.Name, ".debug_") || !f.hasRelocs(s) {
					continue
				}
				text, err := exec.Command("readelf", "-W", "-z", "-R"+s.Name, out).CombinedOutput()
				want := dumped(string(text))
				if err != nil || len(want) == 0 {
					t.Logf("*** SKIPPED: readelf: %v, %s", err, text)
					continue
				}
				if strings.Contains(string(text), "nable to apply") || strings.Contains(string(text), "not support") {
					t.Logf("*** SKIPPED: %s: readelf: %s", target, strings.SplitN(string(text), "\n", 3))
				}
				got := content(t, f, s.Name)
				compared++
				size += len(got)
				if !bytes.Equal(got, want) {
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Errorf("%s %v %s: at %#x % x, readelf % x (%d and %d bytes)", target, options, s.Name, i, got[i:min(i+16, len(got))],
								want[i:min(i+16, len(want))], len(got), len(want))
							break
						}
					}
				}
			}
			if len(f.Warnings()) > 0 {
				t.Errorf("%s: %q", target, f.Warnings())
			}
		}
	}
	if compared == 0 {
		t.Skip("*** SKIPPED: no compiler and readelf; NO relocations were compared")
	}
	t.Logf("%d sections of %d bytes compared", compared, size)
}

// dumped are the bytes of a hex dump: an address, then up to four groups of 4 bytes, two spaces,
// the characters.
func dumped(text string) (b []byte) {
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "  0x") || len(l) < 48 {
			continue
		}
		line, err := hex.DecodeString(strings.ReplaceAll(l[13:48], " ", ""))
		if err == nil {
			b = append(b, line...)
		}
	}
	return b
}

// TestMiniDebugInfo reads the symbol table that stripped programs of some distributions carry
// along, compressed.
func TestMiniDebugInfo(t *testing.T) {
	needTools(t)
	tool := exec.Command("xz", "-c")
	tool.Stdin = bytes.NewReader(program(64, false).Bytes())
	packed, err := tool.Output()
	if err != nil {
		t.Skip("*** SKIPPED: no xz: ", err)
	}
	outer := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f := open(t, outer.Add(elftest.Section{Name: ".gnu_debugdata", Type: 1, Data: packed}).Bytes())
	inner, err := f.MiniDebugInfo()
	if err != nil || inner == nil {
		t.Fatal(inner, err)
	}
	p, err := inner.Publics()
	if s, ok := p.Lookup(0x1045); err != nil || !ok || s.Name != "helper" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]byte{nil, packed[:20], packed[:len(packed)-4], bytes.Repeat([]byte{0}, 100)} {
		outer.Sections[0].Data = bad
		if inner, err := open(t, outer.Bytes()).MiniDebugInfo(); inner != nil || err == nil || !strings.Contains(err.Error(), ".gnu_debugdata") {
			t.Errorf("%d bytes: %v, %v", len(bad), inner, err)
		}
	}
	if inner, err := inner.MiniDebugInfo(); inner != nil || err != nil {
		t.Errorf("a file without it: %v, %v", inner, err)
	}
}
