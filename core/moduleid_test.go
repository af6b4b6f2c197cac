package core

import (
	"strings"
	"testing"
)

// TestSameID: one build may have two ids, which differ in the order of bytes; anything else makes
// another build.
func TestSameID(t *testing.T) {
	const id, swapped = "00112233445566778899AABBCCDDEEFF0", "33221100554477668899AABBCCDDEEFF0"
	if got := ByteSwappedID(id); got != swapped {
		t.Errorf("swapped: %s", got)
	}
	if got := ByteSwappedID("3A7D5E001C"); got != "" { // a PDB 2.0 has a time and no GUID
		t.Errorf("swapped: %s", got)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{id, id, true}, {id, strings.ToLower(id), true}, {id, swapped, true}, {strings.ToLower(swapped), id, true},
		{id[:32] + "1a", swapped[:32] + "1A", true},
		{id, id[:32] + "1", false}, {id, swapped[:32] + "1", false}, {id, id[:32], false}, {id, id + "0", false},
		{id, "33221100" + id[8:], false}, {id, id[:16] + swapped[8:16] + id[24:], false},
		{"", "", false}, {id, "", false}, {"", id, false}, {id[:32], swapped[:32], false},
		{"3A7D5E001C", "3a7d5e001c", true}, {"3A7D5E001C", "005E7D3A1C", false},
	} {
		if got := SameID(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
