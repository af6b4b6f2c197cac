package intake

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/cab"
	"github.com/crashpane/crashpane/core/intake/sevenzip"
)

// serial are the archives whose members follow from those before them, and are unpacked in their order.
// Each function returns the list of members, as far as it could be read. What unpacking needs to look back
// to takes no more memory than the budget has.
var serial = map[Kind]func(src *input.Source, budget *input.Budget) (serialArchive, error){Cab: cabinet, SevenZip: sevenZip}

// serialArchive is such an archive.
type serialArchive struct {
	members []serialMember
	release func() // frees what unpacking needs to go on; the next member starts over
}

// serialMember is a member of a serialArchive.
type serialMember struct {
	name           string
	size, modified int64 // modified in seconds since 1970, or 0
	// approach unpacks some of what is before the member, and reports whether open can follow.
	approach func() (there bool, err error)
	open     func() (io.Reader, error)
}

func sevenZip(src *input.Source, budget *input.Budget) (serialArchive, error) {
	memory := func() int64 { return min(maxWindow, budget.Left(input.Memory)) }
	a, err := sevenzip.Open(src, src.Size, memory, unpackers[Zstd])
	if a == nil {
		return serialArchive{}, err
	}
	// Blocks are independent of each other.
	var blocks [][]serialMember
	for i := range a.Members {
		m := &a.Members[i]
		if i == 0 || m.Block() != a.Members[i-1].Block() {
			blocks = append(blocks, nil)
		}
		last := &blocks[len(blocks)-1]
		*last = append(*last, serialMember{m.Name, m.Size, m.Modified, func() (bool, error) { return a.Approach(m) }, func() (io.Reader, error) { return a.Reader(m) }})
	}
	slices.SortStableFunc(blocks, func(a, b []serialMember) int {
		if hasDump := slices.ContainsFunc(a, serialMember.isDump); hasDump == slices.ContainsFunc(b, serialMember.isDump) {
			return cmp.Compare(sizeOf(a), sizeOf(b))
		} else if hasDump {
			return -1
		}
		return 1
	})
	return serialArchive{slices.Concat(blocks...), a.Release}, err
}

func (m serialMember) isDump() bool { return isDumpName(m.name) }

// sizeOf is the size of a block: no more than what its members say together, each at most 1 TB.
func sizeOf(block []serialMember) (n int64) {
	for _, m := range block {
		n += max(0, min(m.size, 1<<40))
	}
	return n
}

func cabinet(src *input.Source, _ *input.Budget) (serialArchive, error) {
	c, err := cab.Open(src, src.Size)
	if c == nil {
		return serialArchive{}, err
	}
	members := make([]serialMember, len(c.Members))
	for i := range c.Members {
		m := &c.Members[i]
		members[i] = serialMember{m.Name, m.Size, 0, func() (bool, error) { _, err := c.Reader(m); return true, err }, func() (io.Reader, error) { return c.Reader(m) }}
	}
	return serialArchive{members, func() {}}, err
}

// openSerial adds the members of an archive that is read from front to back. It unpacks each whole.
func (e *expander) openSerial(src *input.Source, kind Kind, depth int) {
	a, err := serial[kind](src, e.top.Budget)
	if err != nil {
		e.problem(src.Name, string(kind), -1, "a damaged archive", err)
	}
	var u *unpacked // the next member
	next, before := 0, int64(0)
	e.later(src.Name, src.Size, func(t *task) bool {
		for next < len(a.members) {
			m := &a.members[next]
			name := strings.ReplaceAll(m.name, `\`, "/")
			full := src.Name + "/" + name
			fail := func(have string, err error) { e.problem(src.Name, fmt.Sprintf("member %q", name), -1, have, err) }
			if strings.HasSuffix(name, "/") || isMetadata(name) {
				next++
				continue
			}
			if u == nil {
				if !e.another(src, string(kind)) {
					return true
				}
				u = &unpacked{packed: src.Size, size: m.size, large: m.size > e.limits.KeepWhole, limits: e.limits, in: e, progress: e.progressOf(full, src), open: m.open}
			}
			there, err := u.r != nil, error(nil)
			if !there {
				there, err = m.approach()
			}
			switch {
			case err != nil:
				fail("", err)
				next, u = next+1, nil
				continue
			case !e.fits(m.size, fail):
				next, u = next+1, nil
				continue
			case there && u.err == nil && u.n < u.size:
				u.step()
			}
			if there && (u.err != nil || u.n >= u.size) {
				e.unpackMember(u, full, m.size, m.modified, depth, fail)
				next, before, u = next+1, before+m.size, nil
				return next == len(a.members)
			}
			switch {
			case e.over, e.need != nil:
				u.drop()
				return true
			case e.tooSlow(t, before+u.n):
				u.drop()
				a.release()
				return false
			case e.pauses():
				return false
			}
		}
		return true
	})
}
