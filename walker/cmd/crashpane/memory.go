package main

import (
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var memoryCommand = command{
	name:  "memory",
	line:  "memory [--size N] [--words] [--format text|json] DUMP ADDRESS [SYMBOLS…] | memory --find WHAT DUMP [SYMBOLS…] | memory --stack THREAD DUMP [SYMBOLS…]",
	about: "print the process's memory at an address, or find bytes, text and pointers in it",
	help: `Prints the memory at an address (0x7ffe1000), from the dump, or where the dump lacks it from the programs among SYMBOLS. --words
prints one word per line, with what it points to: a function, a thread's stack and frame, a range of the memory map, and with --private
the text there.

--find searches all memory of the dump and prints a line for each place, with the range that it is in. WHAT is text:TEXT, in UTF-8 and
in UTF-16; hex:BYTES; or pointer:ADDRESS.

--stack prints the words of a thread's stack, frame by frame: return addresses, saved registers, what a scan passed over and why, and
what the other words point to. Threads count from 0.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var m memoryRun
		fs.IntVar(&m.size, "size", 256, "`number` of bytes")
		fs.BoolVar(&m.words, "words", false, "one word per line, with what it points to")
		fs.BoolVar(&m.private, "private", false, "also print the texts that words point to")
		fs.StringVar(&m.find, "find", "", "`what` to find: text:TEXT, hex:BYTES or pointer:ADDRESS")
		fs.IntVar(&m.stack, "stack", -1, "print the words of the stack of a `thread`")
		fs.StringVar(&m.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		m.UseFlag(fs)
		return m.run
	},
}

// maxMemory limits the bytes that memory prints.
const maxMemory = 16 << 20

// memoryRun is one run of memory.
type memoryRun struct {
	size           int
	words, private bool
	find, format   string
	stack          int
	disk.Choices
}

func (m *memoryRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(m.format, args); err != nil {
		return err
	}
	address := uint64(0)
	if m.find == "" && m.stack < 0 {
		if len(args) < 2 {
			return usageError("give an address")
		}
		var err error
		if address, err = addressOf(args[1]); err != nil {
			return err
		}
		args = append(args[:1:1], args[2:]...)
	}
	if m.size < 1 || m.size > maxMemory {
		return usageError(fmt.Sprintf("--size is 1 to %d", maxMemory))
	}
	files, r, err := disk.Open(args, session.Options{Demangle: msvc.Name}, m.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	stdout = files.Out(stdout)
	if m.stack >= 0 {
		return files.Ended(m.printStack(stdout, files.Dump, r))
	}
	if m.find != "" {
		return files.Ended(m.search(stdout, files.Dump, r))
	}
	view, err := files.Dump.MemoryView(address, m.size, m.private)
	if err != nil {
		return err
	}
	asText := text.WriteMemory
	if m.words {
		asText = text.WriteWords
	}
	return files.Ended(writePlain(stdout, m.format, r, view, asText, jsonreport.WriteMemory, true))
}

// addressOf reads a hexadecimal address with or without 0x.
func addressOf(text string) (uint64, error) {
	address, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
	if err != nil {
		return 0, usageError(fmt.Sprintf("%q is not an address", text))
	}
	return address, nil
}

// printStack prints the words of a stack.
func (m *memoryRun) printStack(w io.Writer, dump *session.Session, r *report.Report) error {
	if m.stack >= len(r.Threads) {
		return fmt.Errorf("there is no thread %d; the dump has %d", m.stack, len(r.Threads))
	}
	memory, err := dump.WholeMemory()
	if err != nil {
		return err
	}
	for from := 0; ; {
		words, err := memory.StackWords(m.stack, -1, from, stackWindow)
		if err != nil {
			return err
		}
		if err := text.WriteStackWords(w, r, words); err != nil {
			return err
		}
		if from = words.From + len(words.Rows); len(words.Rows) == 0 || from >= words.Total {
			return nil
		}
	}
}

// stackWindow is how many words of a stack are made at once.
const stackWindow = 512

// search prints where the dump's memory has what is to be found.
func (m *memoryRun) search(w io.Writer, dump *session.Session, r *report.Report) error {
	all, err := m.patterns(dump)
	if err != nil {
		return err
	}
	name := report.Name.Shown
	memory, err := dump.WholeMemory()
	if err != nil {
		return err
	}
	found, err := memory.Search(all)
	for err == nil && !found.Ended {
		err = found.Step(1 << 30)
	}
	if err != nil {
		return err
	}
	for _, hit := range found.Hits {
		in := memory.At(hit.Address, false)
		as := all[hit.Pattern].As
		if as != "" {
			as = fmt.Sprintf("%-8s", as)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("0x%x  %s%s", hit.Address, as, in.Words(r, name)), " ")); err != nil {
			return err
		}
	}
	if found.More {
		fmt.Fprintf(w, "… and more\n")
	}
	return nil
}

// patterns are the bytes of what is to be found.
func (m *memoryRun) patterns(dump *session.Session) ([]session.Pattern, error) {
	kind, what, _ := strings.Cut(m.find, ":")
	switch kind {
	case "text":
		return dump.TextPatterns(what), nil
	case "hex":
		b, err := hex.DecodeString(strings.ReplaceAll(what, " ", ""))
		if err != nil {
			return nil, usageError(fmt.Sprintf("%q: %v", what, err))
		}
		return []session.Pattern{{Bytes: b}}, nil
	case "pointer":
		n, err := addressOf(what)
		if err != nil {
			return nil, err
		}
		return []session.Pattern{dump.PointerPattern(n)}, nil
	}
	return nil, usageError("--find wants text:TEXT, hex:BYTES or pointer:ADDRESS")
}
