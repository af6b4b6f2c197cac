package session_test

import (
	"strings"

	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

func init() {
	session.OpenBinary = readers.Open
	session.WriteSym = func(w *strings.Builder, b symbols.Binary) error { return readers.WriteSym(w, b, binary.SymOptions{}) }
}
