package words

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// An address looks the same everywhere: a button of the class "address" with the action "address" and
// the address as its argument. Its title says what it points to, and a click or Enter shows it in
// the tab Memory (Page.GoToAddress):
//
//	<button type="button" class="address" :data-act='words.AddressAct(a)' :data-arg='a' :title='words.AddressTitle(note)' vg-content='a'></button>

// AddressAct is the action of an address as it is shown. It is nil for a number in the first page of
// memory, which no program has, and for an unknown value.
func AddressAct(text string) any {
	if a, ok := ParseAddress(text); ok && a >= firstAddress {
		return "address"
	}
	return nil
}

// firstAddress is the first address that is shown as a link. What is below is a count or a flag.
const firstAddress = 0x1000

// FactAct is the action of a fact that is an address; else nil.
func FactAct(f rows.Fact) any {
	if !IsAddress(f) {
		return nil
	}
	return AddressAct(f.Value)
}

// IsAddress reports whether a fact is an address in all its digits, which numbers and offsets do not have.
func IsAddress(f rows.Fact) bool {
	return f.Code && strings.HasPrefix(f.Value, "0x") && (len(f.Value) == 10 || len(f.Value) == 18)
}

// AddressTitle is the tooltip of an address that points to something.
func AddressTitle(points string) string {
	if points == "" {
		return "Show the memory at this address"
	}
	return points + ": show the memory at this address"
}

// ParseAddress reads a hexadecimal number as users write it: with or without 0x, "00007ff6`1234abcd".
func ParseAddress(s string) (uint64, bool) {
	s = strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "`", "")), "0x")
	a, err := strconv.ParseUint(s, 16, 64)
	return a, err == nil
}
