package session_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

var updateOracles = flag.Bool("update-oracles", false, "write testdata/oracles.txt again")

// oracleDump is a dump whose true stacks are known from something other than a minidump tool.
type oracleDump struct {
	parityCase
	// frames of each thread by id; those with id 0 are the crashed thread's.
	frames map[uint32][]gdbFrame
	// partial: the oracle knows only where the functions of frame 0's module return to.
	partial bool
	// ends: the last frame is the outermost one; every frame above it is invented.
	ends bool
}

// oracleGroup are the dumps that share a line of the table.
type oracleGroup struct {
	name  string
	dumps []oracleDump
}

// oracleScore counts over the stacks of a group.
type oracleScore struct {
	stacks, whole          int
	known, right, invented int
}

// score compares a stack with the truth, in order: how many of the true frames it has, by pc and
// sp, and how many frames it has that are not true. Frames above the last true one that was found
// count as invented only if the oracle knows where the stack ends.
func (o *oracleDump) score(frames []report.Frame, want []gdbFrame) (right, invented int) {
	i, last := 0, 0
	pending := 0
	known := func(k int) bool {
		return !o.partial || frames[k].Module == frames[0].Module && frames[k-1].Module == frames[0].Module
	}
	for _, w := range want {
		for j := i; j < len(frames); j++ {
			if f := &frames[j]; samePC(f.Regs.Arch, f.PC, w.pc) && (w.sp == 0 || f.Regs.SP() == w.sp) {
				for k := i; k < j; k++ {
					if known(k) {
						pending++
					}
				}
				right, i, last = right+1, j+1, j+1
				break
			}
		}
	}
	invented = pending
	if o.ends {
		for k := last; k < len(frames); k++ {
			if known(k) {
				invented++
			}
		}
	}
	return right, invented
}

// samePC compares addresses of code, of Thumb code without bit 0, which says that it is such.
func samePC(arch *cpu.Arch, a, b uint64) bool { return a == b || arch == cpu.ARM && a&^1 == b&^1 }

// withProgram ends the names of groups that are walked with the program and its PDB.
const withProgram = " with program and PDB"

// oracleGroups are the dumps of the corpus that have an oracle.
func oracleGroups(t *testing.T) []oracleGroup {
	t.Helper()
	var out []oracleGroup
	for _, tr := range truths(t) { // skips where there is no corpus
		out = append(out, oracleGroup{tr.name, []oracleDump{{parityCase: tr.parityCase, frames: tr.frames}}})
	}
	wine := filepath.Join(corpusRoot, "winapple/wine")
	for _, name := range []string{"chain32-O2", "chain64-O2"} {
		at := filepath.Join(wine, name)
		for _, c := range []struct {
			label   string
			symbols []string
		}{{name, []string{at + ".moz.sym"}}, {name + " without symbols", nil}, {name + withProgram, []string{at + ".exe", at + ".pdb"}}} {
			out = append(out, oracleGroup{c.label, []oracleDump{{
				parityCase: parityCase{name: name, dump: at + ".cv.dmp", symbols: c.symbols},
				frames:     map[uint32][]gdbFrame{0: chainFrames(t, at+".oracle.txt")}, partial: true}}})
		}
	}
	return append(out, emulatedGroups(t)...)
}

// chainFrames reads an oracle of winapple/wine: the pc and sp of the crash, then for every function
// of the chain the address that it returns to and the slot of the stack that holds it.
func chainFrames(t *testing.T, path string) []gdbFrame {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []gdbFrame
	for line := range strings.Lines(string(b)) {
		var f gdbFrame
		var slot uint64
		var digits string
		if n, _ := fmt.Sscanf(line, "pc %x sp %x", &f.pc, &f.sp); n == 2 {
			out = append(out, f)
		} else if n, _ := fmt.Sscanf(line, "%s returns to %x, slot %s", &f.name, &f.pc, &digits); n == 3 {
			fmt.Sscanf(digits, "%x", &slot)
			f.sp = slot + uint64(len(digits)/2)
			out = append(out, f)
		}
	}
	return out
}

// emulatedGroups are the programs of winapple/emulated, each a dump at every 37th instruction, with
// symbols if dump_syms can be run.
func emulatedGroups(t *testing.T) []oracleGroup {
	t.Helper()
	root := filepath.Join(corpusRoot, "winapple/emulated")
	files, _ := filepath.Glob(filepath.Join(root, "*", "*.truth.json"))
	sort.Strings(files)
	var out []oracleGroup
	for _, path := range files {
		b, err := os.ReadFile(path)
		var steps []struct {
			Dump    string
			PC, SP  uint64
			Callers []struct{ PC, SP uint64 }
		}
		if err == nil {
			err = json.Unmarshal(b, &steps)
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path))
		group := oracleGroup{name: name + " without symbols"}
		for _, st := range steps {
			frames := []gdbFrame{{pc: st.PC, sp: st.SP}}
			for _, c := range st.Callers {
				frames = append(frames, gdbFrame{pc: c.PC, sp: c.SP})
			}
			group.dumps = append(group.dumps, oracleDump{parityCase: parityCase{name: st.Dump, dump: filepath.Join(filepath.Dir(path), st.Dump)},
				frames: map[uint32][]gdbFrame{0: frames}, ends: true})
		}
		out = append(out, group)
		if sym := dumpSyms(t, root, name); sym != "" {
			out = append(out, group.with(name, sym))
		}
		if dll := filepath.Join(root, name+".dll"); exists(dll) {
			out = append(out, group.with(name+withProgram, dll, filepath.Join(root, name+".pdb")))
		}
	}
	return out
}

// with is the group with symbols.
func (g *oracleGroup) with(name string, symbols ...string) oracleGroup {
	out := oracleGroup{name: name, dumps: slices.Clone(g.dumps)}
	for i := range out.dumps {
		out.dumps[i].symbols = symbols
	}
	return out
}

// dumpSyms makes the symbol file of an emulated program by Mozilla's dump_syms; "" if there is no
// such tool.
func dumpSyms(t *testing.T, root, name string) string {
	t.Helper()
	tool, err := exec.LookPath("dump_syms")
	if err != nil {
		home, _ := os.UserHomeDir()
		if tool = filepath.Join(home, ".cargo/bin/dump_syms"); !exists(tool) {
			return ""
		}
	}
	var from string
	for _, ext := range []string{".dylib", ".dll"} {
		if path := filepath.Join(root, name+ext); exists(path) {
			from = path
		}
	}
	if dsym := from + ".dSYM"; exists(dsym) {
		from = dsym
	}
	dir := t.TempDir()
	if b, err := exec.Command(tool, "--inlines", "--store", dir, from).CombinedOutput(); err != nil {
		t.Logf("SKIPPED: dump_syms of %s: %v\n%s", from, err, b)
		return ""
	}
	syms, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.sym"))
	if len(syms) == 0 {
		return ""
	}
	return syms[0]
}

// walkedAs is the report of a dump by a policy, whatever its CPU.
func (o *oracleDump) walkedAs(t *testing.T, p walker.Policy) *report.Report {
	_, r := o.openedBy(t, session.Options{Policy: p, OpenBinary: readers.Open}, "mips", "mips64", "riscv64")
	return r
}

func (g *oracleGroup) score(t *testing.T, p walker.Policy) (sum oracleScore) {
	for i := range g.dumps {
		o := &g.dumps[i]
		r := o.walkedAs(t, p)
		if r == nil {
			t.Errorf("%s: no report", o.name)
			continue
		}
		for n := range r.Threads {
			th := &r.Threads[n]
			want, ok := o.frames[th.ID]
			if !ok {
				if want, ok = o.frames[0]; !ok || n != r.FirstThread {
					continue
				}
			}
			right, invented := o.score(th.Frames, want)
			sum.stacks++
			sum.known += len(want)
			sum.right += right
			sum.invented += invented
			if right == len(want) && invented == 0 {
				sum.whole++
			}
		}
	}
	return sum
}

// How many of the frames that an oracle knows each policy finds, and how many it invents. A line of
// the golden may only become better; those of programs whose symbols dump_syms makes are left alone
// where there is no dump_syms.
func TestOracles(t *testing.T) {
	const golden = "testdata/oracles.txt"
	policies := []walker.Policy{walker.Best, walker.Breakpad, walker.RustMinidump}
	header := fmt.Sprintf("%-38s %6s %6s", "oracle", "stacks", "known")
	for _, p := range policies {
		header += fmt.Sprintf("  %-22s", p.Name+": whole right invented")
	}
	lines := []string{strings.TrimRight(header, " ")}
	for _, g := range oracleGroups(t) {
		line := ""
		for _, p := range policies {
			s := g.score(t, p)
			if line == "" {
				line = fmt.Sprintf("%-38s %6d %6d", g.name, s.stacks, s.known)
			}
			if s.stacks == 0 {
				t.Errorf("%s: no stack was compared", g.name)
			}
			line += fmt.Sprintf("  %6d %6d %6d", s.whole, s.right, s.invented)
		}
		lines = append(lines, line)
	}
	if *updateOracles {
		if err := os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(b)) {
		want[groupOf(line)] = strings.TrimSpace(line)
	}
	seen := map[string]bool{}
	for _, line := range lines {
		name := groupOf(line)
		seen[name] = true
		if _, listed := want[name]; !listed && needsDumpSyms(name) {
			t.Logf("SKIPPED: %s has no line of %s; -update-oracles adds it", name, golden)
			continue
		}
		if w := want[name]; w != strings.TrimSpace(line) {
			t.Errorf("%s says\n%s\nit is\n%s", golden, w, line)
		}
	}
	for name := range want {
		if !seen[name] {
			if needsDumpSyms(name) {
				t.Logf("SKIPPED: %s, whose symbols dump_syms would make", name)
			} else {
				t.Errorf("%s was not compared", name)
			}
		}
	}
}

// needsDumpSyms: a line of the golden is about a program whose symbol file dump_syms makes.
func needsDumpSyms(name string) bool {
	return strings.HasPrefix(name, "deep-") && !strings.HasSuffix(name, "without symbols") && !strings.HasSuffix(name, withProgram)
}

func groupOf(line string) string { return strings.TrimSpace(line[:min(38, len(line))]) }

// Where no frame may follow: the outermost function of the first thread, whose rules Breakpad's
// dump_syms wrote as an ordinary function's, and rules that need no memory. Generated code outside
// of all modules is followed.
func TestNoFrameIsInvented(t *testing.T) {
	corpus(t) // skips where there is none
	large := parityCase{name: "bigcrash", dump: filepath.Join(corpusRoot, "large/bigcrash.dmp"),
		symbols: []string{filepath.Join(corpusRoot, "large/bigcrash.breakpad.sym.gz"), filepath.Join(corpusRoot, "large/libs")}}
	r := large.walked(t, walker.Best)
	th := &r.Threads[0]
	if last := &th.Frames[len(th.Frames)-1]; last.Function.Raw != "_start" || th.Stop.Kind != string(walker.StopEnd) {
		t.Errorf("bigcrash thread 0 ends with %s at 0x%x: %s", last.Function.Raw, last.PC, th.Stop.Detail)
	}
	for _, n := range []int{17, 18, 19, 20} {
		generated := 0
		for i := range r.Threads[n].Frames {
			if r.Threads[n].Frames[i].Module < 0 {
				generated++
			}
		}
		if generated < 6 {
			t.Errorf("bigcrash thread %d: %d frames of generated code", n, generated)
		}
	}
	endless := parityCase{name: "cfi_inf", dump: filepath.Join(corpusRoot, "hostile/s.dmp"), symbols: []string{filepath.Join(corpusRoot, "hostile/cfi_inf.sym")}}
	r = endless.walked(t, walker.Best)
	if th := &r.Threads[0]; len(th.Frames) > 1000 || th.Stop.Kind != string(walker.StopLeftStack) {
		t.Errorf("cfi_inf: %d frames, %s", len(th.Frames), th.Stop.Kind)
	}
}
