package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/disk"
)

const (
	oracles = "../../../testdata/oracle/"
	framed  = "../../../symfile/sframe/testdata/oracle/amd64.elf" // has .eh_frame and .sframe
)

// TestRules: the table of rules, which anyone can compare with what readelf prints.
func TestRules(t *testing.T) {
	mach := filepath.Join(t.TempDir(), "m.dylib")
	if err := os.WriteFile(mach, testfile.Read(t, "../../../symfile/macho/testdata/m-arm64-fp.dylib.gz"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // lines that stand in it
	}{
		{[]string{oracles + "thumb.elf"}, "address     cfa               ra         origin, registers\n" +
			"0x000100f8  sp+0              lr         .debug_frame+0x10  topmost\n" +
			"0x0001010c  sp+0              lr         .debug_frame+0x20  topmost\n" +
			"0x0001010e  sp+8              cfa-4      .debug_frame+0x20  r4=cfa-8\n"},
		{[]string{"--source", "exidx", oracles + "thumb.elf"}, "\n0x000101bc  r7+16             cfa-4      .ARM.exidx+0x20  r3=cfa-16 r4=cfa-12 r7=cfa-8 body\n"},
		{[]string{"--source", "compact", mach}, "\n0x000000000000038c  fp+16             cfa-8      __unwind_info+0x1c  fp=cfa-16 x19=cfa-24 x20=cfa-32 x21=cfa-40 x22=cfa-48 x23=cfa-56 x24=cfa-64 body\n"},
		{[]string{"--source=debug_frame", "--address", "0x10130", oracles + "thumb.elf"}, "address     cfa               ra         origin, registers\n" +
			"0x00010130  sp+40             cfa-4      .debug_frame+0x20  r4=cfa-8\n"},
		{[]string{framed, "--address=410012"}, "0x0000000000410012  rsp+16            cfa-8      .eh_frame+0x2c  r15=cfa-16\n" +
			"0x0000000000410012  rsp+16            cfa-8      .sframe+"},
		{[]string{oracles + "s390x.elf"}, "  r15+160           r14        .eh_frame+0x18  r15=val(cfa-160) topmost\n"},
		{[]string{filepath.Join(sample, "libtilecodec.so.sym")}, "address             cfa               ra         origin, registers\n" +
			"0x0000000000001020  rsp+16            cfa-8      line 72\n0x0000000000001026  rsp+24            cfa-8      line 73\n"},
		{[]string{"--source=cfi", "--address=0x1027", filepath.Join(sample, "libtilecodec.so.sym")}, "\n0x0000000000001027  rsp+24            cfa-8      line 73\n"},
	} {
		code, stdout, stderr := crashpane(append([]string{"rules"}, c.args...)...)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, c.want) {
			t.Errorf("crashpane rules %q: exit %d, stderr %q\n%.1000s\nwant %s", c.args, code, stderr, stdout, c.want)
		}
	}
}

func TestRulesJSON(t *testing.T) {
	code, stdout, stderr := crashpane("rules", "--format", "json", "--source", "eh_frame", framed)
	var all []map[string]any
	if err := json.Unmarshal([]byte(stdout), &all); code != exitOK || stderr != "" || err != nil || len(all) < 10 {
		t.Fatalf("exit %d, %s, %v, %d rows", code, stderr, err, len(all))
	}
	want := map[string]any{"address": "0x410012", "cfa": "rsp+16", "ra": "cfa-8", "regs": map[string]any{"r15": "cfa-16"}, "origin": framed + " .eh_frame+0x2c"}
	if !reflect.DeepEqual(all[2], want) {
		t.Errorf("%v\nwant %v", all[2], want)
	}
	// One address, in the form that is promised, byte by byte.
	code, stdout, _ = crashpane("rules", "--format=json", "--source=eh_frame", "--address=0x410012", framed)
	if want := `[{"address":"0x410012","cfa":"rsp+16","ra":"cfa-8","regs":{"r15":"cfa-16"},"origin":"` + framed + ` .eh_frame+0x2c"}]` + "\n"; code != exitOK || stdout != want {
		t.Errorf("exit %d, %s\nwant %s", code, stdout, want)
	}
}

func TestRulesErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(framed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{nil, exitUsage, "name a file"},
		{[]string{framed, oracles + "x86.elf"}, exitFailed, "does not belong to"},
		{[]string{filepath.Join(sample, "libtilecodec.so.sym"), framed}, exitUsage, "one symbol file at a time"},
		{[]string{"--source", "stabs", framed}, exitUsage, `no source "stabs"`},
		{[]string{"--format", "xml", framed}, exitUsage, `no format "xml"`},
		{[]string{"--address", "main", framed}, exitUsage, `"main" is not an address`},
		{[]string{"--address", "0x1", framed}, exitFailed, "no rules cover 0x1"},
		{[]string{"--source", "exidx", framed}, exitFailed, "it has no exidx rules"},
		{[]string{"no-such-file"}, exitFailed, "no-such-file"},
		{[]string{dir}, exitFailed, "not a file"},
		{[]string{write("text", "what is this")}, exitFailed, "no ELF file, PE file, PDB or Mach-O file, and no symbol file"},
		{[]string{write("empty.sym", "MODULE Linux x86_64 000000000000000000000000000000000 a\n")}, exitFailed, "it has no unwind rules"},
		{[]string{write("z80.sym", "MODULE Linux z80 000000000000000000000000000000000 a\n")}, exitFailed, `the registers of "z80" are not known`},
		{[]string{write("cut.elf", string(whole[:100]))}, exitFailed, "cut.elf"},
	} {
		code, stdout, stderr := crashpane(append([]string{"rules"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("crashpane rules %q: exit %d, stdout %.100q, stderr %q", c.args, code, stdout, stderr)
		}
	}
	code, stdout, _ := crashpane("help", "rules")
	if code != exitOK || !strings.Contains(stdout, "--address") || !strings.Contains(stdout, "pdata|compact|eh_frame|debug_frame|sframe|exidx|leaf|cfi") {
		t.Errorf("help: exit %d\n%s", code, stdout)
	}
}

// TestRuleSources: every table of every binary at hand can be selected by --source.
func TestRuleSources(t *testing.T) {
	seen := map[string]bool{}
	for _, pattern := range []string{oracles + "*.elf", "../../../symfile/*/testdata/*.dll", "../../../symfile/*/testdata/*/*.elf"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			sources, err := disk.OpenSources([]string{file}, 0)
			if err != nil {
				t.Fatal(err)
			}
			rules, err := openRules(sources, "")
			if err != nil {
				continue // of no processor whose registers are known
			}
			for _, table := range rules.tables {
				if seen[table.source] = true; !slices.Contains(ruleSources, table.source) {
					t.Errorf("%s: no --source selects %q", file, table.source)
				}
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %v are at hand", seen)
	}
}
