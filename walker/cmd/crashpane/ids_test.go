package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// TestIDs: a big-endian program answers to its build id in either order of the bytes, and to the
// hash of its code, as itself, as symbol files made of it, and in folders and symbol stores.
func TestIDs(t *testing.T) {
	const (
		swapped = "A7F20F44EBD27A8AE6A5C0FEB09FA0430" // as Breakpad writes it
		plain   = "440FF2A7D2EB8A7AE6A5C0FEB09FA0430" // as Mozilla's dump_syms does
	)
	elf := oracles + "mips.elf"
	data, err := os.ReadFile(elf)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(path, content string) string {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sym := func(id string) string {
		code, out, stderr := crashpane("dumpsyms", "--id", id, elf)
		if code != exitOK {
			t.Fatalf("--id %s: exit %d, %s", id, code, stderr)
		}
		return out
	}
	idOf := func(sym string) string { return strings.Fields(sym)[3] }
	hash := idOf(sym("hash"))
	for _, c := range [][2]string{{"", swapped}, {"build", swapped}, {swapped, swapped}, {plain, plain}, {strings.ToLower(plain), plain}, {hash, hash}} {
		if got := idOf(sym(c[0])); got != c[1] {
			t.Errorf("--id %q writes %s, want %s", c[0], got, c[1])
		}
	}
	if hash == swapped || hash == plain {
		t.Errorf("the hash of the code is %s", hash)
	}
	for _, c := range []struct{ id, file, want string }{
		{"0123456789ABCDEF0123456789ABCDEF0", elf, "does not answer to the id 0123456789ABCDEF0123456789ABCDEF0: it has " + swapped + ", " + hash},
		{"hush", elf, "does not answer to the id hush"},
	} {
		if code, out, stderr := crashpane("dumpsyms", "--id", c.id, c.file); code != exitFailed || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("--id %s: exit %d, %s", c.id, code, stderr)
		}
	}

	// A function with a name, and where it is.
	var rva uint64
	name := ""
	for _, line := range strings.Split(sym(""), "\n") {
		if f := strings.Fields(line); name == "" && len(f) == 4 && f[0] == "PUBLIC" {
			name = f[len(f)-1]
			if v, err := strconv.ParseUint(f[1], 16, 64); err == nil {
				rva = v
			}
		}
	}
	dump := func(id string) string {
		const base, stack = 0x1000000, 0x7ffe0000
		ctx := dumptest.Context(dumptest.BigEndian, "mips", map[string]uint64{"pc": base + rva, "sp": stack})
		return write(id+".dmp", string(dumptest.New(dumptest.BigEndian).System(dumptest.System{Processor: dumptest.CPUMIPS, Platform: 0x8201}).
			Module(base, 0x100000, "/opt/mips.elf", dumptest.ELF(idBytes(id))).
			Thread(7, ctx, stack, binary.BigEndian.AppendUint64(nil, 0)).Exception(7, 11, 1, 0x45, ctx).Bytes()))
	}
	ofBuildID, ofHash := dump(swapped), dump(hash)
	store := func(id string) string {
		write("store-"+id+"/mips.elf/"+id+"/mips.elf.sym", sym(id))
		return filepath.Join(dir, "store-"+id)
	}
	folder := filepath.Dir(write("folder/mips.elf", string(data)))
	named := filepath.Dir(write("named/some.txt", sym(plain)))
	for _, c := range []struct {
		name  string
		dump  string
		files []string
		want  bool
	}{
		{"swapped", ofBuildID, []string{write("1.sym", sym(swapped))}, true},
		{"plain", ofBuildID, []string{write("2.sym", sym(plain))}, true},
		{"plain, in small letters", ofBuildID, []string{write("3.sym", strings.Replace(sym(plain), plain, strings.ToLower(plain), 1))}, true},
		{"hash", ofBuildID, []string{write("4.sym", sym("hash"))}, true}, // by INFO OTHER_ID
		{"store with swapped ids", ofBuildID, []string{store(swapped)}, true},
		{"store with plain ids", ofBuildID, []string{store(plain)}, true},
		{"folder with a plain id", ofBuildID, []string{named}, true},
		{"folder with the program", ofBuildID, []string{folder}, true},
		{"the program", ofBuildID, []string{elf}, true},
		{"a dump with the hash: the program", ofHash, []string{elf}, true},
		{"a dump with the hash: folder with the program", ofHash, []string{folder}, true},
		{"a dump with the hash: symbols with it", ofHash, []string{filepath.Join(dir, "4.sym")}, true},
		{"a dump with the hash: symbols with the build id", ofHash, []string{filepath.Join(dir, "1.sym")}, false},
		{"a dump with the hash: symbols with the build id, and the program", ofHash, []string{filepath.Join(dir, "2.sym"), elf}, true},
	} {
		_, out, stderr := crashpane(append([]string{"walk", "--format", "machine", c.dump}, c.files...)...)
		if got := strings.Contains(out, "\n0|0|mips.elf|"+name+"|"); got != c.want {
			t.Errorf("%s: %v, want %v\n%s%s", c.name, got, c.want, out, stderr)
		}
	}
}

// idBytes returns what an id with swapped bytes was made of.
func idBytes(id string) (b []byte) {
	for _, i := range []int{6, 4, 2, 0, 10, 8, 14, 12, 16, 18, 20, 22, 24, 26, 28, 30} {
		v, _ := strconv.ParseUint(id[i:i+2], 16, 8)
		b = append(b, byte(v))
	}
	return b
}
