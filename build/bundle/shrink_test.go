package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// small is a program that uses the parts that shrink rewrites: its data, and the tables that the
// garbage collector, a growing stack, a recovered panic and a traceback read.
const small = `package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

var words = strings.Fields("a table in the data")

//go:noinline
func deep(n int) int {
	var room [64]int
	if n == 0 {
		runtime.GC()
		return 0
	}
	room[n%64] = n
	return room[n%64] - n + deep(n-1)
}

func recovered() (why any) {
	defer func() { why = recover() }()
	var p *int
	return *p
}

//go:noinline
func end(why string) {
	panic(why)
}

func main() {
	fmt.Println(words, deep(5000), recovered())
	for range 3 {
		defer fmt.Println("deferred")
	}
	pc, _, line, _ := runtime.Caller(0)
	fmt.Println(runtime.FuncForPC(pc).Name(), line)
	if len(os.Args) > 0 {
		end("the end")
	}
}
`

func TestShrunkProgramRuns(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: there is no starting of programs here")
	}
	if testing.Short() {
		t.Skip("*** SKIPPED: -short leaves out compiling a program")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("*** SKIPPED: no node to run a program with")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module small\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := buildWasm(dir, ".", filepath.Join(dir, "small.wasm"), buildFlags())
	if err != nil {
		t.Fatal(err)
	}
	after, err := shrink(before)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "shrunk.wasm")
	if err := os.WriteFile(name, after, 0o644); err != nil {
		t.Fatal(err)
	}
	goroot, err := goRoot()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(node, filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"), name)
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	text, _ := run.CombinedOutput()
	for _, want := range []string{
		"[a table in the data] 0 runtime error: invalid memory address or nil pointer dereference",
		"main.main 0",
		"deferred\ndeferred\ndeferred\npanic: the end",
		"main.end()", // without its argument
		"main.main()",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the program does not say %q but:\n%s", want, text)
		}
	}
	sections, err := splitSections(after)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if s.id == dataSection && bytes.Count(s.body, []byte{0, opConst}) > 2000 {
			t.Error("there are as many segments as before")
		}
	}
	again, err := shrink(after)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, after) {
		t.Error("shrinking what is small changes it")
	}
}

func TestSegments(t *testing.T) {
	image := make([]byte, 5000)
	copy(image[100:], "first")
	copy(image[100+minGap:], "near")
	copy(image[4000:], "far")
	read, err := readSegments(writeSegments(image))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read, image[:4003]) {
		t.Error("memory is not as it was")
	}
	if n := writeSegments(image)[0]; n != 2 {
		t.Errorf("%d segments, want 2", n)
	}
}

func TestShrinkRefuses(t *testing.T) {
	data := func(body string) string { return wasmHead + "\x0b" + string(rune(len(body))) + body }
	for name, wasm := range map[string]string{
		"no program":                "text",
		"a section that is cut":     wasmHead + "\x0b\x7f\x00",
		"no data":                   wasmHead,
		"a segment that is cut":     data("\x01\x00\x41\x00\x0b\x09abc"),
		"a passive segment":         data("\x01\x01\x03abc"),
		"an address from a global":  data("\x01\x00\x23\x00\x0b\x03abc"),
		"an address without an end": data("\x01\x00\x41\xff\xff\xff"),
		"no table of functions":     data("\x01\x00\x41\x00\x0b\x03abc"),
		"a table that is cut":       data("\x01\x00\x41\x00\x0b\x08" + tableMagic),
	} {
		if _, err := shrink([]byte(wasm)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
