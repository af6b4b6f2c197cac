package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/disk"
)

var rulesCommand = command{
	name:  "rules",
	line:  "rules [--source " + strings.Join(ruleSources, "|") + "] [--address A] [--arch CPU] [--format text|json] [--max-unpacked SIZE] FILE [DEBUGFILE…]",
	about: "print how each instruction's caller is found",
	help: `Prints the register-recovery rules of FILE, an ELF file, PE file (.exe, .dll), Mach-O file or symbol file, with a row for every range of
code in which they are the same. A row says from which address on it holds, how the canonical frame address (CFA) is computed, and where
the return address and the caller's registers are. Addresses are link-time addresses, as in readelf and objdump.

  rsp+16        of the CFA: the value of a register and a distance
  cfa-8         of others: saved in the word at that address
  rbx           is in that register
  val(cfa-16)   has that value
  [rbp-8]       saved in the word at that address
  same, undefined

Registers that are not named are unchanged if calls preserve them. Marks: signal (the caller's address is exact), outermost (there is
no caller), topmost (holds only until the function calls another), body (holds where the function calls another, and not in its prologue
and epilogue), signed-a and signed-b (the return address carries an authentication code).

DEBUGFILE is a separate debug file of FILE, or the file in its dSYM, whose .debug_frame is then used too.

Without --source, rules prints all kinds that the file has, in the order of their use: the first that covers an address
counts. Kinds: pdata (the function table of Windows), compact (Apple's __unwind_info; where it refers to __eh_frame, that has the row), eh_frame and debug_frame (DWARF), sframe, exidx (ARM's exception index), leaf (code
that the function table of Windows does not mention: it calls nothing), cfi (STACK CFI of a symbol file). --address prints the row of
one address for each kind; it is an error if no kind has one. json is an array of objects. If some rules of a kind could not be read,
an object with "error" and "source", or a line "error: …", says so in the output, and the exit status is 1.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var r rulesRun
		fs.StringVar(&r.source, "source", "", "`kind` of rules: "+strings.Join(ruleSources, ", "))
		fs.StringVar(&r.address, "address", "", "`address`, hexadecimal, to print the row of")
		fs.StringVar(&r.arch, "arch", "", "for a Mach-O file with several processors, the `CPU` to read")
		fs.StringVar(&r.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		r.Choices.UnpackedFlag(fs)
		return r.run
	},
}

// ruleSources are the kinds in the order in which they are used.
var ruleSources = []string{"pdata", "compact", "eh_frame", "debug_frame", "sframe", "exidx", "leaf", "cfi"}

// rulesRun is one run of the command.
type rulesRun struct {
	source, address, format, arch string
	disk.Choices
}

// run prints the tables of the file one after the other. One that cannot be read does not stop the
// others: the error is in the output, at the place of its rows, and the command fails at the end.
func (r *rulesRun) run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError("name a file")
	}
	err := choice("format", r.format, plainFormats)
	if err == nil && r.source != "" {
		err = choice("source", r.source, ruleSources)
	}
	var address uint64
	if err == nil && r.address != "" {
		address, err = addressOf(r.address)
	}
	if err != nil {
		return err
	}
	sources, err := disk.OpenSources(args, r.Choices.MaxUnpacked)
	if err != nil {
		return err
	}
	defer sources.Close()
	file, err := openRules(sources, r.arch)
	if err != nil {
		return err
	}
	tables := slices.DeleteFunc(file.tables, func(t ruleTable) bool { return r.source != "" && t.source != r.source })
	if len(tables) == 0 {
		return fmt.Errorf("%s: it has no %s rules", args[0], cmp.Or(r.source, "unwind"))
	}
	stdout = sources[0].Budget.Writer(stdout)
	p := &rulesPrinter{stdout: stdout, arch: file.arch, base: file.base}
	if r.format == "json" {
		p.json = jsonwriter.New(stdout, jsonwriter.Rows)
	} else {
		p.out = bufio.NewWriterSize(stdout, 1<<16)
	}
	failed := false
	for _, t := range tables {
		err := r.print(p, t, address, stderr)
		switch {
		case err == nil:
		case p.failed != nil:
			return p.failed // the output's
		case len(tables) == 1 && p.rows == 0:
			return err
		default:
			// The output goes on with the other kinds, and says itself that it is not complete.
			fmt.Fprintln(stderr, err)
			p.error(t.source, err)
			failed = true
		}
	}
	if p.rows == 0 && r.address != "" && !failed {
		if address < file.base && p.why == "" {
			p.why = fmt.Sprintf("; it is linked at 0x%x", file.base)
		}
		return fmt.Errorf("%s: no rules cover 0x%x%s", args[0], address, p.why)
	}
	switch err := p.end(); {
	case err != nil:
		return err
	case failed:
		return fmt.Errorf("%s: not all of its rules could be read", args[0])
	}
	return nil
}

// print prints one kind of rules: all of them, or those that cover the address if the user named
// one. Warnings go to stderr.
func (r *rulesRun) print(p *rulesPrinter, t ruleTable, address uint64, stderr io.Writer) error {
	table, err := t.open()
	switch {
	case err == nil && r.address != "":
		err = p.one(table, address)
	case err == nil:
		err = table.Each(func(start, _ uint64, row unwind.Row) error { return p.row(start, row) })
	}
	if table == nil {
		return err
	}
	for _, w := range table.Warnings() {
		if err == nil && r.address == "" {
			err = errors.New(w)
			continue
		}
		fmt.Fprintln(stderr, w)
	}
	return err
}

// rulesPrinter writes rows as a table or as JSON.
//
//	address             cfa               ra         origin, registers
//	0x0000000000410012  rsp+16            cfa-8      .eh_frame+0x2c  r15=cfa-16
type rulesPrinter struct {
	stdout io.Writer
	out    *bufio.Writer      // of the table
	json   *jsonwriter.Writer // or of JSON
	arch   *cpu.Arch
	base   uint64
	rows   int
	line   []byte
	// began: the head of the table, or the beginning of the list, is written. failed is the first
	// error of writing.
	began  bool
	failed error
	// why is what an entry says that covers the address and has no rules for it.
	why string
}

// begin writes what comes before the first row, once.
func (p *rulesPrinter) begin() {
	switch {
	case p.began:
	case p.json != nil:
		p.json.Begin(true)
	default:
		fmt.Fprintf(p.out, "%-*s  %-16s  %-9s  origin, registers\n", p.width(), "address", "cfa", "ra")
	}
	p.began = true
}

// error writes, in place of rows, that those of a kind could not all be read.
func (p *rulesPrinter) error(source string, err error) {
	p.begin()
	if p.json == nil {
		fmt.Fprintf(p.out, "error: not all %s rules could be read: %s\n", source, visible.Text(err.Error()))
		return
	}
	p.json.PutObject(func() {
		p.json.Str("error", err.Error())
		p.json.Str("source", source)
	})
}

// end writes what follows the last row, and flushes the output. Without rows it writes the head, or
// an empty list.
func (p *rulesPrinter) end() error {
	p.begin()
	if p.json == nil {
		return p.out.Flush()
	}
	p.json.End()
	if err := p.json.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdout, "\n")
	return err
}

// width returns the width of an address with 0x, in characters.
func (p *rulesPrinter) width() int { return 2 + 2*p.arch.WordSize }

// one prints the row of an address.
//
// If an entry covers the address and has no rules, its reason becomes part of the message that no
// rules cover it.
func (p *rulesPrinter) one(t unwind.Table, address uint64) error {
	row, ok, err := t.Row(p.arch.Mask(address - p.base))
	if err != nil {
		return err
	}
	if !ok {
		if row.Origin.Note != "" && p.why == "" {
			p.why = " (" + row.Origin.String() + ")"
		}
		return nil
	}
	return p.row(address-p.base, row)
}

// row prints one row. rva is module-relative; the printed address is the file's own, as readelf and
// objdump print it.
func (p *rulesPrinter) row(rva uint64, row unwind.Row) error {
	p.rows++
	p.begin()
	address := p.arch.Mask(p.base + rva)
	marks := row.Marks()
	if p.json != nil {
		p.object(address, &row, marks)
		return nil
	}
	line := append(p.line[:0], "0x"...)
	digits := strconv.FormatUint(address, 16)
	line = append(line, "0000000000000000"[:max(0, p.width()-2-len(digits))]...)
	line = append(line, digits...)
	// Columns that are too narrow for their text are widened, so a long rule moves the rest of its
	// line.
	column := func(at int, text string) {
		line = append(line, ' ', ' ')
		from := len(line)
		line = append(line, text...)
		for len(line) < from+at {
			line = append(line, ' ')
		}
	}
	column(16, row.CFA.Value(p.arch))
	column(9, row.RA.Location(p.arch))
	column(0, visible.Text(strings.TrimPrefix(row.Origin.String(), row.Origin.File+" ")))
	line = append(line, ' ')
	for _, s := range row.Saved {
		if s.Rule.Kind != unwind.Unset {
			line = append(line, ' ')
			line = append(line, p.arch.RegName(s.Reg)...)
			line = append(line, '=')
			line = append(line, s.Rule.Location(p.arch)...)
		}
	}
	for _, m := range marks {
		line = append(append(line, ' '), m...)
	}
	p.line = append(bytes.TrimRight(line, " "), '\n')
	_, p.failed = p.out.Write(p.line)
	return p.failed
}

// object prints a row as a JSON object. It has "marks" only if the row has some.
//
//	{"address": "0x410012", "cfa": "rsp+16", "ra": "cfa-8", "regs": {"r15": "cfa-16"}, …}
func (p *rulesPrinter) object(address uint64, row *unwind.Row, marks []string) {
	w := p.json
	w.PutObject(func() {
		w.Key("address")
		w.PutHex(address, 1)
		w.Str("cfa", row.CFA.Value(p.arch))
		w.Str("ra", row.RA.Location(p.arch))
		w.Object("regs", func() {
			saved := slices.SortedFunc(slices.Values(row.Saved), func(a, b unwind.RegRule) int {
				return strings.Compare(p.arch.RegName(a.Reg), p.arch.RegName(b.Reg))
			})
			for _, s := range saved {
				if s.Rule.Kind != unwind.Unset {
					w.Str(p.arch.RegName(s.Reg), s.Rule.Location(p.arch))
				}
			}
		})
		w.Str("origin", row.Origin.String())
		if len(marks) > 0 {
			w.List("marks", len(marks), func(i int) { w.PutString(marks[i]) })
		}
	})
}
