package main

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/compact"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/disk"
)

// ruleTable is one kind of rules in a file, opened when it is wanted.
type ruleTable struct {
	source string
	open   func() (unwind.Table, error)
}

// rulesFile is a file with rules. Base is the address that its module-relative addresses count
// from.
type rulesFile struct {
	arch   *cpu.Arch
	base   uint64
	tables []ruleTable
}

// openRules opens a binary with what belongs to it, or a symbol file.
func openRules(files []disk.SourceFile, arch string) (*rulesFile, error) {
	src := files[0].Source
	switch {
	case binary.Is(src), intake.Sniff(src).Kind == intake.Fat:
		return binaryRules(files, arch)
	case len(files) > 1:
		return nil, usageError("one symbol file at a time")
	}
	return symRules(src)
}

// symRules opens a symbol file's rules.
//
// The CPU is that of the MODULE record. STACK WIN records are not an unwind.Table, so a file of x86 has
// rules only if it has STACK CFI too.
func symRules(src *input.Source) (*rulesFile, error) {
	f, err := symfile.Open(src, symfile.Options{})
	if err != nil {
		return nil, err
	}
	if !f.HasModule {
		return nil, fmt.Errorf("%s: no %s, and no symbol file", src.Name, binary.Formats())
	}
	out := &rulesFile{arch: dumpsyms.CPU(f.Module.Arch)}
	if out.arch == nil {
		return nil, fmt.Errorf("%s: the registers of %q are not known", src.Name, f.Module.Arch)
	}
	if f.Counts.CFIInits > 0 {
		out.tables = []ruleTable{{"cfi", func() (unwind.Table, error) { return f.CFITable(out.arch), nil }}}
	}
	return out, nil
}

// sourceOf returns the name on the command line of a kind of table (binary.UnwindSection.Kind): its
// first word, without what precedes the last dot, and without what Apple puts before names.
//
//	.eh_frame    .ARM.exidx    leaf functions    .pdata of ARM64EC code    __eh_frame    __unwind_info, __compact_unwind
//	eh_frame     exidx         leaf              pdata                     eh_frame      compact
func sourceOf(kind string) string {
	word, _, _ := strings.Cut(kind, " ")
	if word == compact.SectionName || word == compact.ObjectSection {
		return "compact"
	}
	return strings.TrimPrefix(word[strings.LastIndexByte(word, '.')+1:], "__")
}

// binaryRules opens the rules of a binary and its debug file.
func binaryRules(files []disk.SourceFile, arch string) (*rulesFile, error) {
	b, err := joined(files, arch)
	if err != nil {
		return nil, err
	}
	out := &rulesFile{arch: b.Arch(), base: b.Base()}
	for _, s := range b.UnwindSections() {
		out.tables = append(out.tables, ruleTable{sourceOf(s.Kind), s.Open})
	}
	switch {
	case len(out.tables) == 0 && !b.Identity().Code:
		return nil, fmt.Errorf("%s: debug information without unwind rules, but for the records of x86 (STACK WIN) that it may have; name the program, too", b.Name())
	case out.arch == nil:
		return nil, fmt.Errorf("%s: the registers of its processor are not known", b.Name())
	}
	return out, nil
}
