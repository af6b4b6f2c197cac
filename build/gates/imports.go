package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strings"
)

const module = "github.com/crashpane/crashpane"

// importRule says which packages of this module the packages of one name may import. A name that
// ends in /... means a folder and everything under it, as in the go command's patterns.
type importRule struct {
	name string
	may  []string
}

// importRules is the architecture of docs/ARCHITECTURE.md as a table: bytes → core → walker →
// walker/report → renderers, and never back. The first row that matches a package counts. A package
// that no row matches is a violation, so that its author decides what it may import.
var importRules = []importRule{
	{"core/input", nil},
	{"core/cpu", nil},
	{"core", []string{"core/input", "core/cpu"}},
	{"core/visible", nil},
	{"core/sourcefile", nil},
	{"core/jsonwriter", []string{"core/visible"}},
	{"core/intake", []string{"core/cpu", "core/input", "core/intake/cab", "core/intake/sevenzip", "core/intake/xz", "core/jsonwriter"}},
	{"core/intake/cab", nil},
	{"core/intake/sevenzip", []string{"core/intake/xz"}},
	{"core/intake/xz", nil},
	{"core/reason", []string{"core", "core/input", "core/cpu"}},
	{"core/reason/internal/...", nil},
	{"core/disasm", []string{"core/cpu"}},
	{"core/analysis", []string{"core", "core/cpu", "core/disasm", "core/reason"}},
	// It reads another format into core's types.
	{"core/microdump", []string{"core", "core/cpu", "core/input"}},
	{"core/elfcore", []string{"core", "core/cpu", "core/input"}},
	// It prints what a dump says, and concludes nothing.
	{"core/dumptext", []string{"core", "core/input", "core/cpu", "core/jsonwriter"}},
	// It reads sources, for the tests of tables.
	{"core/enumtest", nil},
	// It reads files of test data.
	{"core/testfile", nil},
	// A reader for tests.
	{"core/input/inputtest", []string{"core/input"}},
	// It builds dumps without core's layouts, so that a wrong layout is caught.
	{"core/dumptest", nil},

	{"symfile/symbol", nil},
	{"symfile/demangle", nil},
	// It demangles the names of binaries for Windows.
	{"symfile/demangle/msvc", []string{"symfile/demangle"}},
	{"symfile/unwind", []string{"core/cpu"}},
	{"symfile/sframe", []string{"core/input", "core/cpu", "symfile/unwind"}},
	{"symfile/dwarfcfi", []string{"core/input", "core/cpu", "symfile/unwind"}},
	{"symfile/compact", []string{"core/cpu", "core/input", "symfile/unwind"}},
	{"symfile/macho", []string{"core/cpu", "core/input", "symfile/symbol"}},
	{"symfile/exidx", []string{"core/input", "core/cpu", "symfile/unwind"}},
	{"symfile/ordered", nil},
	{"symfile/pdata", []string{"core/input", "core/cpu", "symfile/ordered", "symfile/unwind"}},
	{"symfile/gopclntab", []string{"core/input", "core/cpu", "symfile/ordered", "symfile/symbol", "symfile/unwind"}},
	{"symfile/x86code", []string{"core/cpu", "symfile/unwind"}},
	{"symfile/dwarf", []string{"core/input", "symfile/symbol"}},
	{"symfile/lazy", []string{"core/input"}},
	{"symfile", []string{"core/input", "core/cpu", "symfile/lazy", "symfile/symbol", "symfile/unwind"}},
	// It writes what the others read.
	{"symfile/dumpsyms", []string{"core/input", "core/cpu", "core/visible", "symfile/symbol", "symfile/unwind"}},
	// The packages that read binaries.
	{"symfile/elf", []string{"core/input", "core/intake/xz", "core/cpu", "symfile/ordered", "symfile/symbol"}},
	{"symfile/pe", []string{"core/input", "core/cpu", "symfile/symbol"}},
	// It writes ELF files without the reader's layouts.
	{"symfile/elf/elftest", nil},
	{"symfile/pdb", []string{"core/input", "core/cpu", "core/jsonwriter", "symfile/ordered", "symfile/symbol", "symfile/unwind"}},
	{"symfile/stabs", []string{"core/input", "symfile/elf", "symfile/symbol"}},

	// It knows which sections a binary has, and which package reads each.
	{"symfile/binary", []string{"core/input", "core/cpu", "symfile/..."}},

	// It reads instructions, and no files.
	{"symfile/framecode", []string{"core/cpu", "core/disasm", "symfile/unwind"}},

	// The walker gets unwind rows and symbols as values. It imports no parser of them.
	{"walker", []string{"core", "core/cpu", "core/input", "symfile/framecode", "symfile/symbol", "symfile/unwind"}},
	{"walker/report", []string{"core", "core/analysis", "core/cpu", "core/input", "core/reason", "symfile/symbol", "symfile/unwind", "symfile/demangle", "walker"}},
	// It makes reports for the renderers' tests.
	{"walker/report/reporttest", []string{"core", "core/cpu", "core/input", "symfile/symbol", "symfile/unwind", "walker", "walker/report"}},
	// What the page shows, as plain data.
	{"walker/report/rows", []string{"core/visible"}},
	// It reads a report's stacks for the renderers.
	{"walker/report/signature", []string{"walker/report"}},
	// The renderers of tickets read their own model, which view makes.
	{"walker/report/ticket", []string{"core/jsonwriter", "walker/report/rows"}},
	// A renderer reads the report only, and the CPU's table for the names and widths of registers.
	// report/text has Breakpad's words, which the others show too.
	{"walker/report/...", []string{"walker/report", "walker/report/rows", "walker/report/signature", "walker/report/text", "walker/report/ticket", "symfile/demangle", "core/cpu", "core/jsonwriter", "core/visible"}},

	// The store of symbol files and binaries, which knows modules and no dumps.
	{"walker/symbols", []string{"core", "core/cpu", "core/input", "symfile", "symfile/symbol", "symfile/unwind"}},
	// It makes many symbol files.
	{"walker/symbols/symbolstest", []string{"core/dumptest"}},
	// The package that connects dumps, symbol files, the walker and the report.
	{"walker/session", []string{"core/...", "symfile/...", "walker", "walker/report", "walker/symbols"}},
	// It gives a session all readers of files.
	{"walker/readers", []string{"core/...", "symfile/...", "walker/session", "walker/symbols"}},
	// It makes a record of each of many dumps.
	{"walker/batch", []string{"core", "core/input", "core/intake", "core/jsonwriter", "walker", "walker/report", "walker/report/signature", "walker/report/view", "walker/session", "walker/symbols"}},
	// It keeps the records in a file of SQLite.
	{"walker/batch/database", []string{"walker/batch"}},
	// It downloads files for the command.
	{"walker/fetch", []string{"walker/report"}},
	// It keeps files under the names that symbol servers have for them.
	{"walker/store", []string{"core/input", "symfile", "walker/report", "walker/symbols"}},
	// It opens dumps and symbols on a file system.
	{"walker/disk", []string{"core", "core/input", "core/intake", "core/sourcefile", "symfile/binary", "symfile/demangle/msvc", "symfile/symbol", "walker/readers", "walker/report", "walker/session", "walker/symbols"}},
	{"walker/cmd/...", []string{"walker/disk", "walker/store", "walker/batch", "walker/batch/database", "walker/fetch", "walker/symbols", "core/intake", "walker", "walker/readers", "walker/session", "walker/report/...", "symfile", "symfile/...", "core", "core/cpu", "core/input", "core/dumptext", "core/jsonwriter", "core/sourcefile", "core/visible"}},

	// The packages of the page know nothing of the page as a whole, web/app.
	{"web/app/words", []string{"walker/report/rows"}},
	{"web/app/state", []string{"web/app/words"}},
	{"web/app/host", []string{"web/protocol"}},
	{"web/app/table", []string{"walker/report/rows", "web/protocol", "web/app/words"}},
	{"web/app/split", nil},
	{"web/app/sourcelinks", []string{"web/app/host", "web/app/words"}},
	{"web/app/notices", []string{"walker/report/rows", "web/app/host", "web/app/words"}},
	{"web/app/zone", []string{"walker/report/rows", "web/protocol", "web/app/host", "web/app/notices", "web/app/split", "web/app/state", "web/app/table", "web/app/words"}},
	{"web/app/servers", []string{"walker/report/rows", "web/protocol", "web/app/host", "web/app/words", "web/app/zone"}},
	{"web/app/tabs", []string{"walker/report/rows", "web/protocol", "web/app/host", "web/app/servers", "web/app/table", "web/app/words", "web/app/zone"}},
	{"web/app", []string{"core/sourcefile", "walker/report/rows", "web/protocol", "web/app/..."}},
	// The messages between page and engine.
	{"web/protocol", []string{"walker/report/rows", "web/wire"}},
	{"web/wire", nil},
	{"wasm/engine", []string{"walker/batch", "walker/symbols", "core", "core/dumptext", "core/input", "core/intake", "walker", "walker/session", "walker/report/...", "symfile/demangle", "web/protocol"}},
	{"wasm/jsvalue", nil},
	// The page's program. It parses nothing.
	{"wasm/viewer", []string{"walker/report/rows", "web/app/...", "web/protocol", "wasm/jsvalue"}},
	// The program of the page's workers: the engine, with the readers of binaries and the browser's files.
	{"wasm/worker", []string{"wasm/engine", "wasm/jsvalue", "web/protocol", "walker", "walker/readers", "walker/session", "walker/symbols", "walker/report/...", "symfile/...", "core/..."}},
	// The Cloudflare Worker that serves symbol files, and the part of it that reads a bucket.
	{"wasm/edge/store", nil},
	{"wasm/edge", []string{"wasm/edge/store", "wasm/jsvalue"}},
	// They write dumps for benchmarks.
	{"build/bigsym", []string{"core/dumptest"}},
	{"build/bigprogram", []string{"core/dumptest"}},
	// Its dump's stack follows the library's own unwind rules.
	{"build/bigpdb", []string{"core/dumptest", "core/input", "symfile/binary", "symfile/symbol", "symfile/unwind"}},
	// The demo portal's hostile dump.
	{"build/portal/hostile", []string{"core/dumptest"}},
	// Dumps for the tests of the page.
	{"build/instructions", []string{"core/cpu", "core/disasm", "core/input", "symfile/binary", "symfile/symbol"}},
	{"build/kinds", []string{"core/dumptest"}},
	// It walks dumps of real programs, as the page and the command do.
	{"build/real", []string{"core/input", "symfile/binary", "symfile/demangle", "walker/readers", "walker/session", "walker/symbols"}},
	{"build/manysym", []string{"walker/symbols/symbolstest"}},
	{"build/...", []string{"build/..."}},
}

// outside are the packages of other modules that only some packages may import.
var outside = []struct {
	pkg string
	by  []string
	why string
}{
	{"syscall/js", []string{"wasm/...", "web/..."}, "the engine must run without a browser"},
	{"honnef.co/go/js/dom/...", []string{"wasm/...", "web/..."}, "the engine must run without a browser"},
	{"github.com/vugu/...", []string{"wasm/...", "web/..."}, "the engine must run without a page"},
	{"github.com/syumai/workers/...", []string{"wasm/edge/..."}, "it panics at start outside a Cloudflare Worker"},
	{"golang.org/x/arch/...", []string{"core/disasm", "core/analysis", "symfile/framecode"}, "one package decodes instructions; what they did and how they move the stack are found out from its operands"},
	{"github.com/klauspost/compress/...", []string{"symfile/elf", "core/intake"}, "debug sections, and dropped files"},
	{"github.com/ulikunitz/xz/...", []string{"core/intake/xz"}, "debug information, and dropped files"},
	{"github.com/modelcontextprotocol/...", []string{"walker/cmd/crashpane-mcp"}, "it would make the command a tenth larger"},
	{"github.com/ianlancetaylor/demangle", []string{"symfile/demangle"}, "one package demangles names"},
}

// fits reports whether a package matches a pattern.
func fits(pattern, pkg string) bool {
	if folder, all := strings.CutSuffix(pattern, "/..."); all {
		return pkg == folder || strings.HasPrefix(pkg, folder+"/")
	}
	return pkg == pattern
}

func fitsAny(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if fits(p, pkg) {
			return true
		}
	}
	return false
}

// judgeImport returns what is wrong with one import by a package of this module, or "". from is
// without the module's path, to with it.
func judgeImport(from, to string) string {
	if inside, ours := strings.CutPrefix(to, module+"/"); ours {
		for _, r := range importRules {
			if !fits(r.name, from) {
				continue
			}
			if !fitsAny(r.may, inside) {
				return fmt.Sprintf("%s imports %s; it may import %s", from, inside, orNothing(r.may))
			}
			return ""
		}
		return fmt.Sprintf("%s is not in the table of imports (build/gates/imports.go)", from)
	}
	for _, o := range outside {
		if fits(o.pkg, to) && !fitsAny(o.by, from) {
			return fmt.Sprintf("%s imports %s, which only %s may: %s", from, to, strings.Join(o.by, " and "), o.why)
		}
	}
	return ""
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing of this module"
	}
	return strings.Join(list, ", ")
}

// goPackage is the part of go list -json's output that the gates need.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// inBrowser is the environment for which the page is built.
var inBrowser = []string{"GOOS=js", "GOARCH=wasm"}

func checkImports(t *tree) ([]string, string, error) {
	// The go command lists the imports of one platform's files, so both platforms are listed. Tests
	// may import anything.
	found := map[string]bool{}
	count := 0
	for _, env := range [][]string{nil, inBrowser} {
		packages, err := goList(t.root, env, "-e", "-json=ImportPath,Imports", "./...")
		if err != nil {
			return nil, "", err
		}
		count = max(count, len(packages))
		for _, p := range packages {
			from := strings.TrimPrefix(p.ImportPath, module+"/")
			for _, to := range p.Imports {
				if line := judgeImport(from, to); line != "" {
					found[line] = true
				}
			}
		}
	}
	return sorted(found), fmt.Sprintf("%d packages", count), nil
}

// kept lists packages that must not be linked into a program or a package, whichever package
// imports them.
var kept = []struct {
	out  []string // patterns
	of   []string // packages, with all that they import
	what string
}{
	{[]string{"net/http", "html/template", "text/template", "regexp"}, []string{"./wasm/viewer", "./wasm/worker"},
		"it makes the page's programs much larger; net/http alone adds two megabytes"},
	{[]string{module + "/walker/fetch"}, []string{"./wasm/viewer", "./wasm/worker"},
		"the page asks servers by the browser, at the user's request, and no other way"},
	{[]string{"github.com/vugu/...", module + "/web/app/..."}, []string{"./wasm/worker", "./wasm/engine"},
		"the engine knows the protocol, and no page"},
	{[]string{module + "/core", module + "/core/input", module + "/walker", module + "/symfile/..."}, []string{"./wasm/viewer"},
		"the page parses nothing"},
}

// judgeLinked returns a line for each package that matches one of the patterns out, with the
// packages that import it.
func judgeLinked(packages []goPackage, out []string, what string) []string {
	var wrong []string
	for _, bad := range out {
		linked := map[string][]string{}
		for _, p := range packages {
			if _, known := linked[p.ImportPath]; !known && fits(bad, p.ImportPath) {
				linked[p.ImportPath] = nil
			}
			for _, to := range p.Imports {
				if fits(bad, to) && !fits(bad, p.ImportPath) {
					linked[to] = append(linked[to], p.ImportPath)
				}
			}
		}
		for pkg, by := range linked {
			wrong = append(wrong, fmt.Sprintf("%s is linked by %s: %s", pkg, strings.Join(by, ", "), what))
		}
	}
	sort.Strings(wrong)
	return wrong
}

func checkLinked(t *tree) ([]string, string, error) {
	var wrong []string
	count := 0
	for _, k := range kept {
		packages, err := goList(t.root, inBrowser, append([]string{"-deps", "-json=ImportPath,Imports"}, k.of...)...)
		if err != nil {
			return nil, "", err
		}
		count = max(count, len(packages))
		wrong = append(wrong, judgeLinked(packages, k.out, k.what)...)
	}
	return wrong, fmt.Sprintf("%d packages", count), nil
}

func goList(root string, env []string, args ...string) ([]goPackage, error) {
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Dir = root
	list.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	list.Stderr = &stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %s", strings.Join(args, " "), oneLine(stderr.String()))
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

func sorted(set map[string]bool) []string {
	var list []string
	for item := range set {
		list = append(list, item)
	}
	sort.Strings(list)
	return list
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
