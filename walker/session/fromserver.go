package session

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/symbols"
)

// FromServer returns the files in a symbol server's answer, which may be compressed. It accepts only
// symbol files, programs and debug files, and only those with the requested id.
func FromServer(src *input.Source, id string, opt Options, progress intake.Progress) ([]*input.Source, error) {
	files, err := intake.Expand(src, opt.Limits, progress)
	for _, f := range files {
		if err == nil {
			err = isOf(f, id, opt)
		}
	}
	return files, err
}

// isOf returns an error unless a file has an id.
func isOf(src *input.Source, id string, opt Options) error {
	var has []string
	g := intake.Sniff(src)
	switch {
	case g.Kind == intake.Sym:
		head, err := src.Bytes(0, min(src.Size, 4096))
		if err != nil {
			return err
		}
		known := symbols.KnownSym(src.Name, head)
		has = append(append(has, known.ID), known.OtherIDs...)
	case g.Kind.IsBinary() && opt.OpenBinary != nil:
		b, err := opt.OpenBinary(src)
		if err != nil {
			return err
		}
		known := b.Identity()
		has = append(append(has, known.DebugID, known.CodeID), known.OtherIDs...)
	default:
		return fmt.Errorf("%s is not a symbol file or a program: it is %s", src.Name, g.What)
	}
	for _, one := range has {
		if core.SameID(one, id) {
			return nil
		}
	}
	return fmt.Errorf("%s is of another build: its id is %s", src.Name, strings.Join(has, ", "))
}
