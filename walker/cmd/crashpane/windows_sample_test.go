package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// TestWindowsFiles: what a person has of a crash on Windows, on the command line and in folders
// laid out as symbol servers are; what is missing is reported.
func TestWindowsFiles(t *testing.T) {
	const sample = "../../../testdata/windows/"
	dir := t.TempDir()
	read := func(name string) []byte { return testfile.Read(t, sample+name) }
	pdb := read("app.pdb.gz")
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	alone := put("alone/app.pdb", pdb)
	const id, program = "A855514E410DD0664C4C44205044422E1", "167A5EAB6000"
	put("store/app.exe/"+program+"/app.exe", read("app.exe"))
	put("store/app.pdb/"+id+"/app.pd_", read("app.pd_"))
	put("flat/app.pdb", pdb)
	put("flat/app.exe", read("app.exe"))
	put("packed/app.pd_", read("app.pd_"))
	put("packed/app.exe", read("app.exe"))
	const missingPDB, missingProgram = "app.pdb is missing (its id is " + id + "): it has the functions and lines of app.exe\n",
		"app.exe is missing (its identifier is 167a5eab6000): without it callers on amd64 are guesses\n"
	for _, tc := range []struct {
		files        []string
		exact, named bool
		says         string
	}{
		{[]string{sample + "app.exe", alone}, true, true, ""},
		{[]string{sample + "app.exe", sample + "app.pd_"}, true, true, ""},
		{[]string{filepath.Join(dir, "store")}, true, true, ""},
		{[]string{filepath.Join(dir, "flat")}, true, true, ""},
		{[]string{filepath.Join(dir, "packed")}, true, true, ""},
		{[]string{sample + "app.exe"}, true, false, missingPDB},
		{[]string{alone}, false, true, missingProgram},
	} {
		code, out, stderr := crashpane(append([]string{"walk", "--format", "machine", sample + "app.dmp"}, tc.files...)...)
		named := strings.Contains(out, "0|1|app.exe|print_receipt(Order const*, unsigned long long)|/src/app.c|33|")
		if code != exitOK || stderr != tc.says || named != tc.named {
			t.Errorf("%q: exit %d, %q\n%s", tc.files, code, stderr, out)
		}
		if got := strings.Count(out, "\n0|"); tc.exact && got != 5 {
			t.Errorf("%q: %d frames\n%s", tc.files, got, out)
		}
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"dumpsyms", sample + "app.pd_"}, "is not an ELF file, PE file, PDB or Mach-O file: it is a Windows cabinet"},
		{[]string{"dumpsyms", alone}, "the program itself, app.exe or app.dll: without it callers on x86_64 are guesses"},
		{[]string{"rules", alone}, "debug information without unwind rules, but for the records of x86"},
		{[]string{"rules", "--source", "pdata", "--address", "1050", sample + "app.exe"}, "no rules cover 0x1050; it is linked at 0x140000000"},
	} {
		if _, _, stderr := crashpane(tc.args...); !strings.Contains(stderr, tc.says) {
			t.Errorf("%q says %q", tc.args, stderr)
		}
	}
}
