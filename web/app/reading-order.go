package app

import (
	"sort"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
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

// isMany reports whether files are more than the first screen waits for.
func isMany(files []File) bool { return len(files) >= firstFiles }

// goesAhead reports whether a file may be one of several under way: reading it takes no longer than
// sending it.
func goesAhead(f File) bool {
	return !isRemote(f) && !isPacked(f) && !looksLikeDump(f.Name()) && f.Size() <= smallFile
}

// wantFirst moves the files of the queue that may be of modules without symbols to its front. A
// name decides only the order. When those and the ones under way are read, the stack is queried
// again, and may want others.
func (z *Reading) wantFirst(names []string) {
	keys := map[string]bool{}
	for _, name := range names {
		keys[stem(strings.ToLower(name))] = true
	}
	var first, rest []File
	for _, f := range z.queue {
		if isOf(strings.ToLower(view.BaseName(f.Name())), keys) {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(first) == 0 {
		return
	}
	z.queue = append(first, rest...)
	if z.wanted = len(first) + len(z.ahead); z.reading != nil {
		z.wanted++
	}
}

// askStack has the stack queried again with the next query.
func (z *Reading) askStack() {
	for _, zone := range z.page.Screen.stack() {
		z.page.Screen.dirty[zone] = true
	}
}

// stem is the part of a module's name before its extension or version.
func stem(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name
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
