package main

import (
	"flag"
	"fmt"
	"io"
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
	line:  "disassemble [--thread N] [--frame M | --at ADDRESS] [--function] [--sources FOLDER] [--format text|json] [--use FILE] DUMP [SYMBOLS…]",
	about: "print the instructions around a frame or an address, with their source lines",
	help: `Prints the instructions around the one that a frame is at, for a caller its call, with source lines between them, where jumps and
calls go, the values of the registers that the marked instruction names, and at an exception whether a conditional jump is taken.
With --sources the lines are those of the files in a folder, found by the ends of their paths; a file whose name alone fits is not used.
The code is the dump's, or where the dump does not have it that of a program among SYMBOLS.

Threads and frames are numbered as for crashpane explain. --at takes an address instead (0x4011d0); on 32-bit arm its lowest bit
says that the code is Thumb code, which is not decoded. --function prints the whole function. x86, amd64, arm64, arm, ppc, riscv64,
loongarch64 and s390x are decoded, x86 in Intel's syntax, the others in that of the GNU assembler.`,
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
		fs.StringVar(&d.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		d.UseFlag(fs)
		return d.run
	},
}

// disassembleRun is one run of disassemble.
type disassembleRun struct {
	thread, frame int
	at, format    string
	wish          session.CodeWish
	sources       []string
	disk.Choices
}

func (d *disassembleRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(d.format, args); err != nil {
		return err
	}
	address, err := hexNumber(d.at)
	switch {
	case d.at != "" && err != nil:
		return usageError(fmt.Sprintf("%q is not an address", d.at))
	case d.wish.Before < 0 || d.wish.After < 1:
		return usageError("--before is at least 0, --after at least 1")
	}
	files, r, err := disk.Open(args, session.Options{Demangle: msvc.Name}, d.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	files.WarnProblems(r)
	for _, folder := range d.sources {
		if err := files.AddSources(folder); err != nil {
			return err
		}
	}
	var code *report.Code
	if d.at != "" {
		code, err = files.Dump.CodeAt(address, d.wish)
	} else {
		var thread int
		if thread, err = theThread(r, d.thread); err == nil {
			code, err = files.Dump.FrameCode(thread, d.frame, d.wish)
		}
		if err == nil {
			code.Link = files.Dump.SourceLink(thread, d.frame, r.Threads[thread].Frames[d.frame].File)
		}
	}
	if err != nil {
		return err
	}
	files.Files.AddSourceLines(code)
	return files.Ended(writePlain(files.Out(stdout), d.format, r, code, text.WriteCode, jsonreport.WriteCode, true))
}
