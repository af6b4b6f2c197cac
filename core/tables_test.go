package core

import (
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
)

// TestStreamTypesHaveRows: every named stream type is in the table, once, with a name of its own.
func TestStreamTypesHaveRows(t *testing.T) {
	rows, names := map[StreamType]int{}, map[string]int{}
	for _, r := range streamTable {
		rows[r.Type]++
		names[r.Name]++
		if r.Name == "" || r.Vendor == "" || names[r.Name] > 1 {
			t.Errorf("stream %#x is %q of %q, a name that %d streams have", uint32(r.Type), r.Name, r.Vendor, names[r.Name])
		}
	}
	for name, typ := range enumtest.Numbers[StreamType](t, ".", "StreamType") {
		if rows[typ] != 1 {
			t.Errorf("%s has %d rows in streamTable", name, rows[typ])
		}
	}
}

// TestSystemsHaveRows: every system is one that a dump can name.
func TestSystemsHaveRows(t *testing.T) {
	rows := map[OS]bool{OSUnknown: true}
	for _, r := range osTable {
		rows[r.OS] = true
		if r.Name == "" {
			t.Errorf("platform %#x has no name", r.Platform)
		}
	}
	for name, os := range enumtest.Numbers[OS](t, ".", "OS") {
		if !rows[os] {
			t.Errorf("no platform_id is %s", name)
		}
	}
}

// TestByteClassesHaveNames: every class of bytes has a name of its own in the account of a dump.
func TestByteClassesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range byteClasses {
		if s := c.String(); s == "" || seen[s] {
			t.Errorf("class %d is %q, as another one is", c, s)
		} else {
			seen[s] = true
		}
	}
}
