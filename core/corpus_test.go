package core

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// corpusDir is the corpus of other projects' dumps beside the module's root. It is no part of this
// repository.
const corpusDir = "../../shared/corpus"

// corpusDumps are the corpus' dumps and the folder of their reference outputs; the test is skipped
// if there is no corpus.
func corpusDumps(t testing.TB) map[string]string {
	dumps := map[string]string{}
	for pattern, golden := range map[string]string{
		"*/dumps/*.dmp":   "golden",
		"chromium/*.dmp":  "chromium",
		"large/*.dmp":     "large/golden",
		"other/*/*.dmp":   "",
		"other/*/*/*.dmp": "",
	} {
		found, _ := filepath.Glob(filepath.Join(corpusDir, pattern))
		for _, f := range found {
			if !strings.HasPrefix(filepath.Base(f), "microdump-") { // those are texts
				dumps[f] = filepath.Join(corpusDir, golden)
			}
		}
	}
	if len(dumps) == 0 {
		t.Skip("SKIPPED: no corpus at " + corpusDir + " (beside the repository): nothing is compared with the peers")
	}
	return dumps
}

func openFile(t testing.TB, path string) (*Dump, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Open(input.New(filepath.Base(path), bytes.NewReader(data), int64(len(data))))
}

// golden reads a reference output, unpacked; nil if there is none. The large case has one per
// symbol file.
func golden(dir, name, suffix string) []byte {
	for _, n := range []string{name + suffix, name + ".breakpad" + suffix + ".gz"} {
		data, err := os.ReadFile(filepath.Join(dir, n))
		if err == nil && strings.HasSuffix(n, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				data, err = io.ReadAll(z)
			}
		}
		if err == nil {
			return data
		}
	}
	return nil
}

// rustGolden is what rust-minidump's JSON says of the things that core knows.
type rustGolden struct {
	PID     *uint32 `json:"pid"`
	Uptime  *uint64 `json:"process_uptime"`
	Maps    *int    `json:"linux_memory_map_count"`
	Threads []struct {
		ID   uint32  `json:"thread_id"`
		Name *string `json:"thread_name"`
	} `json:"threads"`
	Crashing *struct {
		Index  int `json:"threads_index"`
		Frames []struct {
			Registers map[string]string `json:"registers"`
		} `json:"frames"`
	} `json:"crashing_thread"`
	RawSystem map[string]any `json:"system_info"`
	Modules   []rustModule   `json:"modules"`
	Unloaded  []rustModule   `json:"unloaded_modules"`
	LSB       map[string]any `json:"lsb_release"`
}

type rustModule struct {
	Base      string  `json:"base_addr"`
	End       string  `json:"end_addr"`
	Filename  string  `json:"filename"`
	DebugFile *string `json:"debug_file"`
	DebugID   *string `json:"debug_id"`
	CodeID    *string `json:"code_id"`
	Version   *string `json:"version"`
}

func str(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// TestCorpusAgainstRust compares everything that core reads and rust-minidump's JSON prints.
func TestCorpusAgainstRust(t *testing.T) {
	dumps := corpusDumps(t)
	n, fields, modules := 0, 0, 0
	for path, dir := range dumps {
		name := strings.TrimSuffix(filepath.Base(path), ".dmp")
		text := golden(dir, name, ".rust.json")
		if text == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var g rustGolden
			if err := json.Unmarshal(text, &g); err != nil {
				t.Fatal(err)
			}
			d, err := openFile(t, path)
			if err != nil {
				t.Fatal(err)
			}
			same := func(what string, got, want any) {
				fields++
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, rust-minidump has %v", what, got, want)
				}
			}
			n++
			w := d.SystemWords()
			sys := func(key string) string {
				if v := g.RawSystem[key]; v != nil {
					return fmt.Sprint(v)
				}
				return ""
			}
			same("os", w.OS.Rust, sys("os"))
			same("os_ver", w.OSVersion.Rust, sys("os_ver"))
			same("cpu_arch", w.CPU.Rust, sys("cpu_arch"))
			same("cpu_info", w.CPUInfo.Rust, sys("cpu_info"))
			same("cpu_count", w.CPUCount, sys("cpu_count"))
			micro := ""
			if w.Microcode != nil {
				micro = fmt.Sprintf("0x%x", *w.Microcode)
			}
			same("microcode", micro, sys("cpu_microcode_version"))
			same("pid", deref(d.PID()), deref(g.PID))
			same("uptime", deref(d.UptimeRust()), deref(g.Uptime))
			if g.Maps != nil {
				same("maps", len(d.Linux.Maps), *g.Maps)
			}
			same("threads", len(d.Threads), len(g.Threads))
			for i := range min(len(d.Threads), len(g.Threads)) {
				same("thread id", d.Threads[i].ID, g.Threads[i].ID)
				same("thread name", d.Threads[i].Name, str(g.Threads[i].Name))
			}
			if dist := d.Linux.Distribution; g.LSB != nil {
				same("lsb id", dist.ID, g.LSB["id"])
				same("lsb release", dist.Release, g.LSB["release"])
				same("lsb codename", dist.Codename, g.LSB["codename"])
				same("lsb description", dist.Description, g.LSB["description"])
			}
			compareRustModules(t, d, g, same)
			modules += len(g.Modules)
			compareRegisters(t, d, g, same)
		})
	}
	t.Logf("compared with rust-minidump: %d dumps, %d fields, %d modules", n, fields, modules)
}

func deref[T any](p *T) any {
	if p == nil {
		return "none"
	}
	return *p
}

// compareRustModules compares the module list. The JSON has it in order of address, without modules
// that overlap an earlier one or have no size.
func compareRustModules(t *testing.T, d *Dump, g rustGolden, same func(string, any, any)) {
	byRange := map[string]*Module{}
	for i := range d.Modules {
		m := &d.Modules[i]
		byRange[fmt.Sprintf("%x-%x", m.Base, m.End())] = m
	}
	for _, gm := range g.Modules {
		var base, end uint64
		fmt.Sscanf(gm.Base, "0x%x", &base)
		fmt.Sscanf(gm.End, "0x%x", &end)
		m := byRange[fmt.Sprintf("%x-%x", base, end)]
		if m == nil {
			t.Errorf("no module %s-%s %s", gm.Base, gm.End, gm.Filename)
			continue
		}
		what := "module " + gm.Filename + " "
		same(what+"filename", FileName(m.Name), FileName(gm.Filename))
		same(what+"debug_file", FileName(m.DebugFileRust()), FileName(str(gm.DebugFile)))
		same(what+"debug_id", m.DebugIDRust(), str(gm.DebugID))
		same(what+"code_id", m.CodeIDRust(), str(gm.CodeID))
		same(what+"version", m.VersionRust(), str(gm.Version))
	}
	if len(g.Unloaded) > 0 {
		same("unloaded modules", len(d.Unloaded), len(g.Unloaded))
	}
	have := map[string]bool{}
	for i := range d.Unloaded {
		u := &d.Unloaded[i]
		have[fmt.Sprintf("%x %s %s", u.Base, u.Name, u.CodeID())] = true
	}
	for _, gu := range g.Unloaded {
		var base uint64
		fmt.Sscanf(gu.Base, "0x%x", &base)
		key := fmt.Sprintf("%x %s %s", base, gu.Filename, str(gu.CodeID))
		same("unloaded module "+key, have[key], true)
	}
}

// compareRegisters compares the crashed thread's context.
func compareRegisters(t *testing.T, d *Dump, g rustGolden, same func(string, any, any)) {
	if g.Crashing == nil || len(g.Crashing.Frames) == 0 {
		return
	}
	c, err := d.ExceptionContext()
	if err != nil {
		if c, err = d.ThreadContext(g.Crashing.Index); err != nil {
			t.Errorf("no context: %v", err)
			return
		}
	}
	for name, text := range g.Crashing.Frames[0].Registers {
		var want uint64
		fmt.Sscanf(text, "0x%x", &want)
		r, ok := c.Arch.Lookup(name)
		if !ok {
			t.Errorf("no register %s", name)
			continue
		}
		got, _ := c.Regs.Get(r)
		same("register "+name, fmt.Sprintf("%#x", got), fmt.Sprintf("%#x", want))
	}
	if !c.Regs.AllKnown() {
		t.Error("not all registers are known")
	}
}

// TestCorpusAgainstBreakpad compares the OS, CPU and Module lines of Breakpad's machine output, and
// its text's uptime.
func TestCorpusAgainstBreakpad(t *testing.T) {
	dumps := corpusDumps(t)
	n, fields, modules := 0, 0, 0
	for path, dir := range dumps {
		name := strings.TrimSuffix(filepath.Base(path), ".dmp")
		text := golden(dir, name, ".breakpad-m.txt")
		if text == nil {
			continue
		}
		human := golden(dir, name, ".breakpad.txt")
		t.Run(name, func(t *testing.T) {
			d, err := openFile(t, path)
			if err != nil {
				t.Fatal(err)
			}
			n++
			same := func(what string, got, want any) {
				fields++
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, Breakpad has %v", what, got, want)
				}
			}
			byName := map[string]*Module{}
			for i := range d.Modules {
				m := &d.Modules[i]
				key := fmt.Sprintf("%s 0x%08x", FileName(m.Name), m.End()-1)
				if byName[key] == nil {
					byName[key] = m
				}
			}
			w := d.SystemWords()
			for line := range strings.Lines(string(text)) {
				f := strings.Split(strings.TrimRight(line, "\n"), "|")
				switch f[0] {
				case "OS":
					same("os", w.OS.Breakpad, f[1])
					same("os version", w.OSVersion.Breakpad, f[2])
				case "CPU":
					same("cpu", w.CPU.Breakpad, f[1])
					same("cpu info", w.CPUInfo.Breakpad, f[2])
					same("cpu count", w.CPUCount, f[3])
				case "Module":
					modules++
					var end uint64
					fmt.Sscanf(f[6], "0x%x", &end)
					m := byName[fmt.Sprintf("%s 0x%08x", f[1], end)]
					if m == nil { // an overlapping module is cut short by Breakpad
						t.Logf("module %s ends elsewhere: %s", f[1], f[6])
						continue
					}
					same(f[1]+" version", m.VersionBreakpad(), f[2])
					same(f[1]+" debug file", FileName(m.DebugFileBreakpad()), f[3])
					same(f[1]+" debug id", m.DebugIDBreakpad(), f[4])
				}
			}
			for line := range strings.Lines(string(human)) {
				if up, ok := strings.CutPrefix(line, "Process uptime: "); ok {
					got := "not available"
					if u := d.UptimeBreakpad(); u != nil {
						got = fmt.Sprintf("%d seconds", *u)
					}
					same("uptime", got, strings.TrimSpace(up))
				}
			}
		})
	}
	t.Logf("compared with Breakpad: %d dumps, %d fields, %d modules", n, fields, modules)
}

// TestCorpusOpens opens everything and reads every context and stack; what is wrong in a dump is
// listed with -v.
func TestCorpusOpens(t *testing.T) {
	paths := []string{}
	for p := range corpusDumps(t) {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	opened, contexts, refused := 0, 0, 0
	for _, p := range paths {
		d, err := openFile(t, p)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		opened++
		for _, diag := range d.Diags {
			t.Logf("%d %v", diag.Severity, diag.Err)
		}
		for i := range d.Threads {
			if _, err := d.ThreadContext(i); err != nil {
				refused++
				t.Logf("%v", err)
			} else {
				contexts++
			}
			if d.ThreadStack(i) == nil {
				t.Logf("%s: thread %d has no stack", p, i)
			}
		}
	}
	t.Logf("%d of %d dumps opened, %d thread contexts read, %d refused", opened, len(paths), contexts, refused)
	if opened < 50 || contexts < 140 {
		t.Errorf("only %d dumps were opened, with %d contexts", opened, contexts)
	}
}
