package engine

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestIsSymbols: a server may answer what it likes, and nothing but the file that was asked for is taken.
func TestIsSymbols(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	for text, want := range map[string]string{
		"MODULE windows x86 " + id + " a.pdb\nFUNC 1 1 0 f\n":                  "",
		"MODULE windows x86 " + strings.ToLower(id) + " a.pdb\n":               "",
		"MODULE windows x86 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 a.pdb\n":         "of another build",
		"<!doctype html><title>Not found</title>":                              "no symbol file",
		"MDMP\x93\xa7\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00": "no symbol file",
		"": "no symbol file",
	} {
		err := isSymbols(input.FromBytes("https://symbols.example/a.sym", []byte(text)), id)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
