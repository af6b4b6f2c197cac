package main

// hot are the packages that parse, walk and move bytes. They are compiled as Go usually does; in all others calls are
// not inlined. Inlined copies are a good tenth of what the page has to fetch (1.63 MB against 1.49 MB at brotli 11), and in code that
// draws the page, prints a report or reads a small message they save no time that anyone could notice.
var hot = []string{
	"runtime", "internal/...", "sync", "sync/atomic",
	"bytes", "strconv", "strings", "slices", "sort", "maps", "cmp", "math", "math/bits", "unicode/utf8",
	"encoding/binary", "compress/flate", "hash/crc32", "bufio", "io",
	module + "/core", module + "/core/input", module + "/core/cpu",
	module + "/symfile", module + "/symfile/symbol", module + "/symfile/unwind",
	module + "/walker",
}

const module = "github.com/crashpane/crashpane"

// buildFlags are the flags of the page's program. No version control stamp goes in: the hash in the file's name is to
// change with the program, not with every commit.
func buildFlags() []string {
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, pkg := range hot {
		// Of several patterns that fit a package the last one counts.
		flags = append(flags, "-gcflags="+pkg+"=")
	}
	return flags
}
