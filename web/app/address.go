package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// An address looks the same everywhere: a button of the class "address" with the action "address" and
// the address as its argument. Its title says what it points to, and a click or Enter shows it in
// the tab Memory (Page.GoToAddress):
//
//	<button type="button" class="address" :data-act='addressAct(a)' :data-arg='a' :title='addressTitle(note)' vg-content='a'></button>

// addressAct is the action of an address as it is shown. It is nil for a number in the first page of
// memory, which no program has, and for an unknown value.
func addressAct(text string) any {
	if a, ok := parseAddress(text); ok && a >= firstAddress {
		return "address"
	}
	return nil
}

// firstAddress is the first address that is shown as a link. What is below is a count or a flag.
const firstAddress = 0x1000

// factAct is the action of a fact that is an address; else nil.
func factAct(f rows.Fact) any {
	if !isAddress(f) {
		return nil
	}
	return addressAct(f.Value)
}

// isAddress reports whether a fact is an address in all its digits, which numbers and offsets do not have.
func isAddress(f rows.Fact) bool {
	return f.Code && strings.HasPrefix(f.Value, "0x") && (len(f.Value) == 10 || len(f.Value) == 18)
}

// addressTitle is the tooltip of an address that points to something.
func addressTitle(points string) string {
	if points == "" {
		return "Show the memory at this address"
	}
	return points + ": show the memory at this address"
}

// parseAddress reads a hexadecimal number as users write it: with or without 0x, "00007ff6`1234abcd".
func parseAddress(s string) (uint64, bool) {
	s = strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "`", "")), "0x")
	a, err := strconv.ParseUint(s, 16, 64)
	return a, err == nil
}
