package binary_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
)

// TestPublicNames makes every decorated public name of the PDBs at hand, of code and of data,
// readable, and compares it with what llvm-undname says.
func TestPublicNames(t *testing.T) {
	corpus(t)
	util, err := exec.LookPath("llvm-pdbutil-19")
	undname, err2 := exec.LookPath("llvm-undname-19")
	if err != nil || err2 != nil {
		t.Skip("*** SKIPPED: llvm-pdbutil-19 and llvm-undname-19 are not installed")
	}
	paths, _ := filepath.Glob(filepath.Join(corpusRoot, "winapple/*/*.pdb"))
	others, _ := filepath.Glob(filepath.Join(corpusRoot, "other/*/*.pdb"))
	deeper, _ := filepath.Glob(filepath.Join(corpusRoot, "other/*/*/*/*.pdb"))
	paths = append(append(paths, others...), deeper...)
	public := regexp.MustCompile("S_PUB32 .*`(\\?[^`]*)`")
	names := map[string]bool{}
	files := 0
	for _, path := range paths {
		out, err := exec.Command(util, "dump", "-publics", path).Output()
		if err != nil {
			t.Logf("%s: llvm-pdbutil: %v", path, err)
			continue
		}
		files++
		for _, m := range public.FindAllSubmatch(out, -1) {
			names[string(m[1])] = true
		}
	}
	var list []string
	for n := range names {
		list = append(list, n)
	}
	slices.Sort(list)
	cmd := exec.Command(undname)
	cmd.Stdin = strings.NewReader(strings.Join(list, "\n") + "\n")
	out, _ := cmd.Output() // it fails where it refuses one
	answers := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
	want := map[string]string{}
	for i := 0; i+1 < len(answers); i++ {
		if names[answers[i]] {
			want[answers[i]] = answers[i+1]
			i++
		}
	}
	compared, wrong := 0, 0
	for _, n := range list {
		theirs := want[n]
		if theirs == "" || strings.HasPrefix(theirs, "error:") { // which it writes elsewhere
			continue
		}
		compared++
		if have, ok := msvc.Full(n); !ok || have != theirs {
			if wrong++; wrong <= 20 {
				t.Logf("%s:\nhave %s\nwant %s", n, have, theirs)
			}
		}
	}
	t.Logf("%d PDBs, %d names, %d of them known to llvm-undname, %d by another name", files, len(list), compared, wrong)
	if files < 20 || compared < 2300 || wrong*1000 > compared || len(list)-compared > len(list)/100 {
		t.Errorf("%d of %d names are others, %d of %d are not known to llvm-undname", wrong, compared, len(list)-compared, len(list))
	}
}
