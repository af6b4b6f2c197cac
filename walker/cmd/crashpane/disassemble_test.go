package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/testfile"
)

// TestDisassembleNamesProcessors: the help names the processors whose code is decoded, and no other.
func TestDisassembleNamesProcessors(t *testing.T) {
	_, list, _ := strings.Cut(disassembleCommand.help, "whole function. ")
	list, _, found := strings.Cut(list, " are decoded")
	if !found {
		t.Fatal("the help has no list of processors")
	}
	names := strings.FieldsFunc(strings.ReplaceAll(list, " and", ","), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	for _, arch := range cpu.All() {
		if named := slices.Contains(names, arch.Name); named != disasm.Knows(arch, false) {
			t.Errorf("%s: decoded %t, named %t", arch.Name, !named, named)
		}
	}
}

// TestDisassembleCommand: the code of a frame of the sample, by frame and by address, as text and
// JSON.
func TestDisassembleCommand(t *testing.T) {
	code, out, stderr := crashpane(sampleArgs("disassemble")...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"tile::blend_edges(", " + 0x", "code of the dump's memory\n", "\ncodec.cc:33\n ->  0x", "mov eax, dword ptr [rsi+0x2c]", "; eax 0x0, rsi 0x20\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var c struct {
		Function, From, Unread *string
		Instructions           []struct {
			Address, Bytes, Text string
			At                   bool
			Values               map[string]string
		}
	}
	code, out, _ = crashpane(sampleArgs("disassemble", "--format", "json", "--function")...)
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitOK {
		t.Fatalf("%v\n%s", err, out)
	}
	at := ""
	for _, in := range c.Instructions {
		if in.At {
			at = in.Address
			if in.Bytes != "8b462c" || in.Values["rsi"] != "0x0000000000000020" {
				t.Errorf("%+v", in)
			}
		}
	}
	if at == "" || *c.Function == "" || c.From != nil || c.Unread != nil {
		t.Errorf("%s", out)
	}
	code, out, _ = crashpane(sampleArgs("disassemble", "--at", at, "--before", "0", "--after", "1")...)
	if code != exitOK || strings.Count(out, "\n") != 4 || !strings.Contains(out, "mov eax, dword ptr [rsi+0x2c]") {
		t.Errorf("exit %d\n%s", code, out)
	}
	for _, wrong := range [][]string{{"--at", "main"}, {"--frame", "9999"}, {"--after", "0"}, {"--format", "xml"}} {
		if code, _, stderr := crashpane(sampleArgs(append([]string{"disassemble"}, wrong...)...)...); code == exitOK || stderr == "" {
			t.Errorf("%v: exit %d, %q", wrong, code, stderr)
		}
	}
}

// TestDisassembleSources: with a folder of sources the lines have their text, and nothing is printed of a file that is
// somewhere in it by its name alone.
func TestDisassembleSources(t *testing.T) {
	const line = "codec.cc:33  return neighbour.width(level) * (neighbour.level(level).height - 1);\n"
	code, out, stderr := crashpane(sampleArgs("disassemble", "--sources", filepath.Join(sample, "src"))...)
	if code != exitOK || stderr != "" || !strings.Contains(out, line) {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
	var c struct {
		Instructions []struct{ Source *string }
	}
	code, out, _ = crashpane(sampleArgs("disassemble", "--sources", filepath.Join(sample, "src"), "--format", "json")...)
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitOK || !slices.ContainsFunc(c.Instructions, func(in struct{ Source *string }) bool {
		return in.Source != nil && strings.Contains(*in.Source, "neighbour.width(level)")
	}) {
		t.Errorf("%v\n%s", err, out)
	}
	other := t.TempDir()
	for _, name := range []string{"a/codec.cc", "b/main.cc"} {
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, name), []byte(strings.Repeat("another file\n", 99)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, _ := crashpane(sampleArgs("disassemble", "--sources", other)...); code != exitOK || strings.Contains(out, "another file") {
		t.Errorf("exit %d\n%s", code, out)
	}
	for _, wrong := range []string{filepath.Join(other, "none"), t.TempDir()} {
		if code, _, stderr := crashpane(sampleArgs("disassemble", "--sources", wrong)...); code == exitOK || stderr == "" {
			t.Errorf("%s: exit %d, %q", wrong, code, stderr)
		}
	}
}

// TestDisassembleLink: the link that a PDB has to the source is printed, with code or without it.
func TestDisassembleLink(t *testing.T) {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffe0000})
	id := dumptest.RSDS(0x8471EF33, 0xC3AD, 0x7077, [8]byte{0x4C, 0x4C, 0x44, 0x20, 0x50, 0x44, 0x42, 0x2E}, 1, "links.pdb")
	dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Module(0x400000, 0x10000, `C:\t.dll`, id).Thread(7, ctx, 0x7ffe0000, make([]byte, 8)).Exception(7, 0xc0000005, 0, 0x45, ctx)
	dir := t.TempDir()
	for name, b := range map[string][]byte{"t.dmp": dump.Bytes(), "links.pdb": testfile.Read(t, "../../../symfile/pdb/testdata/links.pdb.gz")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const want = "source at https://raw.githubusercontent.com/example/t/c0ffee/src/t.cc\n"
	if code, out, stderr := crashpane("disassemble", filepath.Join(dir, "t.dmp"), filepath.Join(dir, "links.pdb")); code != exitOK || !strings.Contains(out, want) {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
}

// TestDisassembleProgram: a program without a dump: the whole of a function by its name, the code at an address, with the names
// of a symbol file; and the message for one that has no code, or is neither a dump nor a program.
func TestDisassembleProgram(t *testing.T) {
	const program = "../../../symfile/elf/testdata/x86_64-linux-gnu.elf"
	sym := filepath.Join(t.TempDir(), "x.sym")
	if err := os.WriteFile(sym, []byte("MODULE Linux x86_64 "+crashpaneID(t, program)+" x\nFUNC 47c 20 0 started\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{program, "run"}, []string{"run + 0x0, code of " + program, " ->  0x40047c  53 ", "; rule: cfa rsp+8, ra cfa-8\n", "call 0x400450                   ; first@plt + 0x0\n", " ret "}},
		{[]string{program, "0x40048a"}, []string{"run + 0xe", " ->  0x40048a  e8 c1 ff ff ff "}},
		{[]string{"--at", "40048a", "--after", "1", program}, []string{" ->  0x40048a  e8 c1 ff ff ff "}},
		{[]string{"--at", "0X40048A", "--after", "1", program}, []string{" ->  0x40048a  e8 c1 ff ff ff "}},
		{[]string{program, "started", sym}, []string{"started + 0x0, code of " + program, " ->  0x47c  53 "}},
		{[]string{"../../../symfile/elf/testdata/mips-linux-gnu.elf", "run"}, []string{"mips instructions are not decoded", " ->  0x40048c  27 bd ff d0\n"}},
		{[]string{"../../../testdata/sample/libtilecodec.so.sym", "tile::blend_edges"}, []string{"a symbol file has no code", "add libtilecodec.so with id F3549FB14E831B409A6B97A1CCACE8B9D072AADC\n"}},
	} {
		code, out, stderr := crashpane(append([]string{"disassemble"}, c.args...)...)
		if code != exitOK || stderr != "" {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
	var c struct {
		From         *string
		Instructions []struct{ Rule *string }
	}
	if _, out, _ := crashpane("disassemble", "--format", "json", program, "run"); json.Unmarshal([]byte(out), &c) != nil || c.From == nil || len(c.Instructions) < 10 || c.Instructions[0].Rule == nil {
		t.Errorf("%s", out)
	}
	for args, want := range map[string]string{program: "name an address or a function", program + " none": "no function has the name none", "--thread 0 " + program + " run": "no threads", "disassemble.go run": "disassemble.go"} {
		if code, out, stderr := crashpane(append([]string{"disassemble"}, strings.Fields(args)...)...); code == exitOK || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, stderr)
		}
	}
}

// crashpaneID is the debug id of a program.
func crashpaneID(t *testing.T, program string) string {
	t.Helper()
	_, out, _ := crashpane("dumpsyms", program)
	fields := strings.Fields(out)
	if len(fields) < 4 {
		t.Fatalf("%q", out)
	}
	return fields[3]
}

// TestDisassembleFat: --arch says which part of a Mach-O file for several processors is listed; without it the command asks.
func TestDisassembleFat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	writeFile(t, path, fat(machoTestdata(t, "m-x86_64-fp.dylib"), machoTestdata(t, "m-arm64-fp.dylib")))
	for arch, want := range map[string]string{"x86_64": "push rbp", "amd64": "push rbp", "arm64": "stp x24, x23"} {
		if code, out, stderr := crashpane("disassemble", "--arch", arch, path, "recurse"); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s\n%s", arch, code, stderr, out)
		}
	}
	for want, args := range map[string][]string{"several files (x86_64, arm64): --arch says": {path, "recurse"}, "has no part for ppc; it has x86_64, arm64": {"--arch", "ppc", path, "recurse"}} {
		if code, _, stderr := crashpane(append([]string{"disassemble"}, args...)...); code == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, %s, want %q", code, stderr, want)
		}
	}
}
