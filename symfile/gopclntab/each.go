package gopclntab

import (
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// Each calls fn for every function, by address. Functions that cannot be read are left out, and
// Warnings has the reason.
func (t *Table) Each(fn func(symbol.Function) error) error {
	// Names and paths may share their bytes, so that a crafted table has more text than bytes. Those
	// of Go's linker are read once for a function and once for each call that is inlined.
	left := 16*t.src.Size + 1<<20
	t.textLeft = &left
	defer func() { t.textLeft = nil }()
	files := map[fileKey]string{}
	return t.each(func(f *function) error {
		out, err := t.whole(f, files)
		if err != nil {
			return t.warn(err)
		}
		return fn(out)
	})
}

// each calls fn for every function that has code.
func (t *Table) each(fn func(*function) error) error {
	if _, err := t.functions.Check(); err != nil {
		return err
	}
	for pos := range t.count {
		f, err := t.function(pos)
		if err == nil && f.end <= f.start {
			continue
		}
		if err != nil {
			err = t.warn(err)
		} else {
			err = fn(&f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole returns all information about a function.
func (t *Table) whole(f *function, files map[fileKey]string) (out symbol.Function, err error) {
	if out.Name, err = t.str(f.name); err != nil {
		return out, err
	}
	end, err := t.codeEnd(f)
	if err != nil {
		return out, err
	}
	out.Ranges = []symbol.Range{{Start: f.start - t.cfg.Base, Size: end - f.start}}
	if out.Lines, err = t.lines(f, files); err != nil {
		return out, err
	}
	out.Inlines, err = t.inlines(f, out.Lines, files)
	return out, err
}

// fileKey is a file's number in a compilation unit.
type fileKey struct {
	unit uint32
	n    int32
}

// maxFiles limits the paths that a pass over the functions keeps.
const maxFiles = 1 << 14

// path returns the path of a file, and keeps it.
func (t *Table) path(f *function, n int32, files map[fileKey]string) (path string, err error) {
	key := fileKey{f.unit, n}
	path, ok := files[key]
	if ok {
		return path, nil
	}
	if path, err = t.file(f, n); err != nil {
		return "", err
	}
	if len(files) >= maxFiles {
		clear(files)
	}
	files[key] = path
	return path, nil
}

// lines joins the tables of files and of lines. Each has ranges of its own.
func (t *Table) lines(f *function, files map[fileKey]string) (out []symbol.Line, err error) {
	if f.pcln == 0 || f.pcfile == 0 {
		return nil, nil
	}
	line, file := t.values(f, f.pcln), t.values(f, f.pcfile)
	for more := line.next() && file.next(); more; {
		start, end := max(line.start, file.start), min(line.end, file.end)
		path, err := t.path(f, file.value, files)
		if err != nil {
			return out, err
		}
		n := uint32(max(line.value, 0))
		if k := len(out) - 1; k >= 0 && out[k].File == path && out[k].Line == n {
			out[k].Size += end - start
		} else {
			out = append(out, symbol.Line{Range: symbol.Range{Start: start - t.cfg.Base, Size: end - start}, File: path, Line: n})
		}
		if line.end == end {
			more = line.next()
		}
		if more && file.end == end {
			more = file.next()
		}
	}
	if err = line.c.Err(); err == nil {
		err = file.c.Err()
	}
	return out, err
}

// inlineRange is a range of code of one inlined call, and not of those inside it.
type inlineRange struct {
	start, end uint64
	call       int32
}

// inlines returns a function's inlined calls. The table has for each range the innermost call, whose
// record says which call is around it (see call).
func (t *Table) inlines(f *function, lines []symbol.Line, files map[fileKey]string) (out []symbol.InlineCall, err error) {
	if f.inline == 0 {
		return nil, nil
	}
	var ranges []inlineRange
	v := t.values(f, f.inline)
	for v.next() {
		if v.value >= 0 {
			ranges = append(ranges, inlineRange{v.start, v.end, v.value})
		}
	}
	if err := v.c.Err(); err != nil || len(ranges) == 0 {
		return nil, err
	}
	in := inliner{t: t, f: f, lines: lines, files: files, ranges: ranges, known: map[int32]int{}, left: 1000 + 8*len(ranges)}
	for _, r := range ranges {
		if err := in.add(r); err != nil {
			return nil, err
		}
	}
	return in.out, nil
}

// inliner collects the inlined calls of a function.
type inliner struct {
	t      *Table
	f      *function
	lines  []symbol.Line
	files  map[fileKey]string
	ranges []inlineRange
	out    []symbol.InlineCall
	known  map[int32]int // index in out, by the call's number
	around []int32       // the number of the call around each of out, or -1
	left   int           // how many ranges more the calls may have, for crafted tables
}

// add adds a range to its call and to those around it.
func (in *inliner) add(r inlineRange) error {
	for n := r.call; n >= 0 && in.left > 0; in.left-- {
		i, err := in.find(n, 0)
		if err != nil {
			return err
		}
		c, base := &in.out[i], in.t.cfg.Base
		if k := len(c.Ranges) - 1; k >= 0 && c.Ranges[k].Start+c.Ranges[k].Size == r.start-base {
			c.Ranges[k].Size += r.end - r.start
		} else {
			c.Ranges = append(c.Ranges, symbol.Range{Start: r.start - base, Size: r.end - r.start})
		}
		n = in.around[i]
	}
	return nil
}

// find returns the index in out of call n. A new call is appended behind the one around it.
func (in *inliner) find(n int32, depth int) (int, error) {
	if i, ok := in.known[n]; ok {
		return i, nil
	}
	c, err := in.t.call(in.f, n)
	if err != nil {
		return 0, err
	}
	out, around := symbol.InlineCall{Name: c.name}, c.parent
	if in.t.version >= go20 {
		around = in.callAt(c.at)
		out.CallFile, out.CallLine = in.lineAt(c.at)
	} else {
		out.CallLine = uint32(max(c.line, 0))
		if out.CallFile, err = in.t.path(in.f, c.file, in.files); err != nil {
			return 0, err
		}
	}
	switch {
	case around >= 0 && depth < maxDepth:
		i, err := in.find(around, depth+1)
		if err != nil {
			return 0, err
		}
		out.Depth = in.out[i].Depth + 1
	default:
		around = -1
	}
	// A crafted table may have calls around each other: the one that was found first counts.
	if i, ok := in.known[n]; ok {
		return i, nil
	}
	in.known[n] = len(in.out)
	in.out, in.around = append(in.out, out), append(in.around, around)
	return len(in.out) - 1, nil
}

// callAt returns the number of the innermost call at an address, or -1.
func (in *inliner) callAt(pc uint64) int32 {
	i := sort.Search(len(in.ranges), func(i int) bool { return in.ranges[i].end > pc })
	if i < len(in.ranges) && in.ranges[i].start <= pc {
		return in.ranges[i].call
	}
	return -1
}

// lineAt returns the source line at an address.
func (in *inliner) lineAt(pc uint64) (file string, line uint32) {
	rva := pc - in.t.cfg.Base
	i := sort.Search(len(in.lines), func(i int) bool { return in.lines[i].Start+in.lines[i].Size > rva })
	if i < len(in.lines) && in.lines[i].Start <= rva {
		return in.lines[i].File, in.lines[i].Line
	}
	return "", 0
}
