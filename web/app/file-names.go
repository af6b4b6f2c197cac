package app

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core/sourcefile"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
)

// This file has what the names and sizes of files tell before the engine has read them: their order, and
// which are read together. The engine recognizes a file by its content.

// inOrder sorts files for Add. It looks at each name once, since there may be 50,000.
func inOrder(files []host.File) []host.File {
	var dumps, others, code []host.File
	for _, f := range files {
		switch {
		case looksLikeDump(f.Name()):
			dumps = append(dumps, f)
		case sourcefile.Named(f.Name()):
			code = append(code, f)
		default:
			others = append(others, f)
		}
	}
	sort.SliceStable(dumps, func(i, j int) bool { return dumps[i].Size() < dumps[j].Size() })
	sort.SliceStable(others, func(i, j int) bool { return others[i].Size() < others[j].Size() })
	return append(append(dumps, others...), code...)
}

func looksLikeDump(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".dmp") || strings.HasSuffix(name, ".mdmp")
}

// Parcel is several small symbol files or objects that the engine reads at once: a message to the engine and
// back takes longer than reading one of them.
type Parcel struct{ files []host.File }

// Name names the first of the files.
func (p *Parcel) Name() string {
	return fmt.Sprintf("%s and %s more", p.files[0].Name(), words.Count(len(p.files)-1, "file"))
}

// Size is that of all files together.
func (p *Parcel) Size() (n int64) {
	for _, f := range p.files {
		n += f.Size()
	}
	return n
}

// Rest is an archive whose first members were read.
type Rest struct {
	host.File
	item int // its Added.Rest
}

// withoutRests returns files without the Rests, which a new engine does not know.
func withoutRests(files []host.File) []host.File {
	return slices.DeleteFunc(slices.Clone(files), func(f host.File) bool { _, is := f.(*Rest); return is })
}

// Members returns the files of a Parcel, or the file itself.
func Members(f host.File) []host.File {
	if p, ok := f.(*Parcel); ok {
		return p.files
	}
	return []host.File{f}
}

// fitsParcel reports whether a file is small, and named like a symbol file or an object, or is named like
// a source file, which is not read yet: people drop thousands of these. With dumps, small dumps fit, too: none of them
// is opened. A file that a server sent goes alone, since its answer is awaited.
func fitsParcel(f host.File, dumps bool) bool {
	name := strings.ToLower(f.Name())
	return (strings.HasSuffix(name, ".sym") || strings.HasSuffix(name, ".o") || dumps && looksLikeDump(name)) && f.Size() <= smallFile || sourcefile.Named(name)
}

// takesLong reports whether a file is a large archive, which takes seconds to unpack. Large symbol
// files do not: they are searched.
func takesLong(f host.File) bool { return isPacked(f) && f.Size() > 1<<20 }

// isPacked reports whether a file is compressed, by its name.
func isPacked(f host.File) bool {
	name := strings.ToLower(f.Name())
	for _, end := range []string{".gz", ".zip", ".zst", ".xz", ".7z", ".cab", ".tar", ".tgz", ".txz", ".tzst"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
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
