package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/disk"
)

// zipped is an archive of files in order: name, content, name, content.
func zipped(t *testing.T, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		f, err := w.Create(members[i])
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(members[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTerminal: whatever names files have and hold, what any command prints has nothing hidden in
// it, and no line that a name made.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	const name = "a\x1b[31m\a\b\nforged line\r\u009b2J\u202e\x9b"
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffc0000, "rbp": 0x7ffc0000})
	stack := bytes.Repeat([]byte{0x00, 0x11, 0x40, 0, 0, 0, 0, 0}, 16)
	dump := filepath.Join(dir, "a.dmp")
	writeFile(t, dump, dumptest.New(binary.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/"+name, dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 1, name)).
		Thread(7, ctx, 0x7ffc0000, stack).ThreadName(7, name).Exception(7, 11, 1, 0, ctx).Assertion(name, name, name, 1, 1).
		Stream(0x4d7a0004, []byte("{\"\x1b\n")).Stream(3, []byte{0xff}).Bytes())
	line := strings.ReplaceAll(name, "\n", "")
	sym := filepath.Join(dir, "a.sym")
	writeFile(t, sym, []byte("MODULE Linux x86_64 112233445566778801020304050607081 "+line+"\nFILE 0 "+line+"\nFUNC 1000 200 0 "+line+
		"\n1000 200 7 0\nPUBLIC 2000 0 "+line+"\nSTACK CFI INIT 1000 200 .cfa: $rsp 16 + .ra: .cfa 8 - ^ $"+line+": 1\nSTACK CFI INIT 1200 8 .cfa: "+line+"\n"))
	archive := filepath.Join(dir, "a.zip")
	writeFile(t, archive, zipped(t, name+".txt", "text", "../"+name, "more"))
	odd := filepath.Join(dir, "odd\x1b[31m\n.dmp")
	writeFile(t, odd, []byte("MDMP\x00"))

	commands := [][]string{
		{"walk", dump, sym}, {"walk", "--format=machine", dump, sym}, {"walk", "--format=json", dump, sym}, {"walk", dump, archive}, {"walk", archive}, {"walk", odd},
		{"report", dump, sym}, {"report", "--html", "--private", dump, sym}, {"report", "--format", name, dump}, {"brief", dump, sym},
		{"explain", dump, sym}, {"explain", "--format=json", dump, sym}, {"compare", dump, sym}, {"compare", "--format=json", dump, sym}, {"compare", dump, dump, sym}, {"threads", dump, sym}, {"threads", "--merged", "--whole", dump, sym}, {"threads", "--format=json", dump, sym},
		{"dump", dump}, {"dump", "--format=json", "--all", dump}, {"dump", archive}, {"dump", odd},
		{"outline", sym}, {"outline", "--format=json", sym, line}, {"outline", sym, "0x1010"}, {"outline", "--files", sym}, {"outline", odd}, {"outline", archive},
		{"rules", sym}, {"rules", "--format=json", sym}, {"rules", "--address", "1200", sym}, {"rules", odd}, {"dumpsyms", odd}, {"dumpsyms", sym},
		{"walk", "--ignore-cfi", name, dump}, {"walk", filepath.Join(dir, name)}, {"walk", "--format", name, dump}, {name}, {"help", name}, {"rules", "--address", name, sym},
	}
	for _, form := range ticketNames() {
		commands = append(commands, []string{"report", "--format=" + form, dump, sym})
	}
	for _, args := range commands {
		_, stdout, stderr := crashpane(args...)
		for what, out := range map[string]string{"stdout": stdout, "stderr": stderr} {
			if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && visible.Hidden(r) }); i >= 0 {
				t.Errorf("%q, %s: %q", args, what, out[max(0, i-60):min(len(out), i+60)])
			}
			if strings.HasPrefix(out, "forged") || strings.Contains(out, "\nforged") {
				t.Errorf("%q, %s: a name made a line:\n%s", args, what, out)
			}
		}
		if stdout == "" && stderr == "" {
			t.Errorf("%q: nothing is said", args)
		}
	}
}

// TestRulesPartial: where rules of a kind cannot be read, the output itself says so.
func TestRulesPartial(t *testing.T) {
	whole, err := os.ReadFile(framed)
	if err != nil {
		t.Fatal(err)
	}
	// Another version of SFrame than there is (SFrame 2, sframe_preamble: magic, version).
	at := bytes.LastIndex(whole, []byte{0xe2, 0xde})
	whole[at+2] = 99
	path := filepath.Join(t.TempDir(), "partial.elf")
	writeFile(t, path, whole)

	code, stdout, stderr := crashpane("rules", "--format=json", path)
	var all []map[string]any
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || code != exitFailed {
		t.Fatalf("exit %d, %v", code, err)
	}
	last := all[len(all)-1]
	if len(all) < 10 || last["source"] != "sframe" || !strings.Contains(fmt.Sprint(last["error"]), ".sframe") || !strings.Contains(stderr, "not all of its rules could be read") {
		t.Errorf("%d objects, the last %v, stderr %s", len(all), last, stderr)
	}
	code, stdout, _ = crashpane("rules", path)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != exitFailed || !strings.HasPrefix(lines[len(lines)-1], "error: not all sframe rules could be read: ") {
		t.Errorf("exit %d, the last line is %q", code, lines[len(lines)-1])
	}
}

// TestUnreadHeader: a section that cannot be read is reported, although the output has no place for it.
func TestUnreadHeader(t *testing.T) {
	whole, err := os.ReadFile("../../../symfile/elf/testdata/x86_64-linux-gnu.elf")
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	headers, size, count := int(le.Uint64(whole[0x28:])), int(le.Uint16(whole[0x3a:])), int(le.Uint16(whole[0x3c:]))
	names := le.Uint64(whole[headers+int(le.Uint16(whole[0x3e:]))*size+0x18:])
	for _, both := range []bool{false, true} {
		data := bytes.Clone(whole)
		for i := range count {
			h := data[headers+i*size:]
			name, _, _ := bytes.Cut(data[names+uint64(le.Uint32(h)):], []byte{0})
			switch string(name) {
			case ".eh_frame_hdr":
				le.PutUint64(h[0x18:], 1<<40)
			case ".eh_frame":
				if both { // there is no such section: only the header could lead to it
					le.PutUint32(h, 0)
				}
			}
		}
		path := filepath.Join(t.TempDir(), "a.elf")
		writeFile(t, path, data)
		if code, _, stderr := crashpane("dumpsyms", path); code != exitOK || !strings.Contains(stderr, "section .eh_frame_hdr") {
			t.Errorf("dumpsyms, both %v: exit %d, %s", both, code, stderr)
		}
		if _, _, stderr := crashpane("rules", path); both && !strings.Contains(stderr, "section .eh_frame_hdr") {
			t.Errorf("rules, both %v: %s", both, stderr)
		}
	}
}

// TestFloods: an archive with thousands of useless files is a few lines of messages, and they say
// how many there are.
func TestFloods(t *testing.T) {
	inner := string(zipped(t, "a.txt", "text"))
	for range 3 {
		inner = string(zipped(t, "0.zip", inner))
	}
	var members []string
	for i := range 300 {
		members = append(members, fmt.Sprintf("%d.zip", i), inner)
	}
	path := filepath.Join(t.TempDir(), "nested.zip")
	writeFile(t, path, zipped(t, members...))
	for _, args := range [][]string{{"walk", path}, {"dump", path}, {"walk", filepath.Join(sample, "tilecruncher.dmp"), path}} {
		_, _, stderr := crashpane(args...)
		if n := strings.Count(stderr, "\n"); n > disk.MaxMessages+2 || len(stderr) > 10000 || !strings.Contains(stderr, "more") {
			t.Errorf("%q: %d lines, %d bytes: %.500s", args, n, len(stderr), stderr)
		}
	}
}
