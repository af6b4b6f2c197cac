// Command bigsym writes a Breakpad symbol file of any size, like those that dump_syms writes of
// large programs, and a minidump (Linux amd64) of the program. The file's STACK CFI records suffice
// to walk each stack of the dump to its end. The same arguments give the same bytes.
//
//	bigsym [-size 1G] [-threads 32] [-frames 60] -out DIR     DIR/big.sym, DIR/big.dmp
//	bigsym … -dump NAME -out DIR                              DIR/NAME only, another dump for the same symbol file
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/dumptest"
)

func main() {
	size := flag.String("size", "1G", "of the symbol file: bytes, or with K, M, G")
	threads := flag.Int("threads", 32, "threads of the dump")
	frames := flag.Int("frames", 60, "frames of each thread")
	name := flag.String("dump", "", "write only a dump of this name")
	out := flag.String("out", "", "folder to write to")
	flag.Parse()
	n, err := parseSize(*size)
	if err == nil && *out == "" {
		err = fmt.Errorf("-out is missing")
	}
	if err == nil {
		err = write(*out, *name, n, *threads, *frames)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigsym:", err)
		os.Exit(1)
	}
}

func parseSize(s string) (int64, error) {
	unit := int64(1)
	if i := strings.IndexAny(s, "KMG"); i >= 0 {
		unit = map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[s[i]]
		s = s[:i]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("-size: %q is not a size like 100M", s)
	}
	return n * unit, nil
}

const debugID = "0BADCAFE5EEDF00D0123456789ABCDEF0"

// idBytes are the bytes of the build id that Breakpad turns into debugID: it reads them as a GUID,
// whose first three fields are little-endian, and appends the age 0.
var idBytes = []byte{0xfe, 0xca, 0xad, 0x0b, 0xed, 0x5e, 0x0d, 0xf0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}

// function is a function of the program.
type function struct {
	start, size uint32
	frame       uint32 // the frame's size in bytes, from the stack pointer after the prologue to the CFA
}

// perFunction is about how many bytes of the file a function's records take.
const perFunction = 1340

func write(dir, only string, size int64, threads, frames int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	funcs := make([]function, max(size/perFunction, 100))
	at := uint32(0x1000)
	for i := range funcs {
		funcs[i] = function{start: at, size: uint32(64 + rng.IntN(48)*8), frame: uint32(16 + 16*rng.IntN(24))}
		at += funcs[i].size
	}
	name := only
	if name == "" {
		name = "big.dmp"
		if err := writeSymbols(filepath.Join(dir, "big.sym"), funcs, rng); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, name), dump(funcs, at, threads, frames, rand.New(rand.NewPCG(2, 2))), 0o644)
}

// The functions' names are made of these words.
var words = strings.Fields("arena batch cache device encode frame graph handle index job kernel layer memory node object page queue render " +
	"scene table update vector window buffer codec event filter glyph input locale mutex parse route script token value")

func writeSymbols(path string, funcs []function, rng *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	word := func() string { return words[rng.IntN(len(words))] }
	files, origins := max(len(funcs)/13, 10), max(len(funcs)*27/10, 10)
	fmt.Fprintf(w, "MODULE Linux x86_64 %s big\nINFO CODE_ID %X\n", debugID, idBytes)
	for i := range files {
		fmt.Fprintf(w, "FILE %d /build/src/%s/%s/%s_%d.cc\n", i, word(), word(), word(), i)
	}
	for i := range origins {
		fmt.Fprintf(w, "INLINE_ORIGIN %d %s::%s<%s::%s, %s>::%s_%s(%s::%s const&, unsigned long)\n", i, word(), word(), word(), word(),
			word(), word(), word(), word(), word())
	}
	// As in real programs, a few functions are inlined everywhere, and most of the inlined ones
	// once or twice.
	origin := func() int { r := rng.Float64(); return int(float64(origins) * r * r * r) }
	for i := range funcs {
		fn := &funcs[i]
		fmt.Fprintf(w, "FUNC %x %x 0 %s::%s::%s_%s(%s::%s*, %s) #%d\n", fn.start, fn.size, word(), word(), word(), word(), word(), word(), word(), i)
		file := rng.IntN(files)
		for level, from, to := 0, fn.start+8, fn.start+fn.size; level < 1+rng.IntN(5) && to-from > 24; level++ {
			for part, half := 0, (to-from)/3; part < 3; part++ {
				fmt.Fprintf(w, "INLINE %d %d %d %d %x %x\n", level, 1+rng.IntN(4000), file, origin(), from+uint32(part)*half, half-uint32(level))
			}
			to -= (to - from) / 3
		}
		for a := fn.start; a < fn.start+fn.size; {
			n := min(uint32(4+rng.IntN(12)), fn.start+fn.size-a)
			fmt.Fprintf(w, "%x %x %d %d\n", a, n, 1+rng.IntN(4000), (file+rng.IntN(3))%files)
			a += n
		}
	}
	for i := 0; i < len(funcs); i += 50 {
		fmt.Fprintf(w, "PUBLIC %x 0 %s_%s_%d\n", funcs[i].start, word(), word(), i)
	}
	for i := range funcs {
		fn := &funcs[i]
		fmt.Fprintf(w, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", fn.start, fn.size)
		fmt.Fprintf(w, "STACK CFI %x .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n", fn.start+1)
		fmt.Fprintf(w, "STACK CFI %x .cfa: $rsp 24 + $rbx: .cfa -24 + ^\n", fn.start+2)
		fmt.Fprintf(w, "STACK CFI %x .cfa: $rsp %d +\n", fn.start+4, fn.frame)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// dump returns the minidump, in which the first thread has crashed.
func dump(funcs []function, end uint32, threads, frames int, rng *rand.Rand) []byte {
	const base = 0x555500000000
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(base, end+0x1000, "/opt/big/big", dumptest.ELF(idBytes))
	for t := range threads {
		sp := uint64(0x7f0000000000) + uint64(t)<<24
		var mem []byte
		fn := &funcs[rng.IntN(len(funcs))]
		rip := base + uint64(fn.start) + 8 + uint64(rng.IntN(int(fn.size)-16))
		for i := range frames {
			block := make([]byte, fn.frame)
			if i+1 < frames {
				fn = &funcs[rng.IntN(len(funcs))]
				binary.LittleEndian.PutUint64(block[len(block)-8:], base+uint64(fn.start)+9+uint64(rng.IntN(int(fn.size)-16)))
			}
			mem = append(mem, block...)
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": rip, "rsp": sp})
		d.Thread(uint32(100+t), ctx, sp, append(mem, make([]byte, 64)...))
		if t == 0 {
			d.Exception(100, 11, 1, 0x10, ctx)
		}
	}
	return d.Bytes()
}
