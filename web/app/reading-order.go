package app

import (
	"fmt"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// inOrder sorts files for Add. It looks at each name once, since there may be 50,000.
func inOrder(files []File) []File {
	var dumps, others []File
	for _, f := range files {
		if looksLikeDump(f.Name()) {
			dumps = append(dumps, f)
		} else {
			others = append(others, f)
		}
	}
	sort.SliceStable(dumps, func(i, j int) bool { return dumps[i].Size() < dumps[j].Size() })
	sort.SliceStable(others, func(i, j int) bool { return others[i].Size() < others[j].Size() })
	return append(dumps, others...)
}

func looksLikeDump(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".dmp") || strings.HasSuffix(name, ".mdmp")
}

// Parcel is several small symbol files that the engine reads at once: a message to the engine and
// back takes longer than reading one of them.
type Parcel struct{ files []File }

// Name names the first of the files.
func (p *Parcel) Name() string {
	return fmt.Sprintf("%s and %s more", p.files[0].Name(), files(len(p.files)-1))
}

// Size is that of all files together.
func (p *Parcel) Size() (n int64) {
	for _, f := range p.files {
		n += f.Size()
	}
	return n
}

// Members returns the files of a Parcel, or the file itself.
func Members(f File) []File {
	if p, ok := f.(*Parcel); ok {
		return p.files
	}
	return []File{f}
}

// fitsParcel reports whether a file is small, and named like a symbol file. A file that a server sent
// goes alone, since its answer is awaited.
func fitsParcel(f File) bool {
	return strings.HasSuffix(strings.ToLower(f.Name()), ".sym") && f.Size() <= smallFile
}

// wantFirst moves the files of the queue that may be of modules without symbols to its front. A
// name decides only the order. When those are read, the stack is queried again, and may want
// others.
func (z *Reading) wantFirst(names []string) {
	stems := map[string]bool{}
	for _, name := range names {
		stem, _, _ := strings.Cut(strings.ToLower(name), ".")
		stems[stem] = true
	}
	var first, rest []File
	for _, f := range z.queue {
		if isOf(strings.ToLower(rows.BaseName(f.Name())), stems) {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(first) > 0 {
		z.queue, z.page.Pace.wanted = append(first, rest...), len(first)
	}
}

// isOf reports whether a file's name begins with one of some stems, which a separator follows:
// tile.sym, tile-2.1.so.sym and tile.so.debug are of tile.
func isOf(name string, stems map[string]bool) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			continue
		}
		if i > 0 && stems[name[:i]] {
			return true
		}
	}
	return stems[name]
}
