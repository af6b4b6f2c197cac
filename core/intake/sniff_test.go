package intake

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// le and be put numbers into a byte string at offsets: {offset, size in bytes, value}.
func put(order binary.ByteOrder, size int, start string, fields ...[3]uint64) string {
	b := make([]byte, size)
	copy(b, start)
	for _, f := range fields {
		switch f[1] {
		case 2:
			order.PutUint16(b[f[0]:], uint16(f[2]))
		case 4:
			order.PutUint32(b[f[0]:], uint32(f[2]))
		case 8:
			order.PutUint64(b[f[0]:], f[2])
		}
	}
	return string(b)
}

var le, bige = binary.LittleEndian, binary.BigEndian

func TestSniff(t *testing.T) {
	elf64 := func(typ, machine uint64, extra ...[3]uint64) string {
		return put(le, 128, "\x7fELF\x02\x01\x01", append(extra, [3]uint64{16, 2, typ}, [3]uint64{18, 2, machine})...)
	}
	pe := func(machine, flags uint64) string {
		return put(le, 256, "MZ", [3]uint64{60, 4, 128}, [3]uint64{128, 4, 0x4550}, [3]uint64{132, 2, machine}, [3]uint64{150, 2, flags})
	}
	for _, tt := range []struct {
		name, data string
		kind       Kind
		what       string // "" is not compared
	}{
		{"a.txt", "MDMP\x93\xa7\x00\x00", Minidump, "a minidump"},
		{"a", "PMDM\x00\x00\xa7\x93", Minidump, "a minidump (big-endian)"},
		{"a.dmp", "", Empty, "an empty file"},
		{"a.dmp", "MODULE Linux x86_64 000000000000000000000000000000000 a\nFUNC 0 1 0 f\n", Sym, "a Breakpad symbol file"},
		{"a", "\xef\xbb\xbf\r\n\r\nMODULE windows x86 5A9832E5287241C1838ED98914E9B7FF1 test app.pdb\r\n", Sym, ""},
		{"a", "MODULE mac arm64 X", Sym, ""},
		{"a", "MODULE", Text, `text beginning with "MODULE"`},
		{"a", "FILE 0 a.c\nFUNC 1000 10 0 main\n1000 4 1 0\n1004 c 2 0\nPUBLIC 2000 0 x\n", SymWithoutModule, ""},
		{"a", "\r\nINFO CODE_ID 1234 x\r\nSTACK CFI INIT 0 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\r\n", SymWithoutModule, ""},
		{"a", "FILE your taxes now\nor else\n", Text, ""},
		{"a", "FUNCTION f\n", Text, ""},
		{"a.sym.index", "symindex\x03\x00\x10", OtherBinary, "the index of a symbol file, for a server that has it next to that file"},
		{"a", "\x1f\x8b\x08", Gzip, ""},
		{"a", "PK\x03\x04....", Zip, ""},
		{"a", "PK\x05\x06" + strings.Repeat("\x00", 18), Zip, ""},
		{"a", elf64(2, 62), ELF, "an ELF executable for amd64"},
		{"a", elf64(3, 183), ELF, "an ELF shared library for arm64"},
		{"a", elf64(3, 62, [3]uint64{32, 8, 64}, [3]uint64{54, 2, 56}, [3]uint64{56, 2, 1}, [3]uint64{64, 4, 3}), ELF, "an ELF executable for amd64"},
		{"a", elf64(4, 62), ELFCore, "an ELF core file for amd64"},
		{"a", put(bige, 64, "\x7fELF\x01\x02\x01", [3]uint64{16, 2, 1}, [3]uint64{18, 2, 20}), ELF, "an ELF object file for ppc"},
		{"a", "\x7fELF\x02\x01\x01" + strings.Repeat("\xff", 57), ELF, ""},
		{"a", pe(0x8664, 0), PE, "a Windows program for amd64"},
		{"a", pe(0x14c, 0x2000), PE, "a Windows DLL for x86"},
		{"a", "MZ" + strings.Repeat("\xff", 64), PE, "a DOS program, or a damaged Windows program"},
		{"a", "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00", PDB, ""},
		{"a", put(le, 32, "\xcf\xfa\xed\xfe", [3]uint64{4, 4, 0x100000c}, [3]uint64{12, 4, 2}), MachO, "a Mach-O executable for arm64"},
		{"a", put(le, 32, "\xcf\xfa\xed\xfe", [3]uint64{4, 4, 0x1000007}, [3]uint64{12, 4, 10}), MachO, "the debug information of a dSYM folder (Mach-O) for amd64"},
		{"a", put(bige, 32, "\xfe\xed\xfa\xce", [3]uint64{4, 4, 18}, [3]uint64{12, 4, 6}), MachO, "a Mach-O library for ppc"},
		{"a", put(bige, 32, "\xca\xfe\xba\xbe", [3]uint64{4, 4, 2}), Fat, ""},
		{"a", put(bige, 32, "\xca\xfe\xba\xbe", [3]uint64{4, 4, 61}), OtherBinary, "a Java class file"},
		{"a", put(le, 32, "\xcf\xfa\xed\xfe", [3]uint64{4, 4, 0x100000c}, [3]uint64{12, 4, 4}), MachOCore, "a Mach-O core file for arm64, not a minidump"},
		{"a", put(le, 32, "\xcf\xfa\xed\xfe", [3]uint64{4, 4, 0x100000c}, [3]uint64{12, 4, 12}), MachO, "a kernel collection (Mach-O) for arm64"},
		{"x/Foo.app.dSYM/Contents/Info.plist", "<?xml version=\"1.0\"?>\n<plist>", BundlePart, "a part of the folder Foo.app.dSYM that has no symbols"},
		{"Foo.app/Info.plist", "bplist00\xd1", BundlePart, "a part of the folder Foo.app that has no symbols"},
		{`a.zip/Foo.xcarchive\Products\icon`, "\x89PNG\r\n\x1a\n", BundlePart, "a part of the folder Foo.xcarchive that has no symbols"},
		{"Foo.dSYM/Contents/Resources/DWARF/Foo", "\x00\x00\x00\x00", OtherBinary, "binary data beginning with 00 00 00 00"},
		{"a.o", "BC\xc0\xde\x35\x14\x00\x00", OtherBinary, "LLVM bitcode, which the linker compiles (-flto)"},
		{"a.o", "\xde\xc0\x17\x0b\x00\x00\x00\x00", OtherBinary, "LLVM bitcode, which the linker compiles (-flto)"},
		{"Foo.app", "bplist00\xd1", OtherBinary, "a binary property list"},
		{"a.dyldlist", "dyld_v1  arm64e\x00\x98\x00\x00\x00", Cache, ""},
		{"a", "dyld_v1 x86_64h\x00", Cache, ""},
		{"a", "dyld_version of it", Text, ""},
		{"a.dmg", "\x78\xda\x63\x60\x18" + strings.Repeat("\x00", 600) + "koly" + strings.Repeat("\x00", 508), DiskImage, "a disk image of macOS (.dmg); open it first"},
		{"A.DMG", "BZh91AY&SY" + strings.Repeat("\x00", 600) + "koly" + strings.Repeat("\x00", 508), DiskImage, ""},
		{"a.pkg", "xar!\x00\x1c\x00\x01", Packed, "a macOS package (.pkg, .xip: a xar archive); unpack it first"},
		{"a", "PAGEDU64\x0f\x00", KernelDump, ""},
		{"a", "PAGEDUMP\x0f\x00", KernelDump, ""},
		{"a", "KDUMP   \x06\x00", KernelDump, ""},
		{"vmcore", "makedumpfile\x00\x00\x00\x00", KernelDump, ""},
		{"a", "USERDU64\x0f\x00", UserDump, ""},
		{"a.dmp", "W/google-breakpad( 1): -----BEGIN BREAKPAD MICRODUMP-----\nW/google-breakpad( 1): V foo\n", Microdump, ""},
		{"log.txt", strings.Repeat("08-17 19:45:06 I/other: line\n", 5000) + "F/google-breakpad( 1): -----BEGIN BREAKPAD MICRODUMP-----\n", Microdump, "a Breakpad microdump in a log"},
		{"log.txt", strings.Repeat("x", 64<<10-10) + "-----BEGIN BREAKPAD MICRODUMP-----\n", Microdump, ""},
		{"a.ips", `{"app_name":"X","timestamp":"2024","bug_type":"309"}` + "\n{\n}", AppleCrash, ""},
		{"a.crash", "Incident Identifier: 1\nProcess:             X [1]\nOS Version:          macOS 14\nReport Version:      12\n", AppleCrash, ""},
		{"a", "\x28\xb5\x2f\xfd\x04", Zstd, "a zstd file; unpack it first"},
		{"a", "\xfd7zXZ\x00\x00", XZ, "an xz file; unpack it first"},
		{"a", "BZh91AY&SY....", Packed, "a bzip2 file; unpack it first"},
		{"a", "7z\xbc\xaf\x27\x1c\x00\x04", SevenZip, "a 7z archive"},
		{"a", put(le, 512, "a.sym", [3]uint64{257, 4, 0x61747375}, [3]uint64{261, 2, 'r'}), Tar, "a tar archive"},
		{"a", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", Text, "a Git LFS pointer, not the file itself"},
		{"a", "\n<!DOCTYPE HTML>\n<p>Please log in", Text, "an HTML page"},
		{"a", "hello, wörld\nmore", Text, `text beginning with "hello, wörld"`},
		{"a", "\xff\xfeh\x00i\x00", Text, "text in UTF-16"},
		{"a", "\xff\xfe", Text, "text in UTF-16"},
		{"a", "\xff\xfeM", Text, "text in UTF-16"},
		{"a", utf16Of("MODULE Linux x86_64 0 a\r\n", le), UTF16, "a Breakpad symbol file in UTF-16"},
		{"a", utf16Of("MODULE Linux x86_64 0 a\r\n", bige) + "x", UTF16, "a Breakpad symbol file in UTF-16"},
		{"a", utf16Of("-----BEGIN BREAKPAD MICRODUMP-----\r\n", le), UTF16, "a Breakpad microdump (text) in UTF-16"},
		{"a", utf16Of("MODULE Linux x86_64 0 a\rFUNC 1 1 0 f\r", le), UTF16, "a Breakpad symbol file whose lines end in CR alone in UTF-16"},
		{"a", "MODULE Linux x86_64 0 a\rFUNC 1 1 0 f\r", CRLines, "a Breakpad symbol file whose lines end in CR alone"},
		{"a", "\r\rFUNC 1 1 0 f\rPUBLIC 1 0 g\r", CRLines, "a Breakpad symbol file without its MODULE line whose lines end in CR alone"},
		{"a", "MODULE Linux x86_64 0 a\r\r\nFUNC 1 1 0 f\r\r\n", Sym, ""},
		{"a", "MODULE Linux x86_64 0 a\r", Sym, ""},
		{"a", "hello\rworld\r", Text, ""},
		{"a", "\x00\x01\x02\x03\x04\x05\x06\x07\x08", OtherBinary, "binary data beginning with 00 01 02 03 04 05 06 07 …"},
		{"a", "\x00", OtherBinary, "binary data beginning with 00"},
		{"a", "caf\xe9", OtherBinary, ""},
	} {
		g := Sniff(input.FromBytes(tt.name, []byte(tt.data)))
		if g.Kind != tt.kind || tt.what != "" && g.What != tt.what {
			t.Errorf("%q: have %s, %q; want %s, %q", clip(tt.data, 20), g.Kind, g.What, tt.kind, tt.what)
		}
	}
}

// A text whose first block ends inside a character is still text.
func TestSniffTextCutInACharacter(t *testing.T) {
	data := strings.Repeat("x", sniffSize-1) + "é and more"
	if g := Sniff(input.FromBytes("a", []byte(data))); g.Kind != Text {
		t.Errorf("%+v", g)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestSniffUnreadable(t *testing.T) {
	g := Sniff(input.New("a", failing{errors.New("the disk is gone")}, 100))
	if g.Kind != Unreadable || !strings.Contains(g.What, "the disk is gone") {
		t.Errorf("%+v", g)
	}
	if g := Sniff(input.New("a", failing{io.ErrUnexpectedEOF}, 100)); g.Kind != Unreadable {
		t.Errorf("%+v", g)
	}
}

// TestSniffCorpus: every dump of the corpus is one, and every .sym is a symbol file.
func TestSniffCorpus(t *testing.T) {
	const corpus = "../../../shared/corpus"
	counts := map[Kind]int{}
	err := filepath.Walk(corpus, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		g := Sniff(input.New(path, f, info.Size()))
		counts[g.Kind]++
		microdump := strings.HasPrefix(filepath.Base(path), "microdump")
		switch {
		case strings.HasSuffix(path, ".dmp") && !microdump && g.Kind != Minidump && g.Kind != Multipart,
			strings.HasSuffix(path, ".dmp") && microdump && g.Kind != Microdump,
			strings.HasSuffix(path, ".sym") && g.Kind != Sym && !g.Kind.IsConverted() && info.Size() > 0,
			strings.HasSuffix(path, ".gz") && g.Kind != Gzip:
			t.Errorf("%s: %+v", path, g)
		}
		return nil
	})
	if err != nil {
		t.Skipf("SKIPPED: the corpus is not at %s: no real files were looked at (%v)", corpus, err)
	}
	if counts[Minidump] < 300 || counts[Sym] < 60 {
		t.Errorf("only %v", counts)
	}
}
