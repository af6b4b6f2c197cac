// Command instructions compares how core/disasm reads the code of ELF files with what llvm-objdump
// says: how many instructions it cannot read, where lengths and targets differ.
//
//	go run ./build/instructions [-objdump llvm-objdump] [-show 20] [-sample] [-functions] FILE…
//
// Compilers and assemblers put data into .text, which both programs decode: -functions leaves out what no function of the
// unwind sections covers.
package main

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
)

var (
	objdump = flag.String("objdump", "llvm-objdump", "the `program` to compare with; GNU's objdump works, too")
	show    = flag.Int("show", 0, "print up to `n` instructions of each kind of difference")
	covered = flag.Bool("functions", false, "only the code of functions that .eh_frame has")
	sample  = flag.Bool("sample", false, "print the first instruction of each name, as a row of core/disasm/testdata/instructions.tsv")
)

func main() {
	flag.Parse()
	for _, path := range flag.Args() {
		c, err := compare(path)
		if err != nil {
			log.Fatal(err)
		}
		if !*sample {
			fmt.Printf("%s: %d instructions, %d cannot be read, %d lengths and %d of %d targets differ\n", path, c.all, c.unread, c.lengths, c.wrong, c.targets)
		}
	}
}

// comparison counts instructions.
type comparison struct {
	all, unread, lengths, targets, wrong int
	names                                map[string]bool
	functions                            func(at uint64) bool // whether the address is in one; nil: all are
}

// functionsOf returns a function that reports whether an address is in a function of a file's unwind sections.
func functionsOf(path string) (func(at uint64) bool, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := binary.Open(input.FromBytes(path, src))
	if err != nil {
		return nil, err
	}
	var last symbol.Range
	return func(at uint64) bool {
		if at-last.Start >= last.Size {
			if code, ok, err := f.Function(at); ok && err == nil {
				last = code
			}
		}
		return at-last.Start < last.Size
	}, nil
}

// row is a line of objdump: an address, and the instruction there.
var row = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S.*)`)

// data is what objdump prints of data: its bytes.
var data = regexp.MustCompile(`^[0-9a-f]{2}(\s|$)`)

func compare(path string) (*comparison, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := f.Section(".text")
	bits := map[elf.Class]int{elf.ELFCLASS32: 32, elf.ELFCLASS64: 64}[f.Class]
	arch := cpu.ByELF(uint16(f.Machine), bits, 0)
	if text == nil || arch == nil {
		return nil, fmt.Errorf("%s: no code of a known processor", path)
	}
	code, err := text.Data()
	if err != nil {
		return nil, err
	}
	command := exec.Command(*objdump, "-d", "-z", "--no-show-raw-insn", "-M", "intel", "--section=.text", path)
	if arch.Instructions != cpu.DecodedX86 {
		command = exec.Command(*objdump, "-d", "-z", "--no-show-raw-insn", "--section=.text", path)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &comparison{names: map[string]bool{}}
	if *covered {
		if c.functions, err = functionsOf(path); err != nil {
			return nil, err
		}
	}
	at, words := uint64(0), ""
	for s := bufio.NewScanner(out); s.Scan(); {
		found := row.FindStringSubmatch(s.Text())
		if found == nil {
			continue
		}
		next, _ := strconv.ParseUint(found[1], 16, 64)
		if words != "" && next > at && next-text.Addr <= uint64(len(code)) {
			c.one(f, arch, code[at-text.Addr:], at, int(next-at), words)
		}
		at, words = next, found[2]
	}
	return c, command.Wait()
}

// one compares the instruction at an address, which has n bytes and is written as words.
func (c *comparison) one(f *elf.File, arch *cpu.Arch, code []byte, at uint64, n int, words string) {
	name, _, _ := strings.Cut(words, " ")
	name, _, _ = strings.Cut(name, "\t")
	if data.MatchString(words) || strings.HasPrefix(name, "<unknown") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "(bad") {
		return
	}
	if c.functions != nil && !c.functions(at) {
		return
	}
	c.all++
	in := disasm.Decode(arch, code[:min(len(code), disasm.Longest)], at, f.ByteOrder, false)
	say := func(count *int, what string) {
		if *count++; *count <= *show {
			fmt.Printf("  0x%x % x: %s: %q of %d bytes, %q of %d\n", at, code[:min(n, disasm.Longest)], what, in.Text, in.Len, words, n)
		}
	}
	switch {
	case in.Text == "":
		say(&c.unread, "not read")
	// llvm-objdump writes some prefixes as instructions of their own.
	case in.Len != n && name != "lock" && name != "rep" && name != "repne":
		say(&c.lengths, "length")
	case *sample && !c.names[name]:
		c.names[name] = true
		fmt.Printf("%s\t%s\t%s\n", arch.Name, hex.EncodeToString(code[:n]), in.Text)
	}
	if in.HasTarget {
		if c.targets++; !strings.Contains(words, strconv.FormatUint(in.Target, 16)) {
			say(&c.wrong, "target")
		}
	}
}
