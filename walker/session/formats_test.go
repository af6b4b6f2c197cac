package session_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/session"
)

// formats are the kinds of files that are read: a file of the kind, what becomes of it without
// readers of binaries, and the words by which the README, the start page
// and the command's help name it; "" where they need not.
var formats = map[intake.Kind]struct {
	sample             string
	item               session.ItemKind
	readme, page, help string
}{
	intake.Minidump:         {string(dumptest.New(dumptest.LittleEndian).System(dumptest.System{}).Bytes()), session.KindDump, "minidumps", "Minidumps", "minidump"},
	intake.Microdump:        {"-----BEGIN BREAKPAD MICRODUMP-----\n", session.KindDump, "microdumps", "microdumps", ""},
	intake.ELFCore:          {string(dumptest.NewCore(dumptest.LittleEndian, true, 62).Thread(1, 0, make([]byte, 27*8)).Bytes()), session.KindDump, "core files", "core files", "core file"},
	intake.Apport:           {"ProblemType: Crash\nCoreDump: base64\n", session.KindArchive, "Apport", "Apport", "Apport"},
	intake.Sym:              {"MODULE Linux x86_64 0 a\n", session.KindSym, "Breakpad symbol files", ".sym", "Breakpad symbol files"},
	intake.SymWithoutModule: {"FUNC 10 10 0 f\n10 10 1 0\n", session.KindSym, "Breakpad symbol files", ".sym", "Breakpad symbol files"},
	intake.ELF:              {"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60), session.KindBinary, "ELF", "ELF", "ELF"},
	intake.PE:               {"MZ" + strings.Repeat("\x00", 100), session.KindBinary, ".exe", "Windows programs", ".exe"},
	intake.PDB:              {"Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00" + strings.Repeat("\x00", 100), session.KindBinary, "PDBs", "PDB", "PDBs"},
	intake.MachO:            {"\xcf\xfa\xed\xfe\x07\x00\x00\x01" + strings.Repeat("\x00", 60), session.KindBinary, "Mach-O", "Mach-O", "Mach-O"},
	intake.Gzip:             {"\x1f\x8b\x08" + strings.Repeat("\x00", 20), session.KindArchive, ".gz", ".gz", ".gz"},
	intake.Zip:              {"PK\x03\x04" + strings.Repeat("\x00", 40), session.KindArchive, ".zip", ".zip", ".zip"},
	intake.Zstd:             {"\x28\xb5\x2f\xfd" + strings.Repeat("\x00", 20), session.KindArchive, ".zst", ".zst", ".zst"},
	intake.Cab:              {"MSCF\x00\x00\x00\x00" + strings.Repeat("\x00", 40), session.KindArchive, ".cab", ".cab", ".cab"},
	intake.SevenZip:         {"7z\xbc\xaf\x27\x1c" + strings.Repeat("\x00", 40), session.KindArchive, ".7z", ".7z", ".7z"},
	intake.Multipart:        {"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n", session.KindArchive, "multipart", "uploads", "uploads"},
	intake.Envelope:         {"{\"event_id\":\"0\"}\n{\"type\":\"event\"}\n{}\n", session.KindArchive, "envelopes", "uploads", "uploads"},
	intake.HTTP:             {"POST / HTTP/1.1\r\n\r\nx", session.KindArchive, "HTTP", "uploads", "uploads"},
	intake.UTF16:            {"\xff\xfe" + strings.Join(strings.Split("MODULE Linux x86_64 0 a\r\n", ""), "\x00") + "\x00", session.KindSym, "Breakpad symbol files", ".sym", "Breakpad symbol files"},
	intake.CRLines:          {"MODULE Linux x86_64 0 a\rFUNC 10 10 0 f\r", session.KindSym, "Breakpad symbol files", ".sym", "Breakpad symbol files"},
	intake.Fat:              {"\xca\xfe\xba\xbe\x00\x00\x00\x01\x01\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x1c\x00\x00\x00\x01", session.KindArchive, "", "", ""},
	intake.Tar:              {"a" + strings.Repeat("\x00", 256) + "ustar" + strings.Repeat("\x00", 250), session.KindArchive, "", "", ".tar"},
	intake.Ar:               {"!<arch>\n", session.KindArchive, "", "", ".a"},
	intake.XZ:               {"\xfd7zXZ\x00" + strings.Repeat("\x00", 20), session.KindArchive, ".xz", ".xz", ".xz"},
}

// notRead are the kinds that are named and not read.
var notRead = map[intake.Kind]bool{intake.Empty: true, intake.Unreadable: true, intake.BundlePart: true, intake.MachOCore: true, intake.Cache: true, intake.DiskImage: true, intake.KernelDump: true,
	intake.UserDump: true, intake.AppleCrash: true, intake.Packed: true, intake.Text: true, intake.OtherBinary: true}

// TestSharedCache: the files of a dyld shared cache are reported once, with what to do.
func TestSharedCache(t *testing.T) {
	s := session.NewFiles(session.Options{})
	for i, name := range []string{"dyld_shared_cache_arm64e.01", "dyld_shared_cache_arm64e", "dyld_shared_cache_arm64e.symbols"} {
		it := s.Add(input.FromBytes(name, []byte("dyld_v1  arm64e\x00"+strings.Repeat("\x00", 100))))[0]
		if said := strings.Contains(it.Message, "extract"); said != (i == 0) || it.Usable == said {
			t.Errorf("%s: usable %v, %q", name, it.Usable, it.Message)
		}
	}
}

// TestFormats: every kind that intake knows is read or reported as unreadable, the session does with it
// what it does with its like, and the README, the start page and the command's help name it.
func TestFormats(t *testing.T) {
	for name, kind := range enumtest.Strings[intake.Kind](t, "../../core/intake", "Kind") {
		f, read := formats[kind]
		if read == notRead[kind] {
			t.Errorf("intake.%s is neither among the formats that are read nor among those that are not, or among both", name)
		}
		if !read {
			continue
		}
		s := session.NewFiles(session.Options{})
		it := s.Add(input.FromBytes("a", []byte(f.sample)))[0]
		if it.Detected != kind || it.Kind != f.item {
			t.Errorf("intake.%s: a file of it is taken for %q and becomes %q: %s", name, it.Detected, it.Kind, it.Message)
		}
	}
	readme := read(t, "../../README.md")
	help := read(t, "../cmd/crashpane/walk.go")
	var page bytes.Buffer
	err := filepath.WalkDir("../../web", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".vugu") {
			page.WriteString(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files := read(t, "../../web/app/file-names.go")
	for kind, f := range formats {
		// Archives and compressed files are known by their names' endings where the page has to
		// tell before it reads them.
		if packed := strings.HasPrefix(f.readme, "."); packed && f.item != session.KindBinary && !strings.Contains(files, `"`+f.readme+`"`) {
			t.Errorf("isPacked in web/app/file-names.go does not have %q for %s", f.readme, kind)
		}
		for _, place := range []struct{ name, text, words string }{{"README.md", readme, f.readme}, {"the start page", page.String(), f.page}, {"the help of walk", help, f.help}} {
			if !strings.Contains(place.text, place.words) {
				t.Errorf("%s does not have %q for %s", place.name, place.words, kind)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestProcessorsAreNamed: the README names each processor whose dumps are read, or its family.
func TestProcessorsAreNamed(t *testing.T) {
	_, line, _ := strings.Cut(read(t, "../../README.md"), "| minidumps of ")
	line, _, _ = strings.Cut(line, "\n")
	for _, a := range cpu.All() {
		if len(a.Processors) > 0 && !strings.Contains(line, a.FamilyName()) {
			t.Errorf("the README has no %s among the processors: %s", a.FamilyName(), line)
		}
	}
}
