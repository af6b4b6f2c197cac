package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var disassembleCommand = command{
	name:  "disassemble",
	line:  "disassemble [--thread N] [--frame M | --at ADDRESS] [--function] [--sources FOLDER] [--format text|json] [--use FILE] DUMP [SYMBOLS…] | PROGRAM ADDRESS|NAME [SYMBOLS…]",
	about: "print the instructions around a frame or an address, or of a program's function, with their source lines",
	help: `Prints the instructions around a frame's instruction (for a caller, its call), with source lines between them. It shows where jumps and
calls go, the values of the registers that the marked instruction names, and at an exception whether a conditional jump is taken.
--sources prints the lines from files in a folder, which are found by the ends of their paths; a file with the right name alone is not used.
The code comes from the dump, or from a program among SYMBOLS if the dump lacks it.

Threads and frames are numbered as for crashpane explain. --at takes an address instead (0x4011d0); on 32-bit arm its lowest bit
marks Thumb code, which is not decoded. --function prints the whole function. x86, amd64, arm64, arm, ppc, ppc64,
riscv64 and loongarch64 are decoded, x86 and amd64 in Intel's syntax, the others in that of the GNU assembler. For other processors the bytes are printed.

Without a dump it prints the code of a program or library from an address on, or a whole function. NAME is the function's name, or a
part that no other name has. Besides lines and targets it says how a caller is found from each instruction on, if the program has
unwind rules. Addresses are link-time addresses, as for crashpane outline. SYMBOLS are what belongs to the program: a debug file, a
PDB, a dSYM, a symbol file; their names are then used. Code of 32-bit arm is decoded if a symbol says that it is not Thumb code. A
symbol file alone has no code.

  crashpane disassemble libfoo.so parse_header libfoo.so.debug
  crashpane disassemble --arch arm64 Foo 0x100003f20 Foo.dSYM`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var d disassembleRun
		fs.IntVar(&d.thread, "thread", -1, "`number` of the thread in the dump")
		fs.IntVar(&d.frame, "frame", 0, "`number` of the frame, 0 is the innermost")
		fs.StringVar(&d.at, "at", "", "`address` of an instruction, in place of a frame")
		fs.IntVar(&d.wish.Before, "before", 12, "`number` of instructions before it")
		fs.IntVar(&d.wish.After, "after", 12, "`number` of instructions from it on")
		fs.BoolVar(&d.wish.Whole, "function", false, "all of the function")
		fs.Func("sources", "`folder` with source files; may be given several times", func(path string) error {
			d.sources = append(d.sources, path)
			return nil
		})
		fs.StringVar(&d.arch, "arch", "", "for a Mach-O file with several processors, the `CPU` to read, without a dump")
		fs.StringVar(&d.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		d.UseFlag(fs)
		return d.run
	},
}

// disassembleRun is one run of disassemble.
type disassembleRun struct {
	thread, frame int
	at, format    string
	arch          string
	wish          session.CodeWish
	sources       []string
	disk.Choices
}

func (d *disassembleRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(d.format, args); err != nil {
		return err
	}
	address, err := addressOf(d.at)
	switch {
	case d.at != "" && err != nil:
		return err
	case d.wish.Before < 0 || d.wish.After < 1:
		return usageError("--before is at least 0, --after at least 1")
	}
	files := disk.New(session.Options{Demangle: msvc.Name, Workers: runtime.GOMAXPROCS(0)}, d.Choices, stderr)
	defer files.Close()
	items, err := files.Add(disk.InBundle(args[0]))
	if err != nil {
		return err
	}
	var r *report.Report
	var code *report.Code
	if len(files.Files.Dumps()) == 0 && slices.ContainsFunc(items, hasCode) {
		if r, code, err = d.program(files, items, args, address); err != nil {
			return err
		}
		return d.write(files, r, code, stdout)
	}
	if r, err = files.Read(args); err != nil {
		return err
	}
	files.WarnProblems(r)
	if d.at != "" {
		code, err = files.Dump.CodeAt(address, d.wish)
	} else {
		var thread int
		if thread, err = theThread(r, d.thread); err == nil {
			d.frame = r.Threads[thread].FrameAt(d.frame)
			code, err = files.Dump.FrameCode(thread, d.frame, d.wish)
		}
		if err == nil {
			code.Link = files.Dump.SourceLink(thread, d.frame, r.Threads[thread].Frames[d.frame].File)
		}
	}
	if err != nil {
		return err
	}
	return d.write(files, r, code, stdout)
}

// program lists the code of a program without a dump: at the address of --at, or of the function or address that the
// second argument names.
func (d *disassembleRun) program(files *disk.Set, items []session.Item, args []string, at uint64) (*report.Report, *report.Code, error) {
	where, symbols := d.at, args[1:]
	switch {
	case d.thread >= 0 || d.frame > 0:
		return nil, nil, usageError("a program has no threads and frames: name an address or a function after it")
	case where == "" && len(symbols) == 0:
		return nil, nil, usageError("name an address or a function after the program: crashpane outline lists them")
	case where == "":
		where, symbols = symbols[0], symbols[1:]
	default:
		where = fmt.Sprintf("0x%x", at)
	}
	item, err := choose(args[0], items, d.arch)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range symbols {
		if err := files.AddSymbols(path); err != nil {
			return nil, nil, err
		}
	}
	opened, err := files.Files.Outline(files.Files.SymbolsOf(item))
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	from, named, err := opened.Address(where)
	if err != nil {
		return nil, nil, err
	}
	if named {
		d.wish.Whole = true
	}
	code, err := opened.CodeAt(from, d.wish)
	if err == nil {
		code.Demangle(msvc.Name)
	}
	return opened.Report(), code, err
}

// write prints code, with the lines of the sources.
func (d *disassembleRun) write(files *disk.Set, r *report.Report, code *report.Code, stdout io.Writer) error {
	for _, folder := range d.sources {
		if err := files.AddSources(folder); err != nil {
			return err
		}
	}
	files.Files.AddSourceLines(code)
	return files.Ended(writePlain(files.Out(stdout), d.format, r, code, text.WriteCode, jsonreport.WriteCode, true))
}
