package unwind

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// This file has the short form of rules, which tables of rows have: "crashpane rules" and the outline of a
// file. Addresses and registers are as readelf prints them.

// Marks returns the words for what a row says besides its rules; the help of "crashpane rules" explains
// them.
func (r *Row) Marks() []string {
	var marks []string
	add := func(is bool, word string) {
		if is {
			marks = append(marks, word)
		}
	}
	add(r.Signal, "signal")
	add(r.Outermost, "outermost")
	add(r.Topmost, "topmost")
	add(r.WholeFunction, "body")
	add(r.Signed == KeyA, "signed-a")
	add(r.Signed == KeyB, "signed-b")
	return marks
}

// Value returns a rule as a value: "rsp+16".
//
// The CFA is printed as a value, other registers as a location: "cfa-8" as a location is the word
// at that address, for which a value has brackets.
func (ru Rule) Value(arch *cpu.Arch) string {
	switch ru.Kind {
	case Unset:
		return "none"
	case Undefined:
		return "undefined"
	case Same:
		return "same"
	case FromReg:
		return sum(arch.RegName(ru.Reg), ru.Offset)
	case AtReg:
		return "[" + sum(arch.RegName(ru.Reg), ru.Offset) + "]"
	case FromCFA:
		return sum("cfa", ru.Offset)
	case AtCFA:
		return "[" + sum("cfa", ru.Offset) + "]"
	}
	return strings.NewReplacer("$", "", "−", "-").Replace(ru.Describe(arch))
}

// sum returns a base and a distance, which always has a sign: "rsp+0".
func sum(base string, off int64) string {
	if off < 0 {
		return base + strconv.FormatInt(off, 10)
	}
	return base + "+" + strconv.FormatInt(off, 10)
}

// Location returns a rule as the location of a saved value: "cfa-8" for the word at cfa-8, "rbx"
// for a register, "val(cfa-16)" for a value that is saved nowhere.
func (ru Rule) Location(arch *cpu.Arch) string {
	switch ru.Kind {
	case FromReg:
		if ru.Offset == 0 {
			return arch.RegName(ru.Reg)
		}
		return "val(" + ru.Value(arch) + ")"
	case AtCFA:
		return sum("cfa", ru.Offset)
	case FromCFA, Computed:
		return "val(" + ru.Value(arch) + ")"
	}
	return ru.Value(arch)
}
