package dwarf

import (
	"fmt"
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// row is the line of the code from addr to the next row's address, or to the end of the sequence.
type row struct {
	addr       uint64 // module-relative
	line, file uint32
}

// sequence is a run of rows without gaps: the rows of one section of code of an object file, up to
// DW_LNE_end_sequence. With -ffunction-sections each function has one.
type sequence struct {
	span
	from, to int    // indexes of rows
	high     uint64 // the highest end of this sequence and all before it in a sorted list
}

// lineTable is the result of a line program.
type lineTable struct {
	u       *unit // its DW_AT_comp_dir is the directory of relative paths
	version uint8
	rows    []row
	seqs    []sequence
	dirs    []word
	files   []fileEntry
	paths   []string // of files, made by path
	known   []bool   // which of paths are made
	compDir string
}

// fileEntry is a file of the header's table: its name, and the number of its directory in dirs.
type fileEntry struct {
	dir  uint64
	name word
	sum  *[16]byte // its MD5, or nil
}

// sortSequences sorts by address: a linker puts functions into another order than their sequences
// have.
func (t *lineTable) sortSequences() {
	sort.SliceStable(t.seqs, func(i, j int) bool { return t.seqs[i].start < t.seqs[j].start })
	var high uint64
	for i := range t.seqs {
		high = max(high, t.seqs[i].end)
		t.seqs[i].high = high
	}
}

// lineSpan is a range of code of one line.
type lineSpan struct {
	span
	line, file uint32
}

// sequenceAt returns the sequence that has an address: of several the one that starts last. A
// sequence has no gaps, so that it has a line for each of its addresses.
func (t *lineTable) sequenceAt(rva uint64) *sequence {
	i := sort.Search(len(t.seqs), func(i int) bool { return t.seqs[i].start > rva }) - 1
	for steps := 0; i >= 0 && t.seqs[i].high > rva && steps < 64; i, steps = i-1, steps+1 {
		if t.seqs[i].end > rva {
			return &t.seqs[i]
		}
	}
	return nil
}

// within appends to dst the lines of the code from lo to hi.
//
// Each round takes the part of [lo, hi) in one sequence, or skips to the next sequence if none
// covers lo.
func (t *lineTable) within(dst []lineSpan, lo, hi uint64) []lineSpan {
	for lo < hi {
		i := sort.Search(len(t.seqs), func(i int) bool { return t.seqs[i].start > lo })
		next := hi
		if i < len(t.seqs) {
			next = min(hi, t.seqs[i].start)
		}
		found := t.sequenceAt(lo)
		if found == nil {
			lo = next
			continue
		}
		end := min(found.end, hi)
		rows := t.rows[found.from:found.to]
		k := sort.Search(len(rows), func(k int) bool { return rows[k].addr > lo })
		for k--; k < len(rows) && rows[k].addr < end; k++ {
			p := lineSpan{span{max(lo, rows[k].addr), end}, rows[k].line, rows[k].file}
			if k+1 < len(rows) {
				p.end = min(p.end, rows[k+1].addr)
			}
			dst = t.join(dst, p)
		}
		lo = end
	}
	return dst
}

// join appends p to dst. It extends the last element instead if that has the same line and ends
// where p begins.
func (t *lineTable) join(dst []lineSpan, p lineSpan) []lineSpan {
	if p.end <= p.start {
		return dst
	}
	if n := len(dst); n > 0 && dst[n-1].end == p.start && dst[n-1].line == p.line && (dst[n-1].file == p.file || t.same(dst[n-1].file, p.file)) {
		dst[n-1].end = p.end
		return dst
	}
	return append(dst, p)
}

// same reports whether two file numbers have the same path. Compilers of DWARF 5 list the main file
// as file 0 and again as file 1.
func (t *lineTable) same(a, b uint32) bool {
	pa, erra := t.path(a)
	pb, errb := t.path(b)
	return erra == nil && errb == nil && pa == pb && pa != ""
}

// path returns the path of a file number, joined to its directory and to DW_AT_comp_dir, or "" if
// there is no such file. File numbers count from 0 in DWARF 5, from 1 before.
func (t *lineTable) path(n uint32) (string, error) {
	i := int64(n)
	if t.version < 5 {
		i--
	}
	if i < 0 || i >= int64(len(t.files)) {
		return "", nil
	}
	if t.known == nil {
		t.paths, t.known = make([]string, len(t.files)), make([]bool, len(t.files))
		dir, err := t.u.text(t.u.compDir, maxName)
		if err = t.u.obj.d.warnings.Pass(err); err != nil {
			t.known = nil
			return "", err
		}
		t.compDir = dir
	}
	if t.known[i] {
		return t.paths[i], nil
	}
	d := t.u.obj.d
	e := t.files[i]
	name, err := t.name(e.name)
	if err = d.warnings.Pass(err); err != nil {
		return "", err
	}
	dir := ""
	number := e.dir
	if t.version < 5 {
		number-- // 0 is the directory of the compilation
	}
	// For directory 0 before DWARF 5, number wraps around and is not an index: the path is then
	// relative to compDir.
	if number < uint64(len(t.dirs)) && !absolute(name) {
		dir, err = t.name(t.dirs[number])
		if err = d.warnings.Pass(err); err != nil {
			return "", err
		}
	}
	t.paths[i], t.known[i] = cleanPath(joinPath(joinPath(t.compDir, dir), name)), true
	if name == "" {
		t.paths[i] = ""
	}
	return t.paths[i], nil
}

// SourceSum returns the checksum of a source file of the unit of an address (DWARF 5, DW_LNCT_MD5).
func (d *Data) SourceSum(rva uint64, path string) (symbol.Sum, error) {
	d.begin()
	data, _, err := d.functionAt(rva)
	if err != nil || data == nil || data.table == nil {
		return symbol.Sum{}, err
	}
	t := data.table
	for i, f := range t.files {
		if f.sum == nil {
			continue
		}
		p, err := t.path(uint32(i))
		if err != nil {
			return symbol.Sum{}, err
		}
		if p == path {
			return symbol.Sum{Kind: "MD5", Hex: fmt.Sprintf("%x", f.sum[:])}, nil
		}
	}
	return symbol.Sum{}, nil
}

// name reads the text of a table's entry. In the older tables it is in .debug_line itself.
func (t *lineTable) name(w word) (string, error) {
	if w.form == formString {
		return t.u.obj.cstring(secLine, int64(w.v), maxName)
	}
	return t.u.text(w, maxName)
}
