package dumptext

import (
	"slices"

	"github.com/crashpane/crashpane/core"
)

// Claimed and IsText are for the tests.
func Claimed(t core.StreamType) bool { return claimed(t) }
func IsText(t core.StreamType) bool  { return slices.Contains(textStreams, t) }
