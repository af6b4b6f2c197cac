package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutlineCommand: a symbol file, a PDB and a Mach-O library for several processors answer by name, line and
// address, without a dump.
func TestOutlineCommand(t *testing.T) {
	sym := filepath.Join(sample, "libtilecodec.so.sym")
	pdb := "../../../symfile/pdb/testdata/x86.pdb.gz"
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{sym}, []string{"0x00000000000010f9       380  tile::encode_quadtree(", "_init (public)"}},
		{[]string{sym, "QUADTREE"}, []string{"tile::encode_quadtree(", "\n  rule: cfa rsp+", "  /src/tilecruncher/codec.cc:"}},
		{[]string{sym, "codec.cc:45"}, []string{"  tile::encode_quadtree(", "/src/tilecruncher/codec.cc:45\n"}},
		{[]string{sym, "0x1200"}, []string{"+ 0x107\n  /src/tilecruncher/codec.cc:45\n  rule: cfa rsp+144, ra cfa-8"}},
		{[]string{"--files", sym, "stl_vec"}, []string{"stl_vector.h\n"}},
		{[]string{pdb, "0x1010"}, []string{"shapes::Path::total(", "rule: $T0 .raSearch ="}},
		{[]string{pdb, "total"}, []string{"shapes::Path::total(", "/src/t.cc:"}},
		{[]string{sym, "no such function"}, []string{"No function has this name."}},
	} {
		code, out, stderr := crashpane(append([]string{"outline"}, c.args...)...)
		if code != exitOK || stderr != "" {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
	var o struct {
		File struct {
			Name  string
			Parts []struct{ What string }
		}
		List *struct {
			Rows []struct{ Function, Address string }
		}
		Place *struct {
			Function, Offset string
			Line             int
			Rule             *struct{ CFA, RA string }
			Lines            []struct{ Address string }
		}
	}
	code, out, _ := crashpane("outline", "--format", "json", sym, "0x1200")
	if err := json.Unmarshal([]byte(out), &o); err != nil || code != exitOK || o.List != nil || o.Place == nil || o.Place.Line != 45 || o.Place.Rule.RA != "cfa-8" || len(o.File.Parts) != 4 {
		t.Errorf("%v\n%s", err, out)
	}
	code, out, _ = crashpane("outline", "--format", "json", sym, "quadtree")
	if err := json.Unmarshal([]byte(out), &o); err != nil || code != exitOK || len(o.List.Rows) != 1 || len(o.Place.Lines) < 10 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, wrong := range [][]string{{}, {"--format", "xml", sym}, {filepath.Join(sample, "tilecruncher.dmp")}, {"no-such-file"}, {"--arch", "arm64", sym}} {
		if code, _, stderr := crashpane(append([]string{"outline"}, wrong...)...); code == exitOK || stderr == "" {
			t.Errorf("%v: exit %d, %q", wrong, code, stderr)
		}
	}
}
