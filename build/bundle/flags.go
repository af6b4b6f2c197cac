package main

// hot are the packages of the page's program whose speed matters: those that every allocation,
// collection and call to the browser uses. The compiler inlines calls in these only. With inlining
// everywhere a browser has to fetch 1.34 MB instead of 1.16 MB (brotli 11), and code that draws the
// page does not become measurably faster.
var hot = []string{
	"runtime", "internal/runtime/...", "internal/bytealg", "syscall/js",
	"bytes", "math/bits", "unicode/utf8",
	"encoding/binary",
}

// tags are the build tags. With the tag tinygo Vugu leaves out encoding/json (60 KB at brotli 11),
// which it needs to read the events of "@" listeners; this page has no such listeners. The tag
// changes no other package.
const tags = "-tags=tinygo"

// common are the flags of all programs. -buildvcs=false leaves out the commit, so that the hash in
// a program's name changes only if the program does.
var common = []string{tags, "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}

// cold are the packages of the engine's program that work on a name at a time, or on what is shown.
// Without inlining in them it has 92 KB less at brotli 11.
var cold = []string{
	"github.com/crashpane/crashpane/symfile/demangle/...", "github.com/ianlancetaylor/demangle",
	"github.com/crashpane/crashpane/walker/report/...", "github.com/crashpane/crashpane/wasm/engine",
}

// engineFlags are the flags of the engine's program. It reads megabytes, so speed matters more than
// size: calls are inlined in all packages but those.
func engineFlags() []string {
	flags := common[:len(common):len(common)]
	for _, pkg := range cold {
		flags = append(flags, "-gcflags="+pkg+"=-l")
	}
	return flags
}

// buildFlags are the flags of the page's program.
func buildFlags() []string {
	flags := append(common[:len(common):len(common)], "-gcflags=all=-l")
	for _, pkg := range hot {
		// The last pattern that matches a package counts (go help build, -gcflags).
		flags = append(flags, "-gcflags="+pkg+"=")
	}
	return flags
}
