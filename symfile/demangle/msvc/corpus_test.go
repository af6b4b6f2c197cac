package msvc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusRoot has names that compilers made and llvm-undname's results for them. It is next to the
// module and not part of it.
const corpusRoot = "../../../../shared/corpus/winapple/msvc-names"

// answer is a decorated name and what it should be.
type answer struct{ raw, want string }

// TestAgainstLLVMTests reads the tests of LLVM's demangler. Their expectations, like FileCheck's,
// are parts of the answer, and are not exact about white space.
func TestAgainstLLVMTests(t *testing.T) {
	files, _ := filepath.Glob(corpusRoot + "/llvm/*.test")
	if len(files) == 0 {
		t.Skip("SKIPPED: there are no tests of LLVM's at " + corpusRoot)
	}
	var answers []answer
	for _, f := range files {
		raw := ""
		for _, line := range readLines(t, f) {
			if want, ok := strings.CutPrefix(line, "; CHECK:"); ok && raw != "" {
				answers = append(answers, answer{raw, want})
				raw = ""
			} else if line != "" && line[0] != ';' {
				raw = line
			}
		}
	}
	compare(t, answers, 615, 99, func(have, want string) bool {
		return strings.Contains(strings.ReplaceAll(have, " ", ""), strings.ReplaceAll(want, " ", ""))
	})
}

// TestAgainstUndname compares with llvm-undname's answers for the public symbols of real programs.
func TestAgainstUndname(t *testing.T) {
	const name = corpusRoot + "/debugpy.llvm-undname.txt"
	if _, err := os.Stat(name); err != nil {
		t.Skip("SKIPPED: there are no names at " + name)
	}
	compare(t, readUndname(t, name), 1624, 99.9, func(have, want string) bool { return have == want })
}

// TestAgainstClang compares with llvm-undname's answers for the names that Clang makes of
// testdata/names.cc, but for those where llvm-undname is wrong: undname-is-wrong.txt says what
// these are, and why.
func TestAgainstClang(t *testing.T) {
	better := map[string]string{}
	for _, a := range readUndname(t, "testdata/undname-is-wrong.txt") {
		better[a.raw] = a.want
	}
	answers := readUndname(t, "testdata/names.txt")
	for i, a := range answers {
		if right, ok := better[a.raw]; ok {
			if right == a.want {
				t.Errorf("%s: llvm-undname is not wrong", a.raw)
			}
			answers[i].want = right
			delete(better, a.raw)
		}
	}
	for raw, want := range better {
		answers = append(answers, answer{raw, want})
	}
	compare(t, answers, 797, 100, func(have, want string) bool { return have == want })
}

// compare compares the results for names with the expected ones. There must be at least so many
// names, and so many percent right.
func compare(t *testing.T, answers []answer, atLeast int, percent float64, equal func(have, want string) bool) {
	t.Helper()
	wrong := 0
	for _, a := range answers {
		have, ok := Full(a.raw)
		if !ok || !equal(have, a.want) {
			wrong++
			t.Logf("%s:\nhave %s\nwant %s", a.raw, have, a.want)
		}
	}
	right := 100 * float64(len(answers)-wrong) / float64(len(answers))
	t.Logf("%d names, %d other answers, %.2f %% are right", len(answers), wrong, right)
	if len(answers) < atLeast || right < percent {
		t.Errorf("%d names of at least %d, %.2f %% of at least %v %% are right", len(answers), atLeast, right, percent)
	}
}

// readUndname reads what llvm-undname prints: a name, the answer, an empty line. Lines with ";" are
// comments.
func readUndname(t *testing.T, file string) (answers []answer) {
	lines := readLines(t, file)
	for i := 0; i+1 < len(lines); i++ {
		if lines[i] != "" && lines[i][0] != ';' {
			answers = append(answers, answer{lines[i], lines[i+1]})
			i++
		}
	}
	return answers
}

func readLines(t *testing.T, file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}
