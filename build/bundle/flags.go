package main

// hot are the packages that parse and move bytes by the megabyte, and what every allocation, collection and call to the browser goes through. They are compiled as Go usually does; in all others calls are
// not inlined. Inlined copies are a good tenth of what the page has to fetch (1.63 MB against 1.49 MB at brotli 11), and in code that
// draws the page, prints a report or reads a small message they save no time that anyone could notice.
var hot = []string{
	"runtime", "internal/runtime/...", "internal/bytealg", "syscall/js",
	"bytes", "math/bits", "unicode/utf8",
	"encoding/binary", "compress/flate", "hash/crc32",
	module + "/core/input",
	module + "/symfile", module + "/symfile/symbol",
}

const module = "github.com/crashpane/crashpane"

// tags: tinygo is Vugu's own switch for small programs: it leaves out encoding/json, with which Vugu otherwise reads the events of its "@"
// listeners, of which this page has none (60 KB at brotli 11). In no other package does the tag change anything.
const tags = "-tags=tinygo"

// common flags: no version control stamp goes in, since the hash in the file's name is to change with the program and not with every
// commit.
var common = []string{tags, "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}

// fullFlags are the flags of the engine with all readers: whoever waits for it has megabytes to read, so everything in it is compiled
// as Go usually does.
func fullFlags() []string { return common }

// buildFlags are the flags of the page's program.
func buildFlags() []string {
	flags := append(common[:len(common):len(common)], "-gcflags=all=-l")
	for _, pkg := range hot {
		// Of several patterns that fit a package the last one counts.
		flags = append(flags, "-gcflags="+pkg+"=")
	}
	return flags
}
