//go:build unix

// Command peers compares the time of `crashpane walk` with that of other stack walkers on the same
// files, and prints the ratios. It times whole processes, from the start to the last byte of
// output, and runs the tools in turn. It skips a tool that is not installed, with a message.
//
// It also compares `crashpane dumpsyms` with Mozilla's dump_syms on one thread (dumpsyms.go).
//
//	peers [-n runs] [-corpus DIR] [-generated DIR] [-dump FILE -symbols DIR] [-binary FILE]
package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// tool is a program that walks a dump.
type tool struct {
	name string
	bin  string
	args func(dump string, symbols []string) []string
	// heavy is set for a tool that takes gigabytes of memory, so that the system may drop the
	// others' files from its cache. It runs after the others.
	heavy bool
}

var tools = []tool{
	{name: "crashpane", bin: "dist/bin/crashpane", args: func(d string, s []string) []string {
		return append([]string{"walk", "--format", "json", d}, s...)
	}},
	{name: "rust-minidump", bin: "minidump-stackwalk", args: func(d string, s []string) []string {
		return append([]string{"--json", "--no-interactive", d}, s...)
	}},
	// The npm package minidump 0.26.0 contains the program.
	{name: "breakpad", bin: "minidump_stackwalk", heavy: true, args: func(d string, s []string) []string { return append([]string{"-m", d}, s...) }},
}

// bench is a dump with its symbols.
type bench struct {
	name, dump string
	symbols    []string
}

func main() {
	runs := flag.Int("n", 5, "runs of each")
	corpus := flag.String("corpus", "../shared/corpus", "folder with large/bigcrash.dmp; skipped if it does not exist")
	generated := flag.String("generated", "", "folder whose subfolders have a dump and its symbol files each, as make bench generates them")
	dump := flag.String("dump", "", "another dump to time, with -symbols")
	binary := flag.String("binary", "", "another binary to make a symbol file of")
	symbols := flag.String("symbols", "", "folder with the symbol files of -dump, as <name>/<id>/<name>.sym")
	flag.Parse()
	dir, err := os.MkdirTemp("", "crashpane-peers-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(*runs, *corpus, *generated, *dump, *symbols, dir)
	}
	if err == nil {
		err = runDumpsyms(*runs, *binary, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(runs int, corpus, generated, dump, symbols, dir string) error {
	benches := []bench{}
	sample, err := store(dir, "sample", map[string]string{
		"tilecruncher": "testdata/sample/tilecruncher.sym.gz", "libtilecodec.so": "testdata/sample/libtilecodec.so.sym",
		"libc.so.6": "testdata/sample/libc.so.6.sym.gz"})
	if err != nil {
		return err
	}
	benches = append(benches, bench{"sample", "testdata/sample/tilecruncher.dmp", []string{sample}})
	large := filepath.Join(corpus, "large")
	if _, err := os.Stat(large); err == nil {
		syms, err := store(dir, "large", map[string]string{"bigcrash": filepath.Join(large, "bigcrash.mozilla.sym.gz")})
		if err != nil {
			return err
		}
		benches = append(benches, bench{"large (82 MB of symbols, 31 threads)", filepath.Join(large, "bigcrash.dmp"), []string{syms, filepath.Join(large, "libs")}})
	} else {
		fmt.Println("SKIPPED: there is no", large, "- the large case is not timed")
	}
	dumps, _ := filepath.Glob(filepath.Join(generated, "*", "*.dmp"))
	if generated == "" || len(dumps) == 0 {
		fmt.Println("SKIPPED: no generated files are named by -generated - large symbol files are not timed")
		dumps = nil
	}
	for _, d := range dumps {
		benches = append(benches, bench{"generated (" + sizeOf(filepath.Dir(d)) + ")", d, []string{filepath.Dir(d)}})
	}
	if dump != "" {
		benches = append(benches, bench{filepath.Base(dump) + " (" + sizeOf(symbols) + " of symbols)", dump, []string{symbols}})
	}
	here := installed(tools)
	for _, b := range benches {
		if err := compare(b, here, runs); err != nil {
			return err
		}
	}
	return nil
}

// installed returns the tools that are installed, and prints which are not.
func installed(tools []tool) (here []tool) {
	for _, t := range tools {
		if path, err := exec.LookPath(t.bin); err == nil || errors.Is(err, exec.ErrDot) {
			t.bin = path
			here = append(here, t)
		} else {
			fmt.Printf("SKIPPED: %s is not installed; nothing is compared with it\n", t.name)
		}
	}
	return here
}

// sizeOf returns the size of all files in a folder as a text.
func sizeOf(dir string) string {
	var n int64
	filepath.WalkDir(dir+"/.", func(path string, d fs.DirEntry, err error) error { // with "/." a link to a folder is followed
		if err == nil && !d.IsDir() {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
		}
		return nil
	})
	return fmt.Sprintf("%d MB", n/1e6)
}

// compare runs the tools in turn, so that other work of the machine slows all of them alike, and
// heavy ones after the others.
func compare(b bench, tools []tool, runs int) error {
	times := make([][]time.Duration, len(tools))
	cpu := make([][]time.Duration, len(tools))
	memory := make([]int64, len(tools))
	failed := make([]error, len(tools))
	run := func(i int) {
		if failed[i] != nil {
			return
		}
		cmd := exec.Command(tools[i].bin, tools[i].args(b.dump, b.symbols)...)
		cmd.Stdout = io.Discard
		start := time.Now()
		if failed[i] = cmd.Run(); failed[i] != nil {
			return
		}
		times[i] = append(times[i], time.Since(start))
		cpu[i] = append(cpu[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			memory[i] = max(memory[i], u.Maxrss)
		}
	}
	for _, heavy := range []bool{false, true} {
		for range runs {
			for i, t := range tools {
				if t.heavy == heavy {
					run(i)
				}
			}
		}
	}
	if failed[0] != nil {
		return fmt.Errorf("%s: %w", tools[0].name, failed[0])
	}
	fmt.Printf("\n%s\n", b.name)
	ours := median(times[0])
	for i, t := range tools {
		if failed[i] != nil { // usually another program with this name
			fmt.Printf("  SKIPPED: %s fails: %v\n", t.name, failed[i])
			continue
		}
		m := median(times[i])
		fmt.Printf("  %-14s %8.1f ms (min %.1f, on the CPU %.1f)  %6.1f MB", t.name, ms(m), ms(slices.Min(times[i])), ms(slices.Min(cpu[i])), float64(memory[i])/1024)
		if i > 0 {
			fmt.Printf("   %.2f × ours, on the CPU %.2f", float64(m)/float64(ours), float64(slices.Min(cpu[i]))/float64(slices.Min(cpu[0])))
		}
		fmt.Println()
	}
	return nil
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// store puts symbol files into a folder where every tool finds them: <name>/<id>/<name>.sym.
func store(dir, name string, files map[string]string) (string, error) {
	root := filepath.Join(dir, name)
	for debugFile, path := range files {
		if err := put(root, debugFile, path); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return root, nil
}

func put(root, debugFile, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	var system, arch, id string
	if _, err := fmt.Sscanf(string(head[:n]), "MODULE %s %s %s", &system, &arch, &id); err != nil {
		return err
	}
	folder := filepath.Join(root, debugFile, id)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(folder, debugFile+".sym"))
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := out.Write(head[:n]); err != nil {
		return err
	}
	if _, err := io.Copy(out, r); err != nil {
		return err
	}
	return out.Close()
}
