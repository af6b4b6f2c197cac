package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// served is a file of the tests' server, as it is sent.
type served struct {
	data     []byte
	encoding string
}

// serve starts a symbol server, and returns its address and the paths that it was asked for.
func serve(t *testing.T, files map[string]served) (address string, asked func() []string) {
	var mu sync.Mutex
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, strings.TrimPrefix(r.URL.Path, "/"))
		mu.Unlock()
		f, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if f.encoding != "" {
			w.Header().Set("Content-Encoding", f.encoding)
		}
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(f.data))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return paths }
}

// dwzFiles returns a program and the file that has a part of its debug information, with their build ids.
func dwzFiles(id, altID []byte) (program, common []byte) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, 0xff000)})
	f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: []byte{}})
	f.Add(elftest.Section{Name: ".gnu_debugaltlink", Type: 1, Data: append([]byte("../common.debug\x00"), altID...)})
	f.Symbols(".symtab", []elftest.Sym{{Name: "work", Value: 0x1000, Size: 0xff000, Type: 2, Section: ".text"}})
	f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Last: ".text", Address: 0x1000, Align: 0x1000}}
	return f.BuildID(id).Bytes(), (&elftest.File{Class: 64, Machine: 62, Type: 3}).BuildID(altID).Bytes()
}

// TestFetch: of a server of each layout the missing files come, and the folder that they are in gives
// the stacks that the files themselves give.
func TestFetch(t *testing.T) {
	const windows, tile, codec, libc = "../../../testdata/windows/", "tilecruncher/228D7E0A6A794ADDAEA34C6FF15671860/tilecruncher.sym",
		"libtilecodec.so/B19F54F3834E401B9A6B97A1CCACE8B90/libtilecodec.so.sym", "libc.so.6/EC61AC938E5A39B16F9FBD350E3169A50/libc.so.6.sym"
	raw := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	breakpad := map[string]served{tile: {raw(sample + "/tilecruncher.sym.gz"), "gzip"}, codec: {raw(sample + "/libtilecodec.so.sym"), ""}, libc: {raw(sample + "/libc.so.6.sym.gz"), ""}}
	const pdb, exe = "app.pdb/A855514E410DD0664C4C44205044422E1/app.pd", "app.exe/167A5EAB6000/app.exe"
	microsoft := map[string]served{pdb + "_": {raw(windows + "app.pd_"), ""}, exe: {testfile.Read(t, windows+"app.exe"), ""}}
	elf := oracles + "amd64.elf"
	_, sym, _ := crashpane("dumpsyms", elf)
	build, name := "", ""
	var rva uint64
	for _, line := range strings.Split(sym, "\n") {
		switch f := strings.Fields(line); {
		case strings.HasPrefix(line, "INFO CODE_ID "):
			build = strings.ToLower(f[2])
		case name == "" && strings.HasPrefix(line, "PUBLIC ") && len(f) == 4:
			rva, _ = strconv.ParseUint(f[1], 16, 64)
			name = f[len(f)-1]
		}
	}
	id, err := hex.DecodeString(build)
	if err != nil || name == "" {
		t.Fatalf("%q, %v:\n%.500s", name, err, sym)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x1000000 + rva, "rsp": 0x7ffe0000})
	linux := filepath.Join(t.TempDir(), "elf.dmp")
	writeFile(t, linux, dumptest.New(binary.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x1000000, 0x100000, "/opt/amd64.elf", dumptest.ELF(id)).Thread(7, ctx, 0x7ffe0000, make([]byte, 64)).Exception(7, 11, 1, 0x45, ctx).Bytes())
	debuginfod := map[string]served{"buildid/" + build + "/executable": {raw(elf), ""}}

	shared, altID := filepath.Join(t.TempDir(), "shared.dmp"), []byte("the id of the dwz file")[:20]
	writeFile(t, shared, dumptest.New(binary.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x1000000, 0x100000, "/opt/app", dumptest.ELF(id)).Thread(7, ctx, 0x7ffe0000, make([]byte, 64)).Exception(7, 11, 1, 0x45, ctx).Bytes())
	program, common := dwzFiles(id, altID)
	dwz := map[string]served{"buildid/" + build + "/debuginfo": {program, ""}, "buildid/" + hex.EncodeToString(altID) + "/debuginfo": {common, ""}}
	local := t.TempDir()
	writeFile(t, filepath.Join(local, "app"), program)
	writeFile(t, filepath.Join(local, "common.debug"), common)

	for _, c := range []struct {
		layout, dump string
		files        map[string]served
		local        []string
		asked        int
	}{
		{"", sample + "/tilecruncher.dmp", breakpad, []string{sample}, 3},
		{"breakpad+", sample + "/tilecruncher.dmp", breakpad, []string{sample}, 3},
		{"microsoft+", windows + "app.dmp", microsoft, []string{windows + "app.exe", windows + "app.pd_"}, 7},
		{"", windows + "app.dmp", microsoft, []string{windows + "app.exe", windows + "app.pd_"}, 9},
		{"debuginfod+", linux, debuginfod, []string{elf}, 2},
		{"", linux, debuginfod, []string{elf}, 3},
		{"debuginfod+", shared, dwz, []string{local}, 3},
	} {
		address, asked := serve(t, c.files)
		to := filepath.Join(t.TempDir(), "got")
		code, stdout, stderr := crashpane("fetch", "--from", c.layout+address, "--to", to, c.dump)
		if code != exitOK || !strings.Contains(stdout, "Fetched "+strconv.Itoa(len(c.files))+" file") || strings.Count(stderr, to) != len(c.files) {
			t.Errorf("%s%s: exit %d, %s%s", c.layout, c.dump, code, stdout, stderr)
		}
		if n := len(asked()); n != c.asked {
			t.Errorf("%s%s: %d requests: %q", c.layout, c.dump, n, asked())
		}
		_, fetched, _ := crashpane("walk", "--format", "machine", c.dump, to)
		_, local, _ := crashpane(append([]string{"walk", "--format", "machine", c.dump}, c.local...)...)
		if fetched != local || !strings.Contains(fetched, "|") || c.dump == linux && !strings.Contains(fetched, "|"+name+"|") {
			t.Errorf("%s%s: the folder gives\n%s\nthe files\n%s", c.layout, c.dump, fetched, local)
		}
		// A second run has nothing to ask for but what no server has.
		before := len(asked())
		code, stdout, _ = crashpane("fetch", "--from", c.layout+address, "--to", to, c.dump)
		if code != exitOK || stdout != "No file was fetched.\n" {
			t.Errorf("again: exit %d, %s%q", code, stdout, asked()[before:])
		}
		for _, path := range asked()[before:] {
			if c.files[path].data != nil {
				t.Errorf("%s is asked for again", path)
			}
		}
	}
}

// TestFetchProblems: a server that has nothing, one that fails, files of another build, and mistakes.
func TestFetchProblems(t *testing.T) {
	dump := sample + "/tilecruncher.dmp"
	sym, err := os.ReadFile(sample + "/libtilecodec.so.sym")
	if err != nil {
		t.Fatal(err)
	}
	const codec = "libtilecodec.so/B19F54F3834E401B9A6B97A1CCACE8B90/libtilecodec.so.sym"
	other, _ := serve(t, map[string]served{codec: {bytes.Replace(sym, []byte("B19F54F3"), []byte("00000000"), 1), ""}})
	nothing, _ := serve(t, nil)
	page, _ := serve(t, map[string]served{codec: {[]byte("<html>Not found</html>"), ""}})
	gone := httptest.NewServer(nil)
	gone.Close()
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"--from", nothing, "--to", dir + "/a", dump}, exitOK, "No file was fetched.\n", "libc.so.6: no server has it (id EC61AC938E5A39B16F9FBD350E3169A50, "},
		{[]string{"--from", other, "--to", dir + "/b", dump}, exitFailed, "No file", "is of another build: its id is 00000000"},
		{[]string{"--from", page, "--to", dir + "/c", dump}, exitFailed, "No file", "is not a symbol file or a program"},
		{[]string{"--from", gone.URL, "--to", dir + "/d", dump}, exitFailed, "No file", " cannot be reached: dial tcp "},
		{[]string{dump}, exitUsage, "", "name a server"},
		{[]string{"--from", nothing}, exitUsage, "", "name a dump"},
		{[]string{"--from", "nowhere", dump}, exitUsage, "", "is not the address of a server"},
	} {
		code, stdout, stderr := crashpane(append([]string{"fetch"}, c.args...)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
	if left, _ := filepath.Glob(dir + "/*/*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
