package intake

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// Limits bound what an archive may cost. A zero field means its default.
type Limits struct {
	// MaxTotal is how many unpacked bytes may be in memory at once, over all members.
	MaxTotal int64
	// MaxStream is how many bytes a file may unpack to of which only parts are in memory at once.
	MaxStream int64
	// MaxRatio is how many times its compressed size a file may unpack to, once it is larger than RatioFloor bytes.
	MaxRatio, RatioFloor int64
	// MaxMembers is how many members are taken from an archive and the archives in it.
	MaxMembers int
	// MaxDepth is how deep archives may be nested: 3 is a .sym.gz in a .zip in a .zip.
	MaxDepth int

	// Unpackers are readers of compressed formats besides gzip (Zstd, XZ), by the kind that Sniff gives. The page's first program has
	// no room for them, so that whoever has them brings them.
	Unpackers map[Kind]func(packed io.Reader) (io.Reader, error)
	// Archives are readers of archives besides zip (Cab), likewise. Each calls member for every member in turn, until that answers false; what
	// open gives is read at once. An error says what of the archive could not be read.
	Archives map[Kind]func(src *input.Source, member func(name string, size int64, open func() (io.Reader, error)) bool) error
	// Spool makes a place outside of memory for what is unpacked, where it is much. Without it all is held, within MaxTotal.
	Spool func() (Spool, error)
	// Inflate unpacks deflate data at once to somewhere outside of memory, where there is an inflater faster than this program's. An error
	// says no more than that it did not come to it: they are then unpacked here, which finds out what is wrong with them.
	Inflate func(d Deflated) (unpacked io.ReaderAt, n int64, err error)
	// KeepWhole is up to how many bytes all that was unpacked of a file is kept in memory.
	KeepWhole int64
}

// Deflated is what Limits.Inflate unpacks.
type Deflated struct {
	Src *input.Source
	// Raw are deflate data by themselves, with the CRC-32 and the size of what they unpack to; others are a gzip file, which has these.
	Raw  bool
	Sum  uint32
	Size int64
	// MaxSize is how many bytes may come out. Where there are more, Inflate ends with a larger n and no reader.
	MaxSize int64
	// Progress is called now and then with the number of bytes of Src that were read.
	Progress func(done int64)
}

// Spool is an input.Spool.
type Spool = input.Spool

// Gatherer is a Spool whose bytes are better read in another way when all are there. An error says that they are lost.
type Gatherer interface {
	Gather() (io.ReaderAt, error)
}

// DefaultLimits suit a browser's tab, where all memory together is 4 GB.
var DefaultLimits = Limits{MaxTotal: 1536 << 20, MaxStream: 16 << 30, MaxRatio: 300, RatioFloor: 64 << 20, MaxMembers: 20000, MaxDepth: 3, KeepWhole: 96 << 20}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	if l.MaxTotal > 0 {
		d.MaxTotal = l.MaxTotal
	}
	if l.MaxStream > 0 {
		d.MaxStream = l.MaxStream
	}
	if l.MaxRatio > 0 {
		d.MaxRatio = l.MaxRatio
	}
	if l.RatioFloor > 0 {
		d.RatioFloor = l.RatioFloor
	}
	if l.MaxMembers > 0 {
		d.MaxMembers = l.MaxMembers
	}
	d.Unpackers, d.Archives, d.Spool, d.Inflate = l.Unpackers, l.Archives, l.Spool, l.Inflate
	if l.KeepWhole > 0 {
		d.KeepWhole = l.KeepWhole
	}
	if l.MaxDepth > 0 {
		d.MaxDepth = l.MaxDepth
	}
	return d
}

// Progress is told which file is being unpacked and how much of its archive, in packed bytes, has been gone through. An error ends the
// work: Expand returns it together with what there was up to then. It is also called while a caller reads a member that is unpacked only
// then, with the bytes of that member; an error ends nothing there.
type Progress func(name string, done, total int64) error

// eagerSize is up to which size a member of a zip is unpacked at once, so that damage is found now. Larger ones are
// unpacked when a caller reads them, and damage is then an error of that read.
const eagerSize = 8 << 20

// Expand opens an archive: the result are its members, and those of the archives in it, by content. A file that is no
// archive comes back as it is. The error is *Problems, everything that could not be used (*input.FormatError with the
// file and the offset in it); what could be used is returned with it. A *input.NeedError comes alone.
//
// Members that a zip stores without compression are parts of the archive's Source and are not copied. Others are held unpacked in
// memory, in chunks; those that are large go to a spool (Limits.Spool).
func Expand(src *input.Source, limits Limits, progress Progress) ([]*input.Source, error) {
	e := &expander{limits: limits.orDefault(), progress: progress}
	e.top, _ = src.Within()
	e.budget = budget{e.limits.MaxTotal, e.limits.MaxTotal}
	e.expand(src, Sniff(src), 0, nil)
	e.ended = true
	if e.need != nil {
		return nil, e.need
	}
	return e.out, e.problems.err()
}

type expander struct {
	limits   Limits
	budget   budget
	progress Progress
	top      *input.Source // the archive itself
	ended    bool          // the member that is being unpacked is read by a caller, not by Expand

	out      []*input.Source
	problems Problems
	need     *input.NeedError
	members  int
	over     bool // the work was cancelled
}

// problem notes what could not be used.
func (e *expander) problem(file, part string, off int64, have string, err error) {
	if !errors.As(err, &e.need) {
		e.problems.add(&input.FormatError{File: file, Part: part, Offset: off, Have: have, Err: err})
	}
}

// teller makes what is called with how much of a packed file was read.
func (e *expander) teller(name string, src *input.Source) func(done int64) {
	whole, base := src.Within()
	return func(done int64) {
		total := src.Size
		if whole == e.top && !e.ended {
			done, total = base+done, e.top.Size
		}
		if e.progress == nil || e.over {
			return
		}
		if err := e.progress(name, done, total); err != nil && !e.ended {
			e.over = true
			e.problems.First = append(e.problems.First, err)
			e.problems.Count++
		}
	}
}

// expand takes a file: an archive for its content, another as it is. mem is where its bytes are if they were unpacked.
func (e *expander) expand(src *input.Source, g Guess, depth int, mem *unpacked) {
	if e.over || e.need != nil {
		return
	}
	archive := g.Kind == Gzip || g.Kind == Zip || e.limits.Unpackers[g.Kind] != nil || e.limits.Archives[g.Kind] != nil
	if archive && depth >= e.limits.MaxDepth {
		e.problem(src.Name, "", -1, fmt.Sprintf("an archive in %d others, which is too deep", depth), nil)
		archive = false
	}
	switch {
	case archive && g.Kind == Zip:
		e.unzip(src, depth)
	case archive && e.limits.Archives[g.Kind] != nil:
		e.unarchive(src, g.Kind, depth)
	case archive:
		e.unpack(src, g.Kind, depth, mem)
	default:
		if g.Kind == Unreadable {
			// A source that fails at once: the reader's error is worth more than the guess.
			_, err := src.Bytes(0, min(src.Size, 1))
			e.problem(src.Name, "", 0, "a read error", err)
		}
		e.out = append(e.out, src)
	}
}

// unpack unpacks a file that is compressed as a whole; a gzip file may be of several members. All of it is unpacked now: nothing else
// tells its size. Of a damaged one, what came out before the damage is used.
func (e *expander) unpack(src *input.Source, kind Kind, depth int, mem *unpacked) {
	u := &unpacked{packed: src.Size, size: -1, limits: e.limits, budget: &e.budget, told: e.teller(src.Name, src)}
	if kind == Gzip {
		u.deflated(src, true)
	} else {
		u.packedBy(e.limits.Unpackers[kind], src)
	}
	part := string(kind) + " data"
	u.atOnce()
	for u.err == nil {
		u.step()
		if e.over {
			u.drop()
			return
		}
	}
	switch {
	case u.err == io.EOF:
	case u.n > 0 && errors.Is(u.err, errNotGzip):
		// Something else follows the last member. Zeros are padding, which tapes and some tools add.
		if !zeros(src, u.read) {
			e.problem(src.Name, part, u.read, "other data after the compressed data, which is ignored", nil)
		}
	default:
		have, cause := "damaged data", u.err
		if errors.Is(cause, io.ErrUnexpectedEOF) {
			have = "the end of the file in the middle of the data"
		}
		if u.n > 0 {
			have += fmt.Sprintf("; the %d bytes before it are used", u.n)
		}
		if errors.Is(cause, ErrTooLarge) || errors.Is(cause, ErrRatio) {
			have = "too much data"
			u.drop()
		}
		e.problem(src.Name, part, u.read, have, named(cause))
		if u.n == 0 || e.need != nil {
			return
		}
	}
	u.endHere()
	u.open = nil
	if mem != nil {
		mem.drop() // the compressed bytes were only needed for this
	}
	var r io.ReaderAt = u
	if u.whole != nil {
		r = u.whole
	}
	inner := input.New(gunzipped(src.Name), r, u.n)
	e.expand(inner, sniffReader(inner.Name, r, u.n), depth+1, u)
}

// zeros reports whether zeros follow at off, where the next gzip member would begin.
func zeros(src *input.Source, off int64) bool {
	const header = 10
	tail, err := src.Bytes(off, min(header, src.Size-off))
	return err == nil && len(strings.Trim(string(tail), "\x00")) == 0
}

// gunzipped returns the name of a compressed file's content.
func gunzipped(name string) string {
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, ".tgz"):
		return name[:len(name)-4] + ".tar"
	case strings.HasSuffix(lower, ".xz") || strings.HasSuffix(lower, ".zst"):
		return name[:strings.LastIndexByte(name, '.')]
	case strings.HasSuffix(lower, ".gz") && !strings.HasSuffix(lower, "/.gz") && lower != ".gz":
		return name[:len(name)-3]
	}
	return name
}

// unzip takes the members of a zip archive.
func (e *expander) unzip(src *input.Source, depth int) {
	z, err := openZip(src)
	if err != nil {
		have := "no readable list of members at the end of the file: it is truncated or damaged"
		e.problem(src.Name, "zip archive", src.Size, have, err)
		return
	}
	for {
		m, ok, err := z.next()
		if !ok {
			if err != nil {
				e.problem(src.Name, "zip archive", z.unreadAt, fmt.Sprintf("a damaged list of members; the %d before are used", z.listed), err)
			}
			return
		}
		name := strings.ReplaceAll(m.name, `\`, "/")
		if strings.HasSuffix(name, "/") || junk(name) {
			continue
		}
		if !e.another(src, "zip archive") {
			return
		}
		if e.teller(src.Name+"/"+name, src)(m.header); e.over {
			return
		}
		e.member(src, &m, name, depth)
		if e.need != nil || e.over {
			return
		}
	}
}

// unarchive takes the members of an archive that one of Limits.Archives reads. Each is unpacked at once, since those behind it are read after it.
func (e *expander) unarchive(src *input.Source, kind Kind, depth int) {
	err := e.limits.Archives[kind](src, func(name string, size int64, open func() (io.Reader, error)) bool {
		name = strings.ReplaceAll(name, `\`, "/")
		if strings.HasSuffix(name, "/") || junk(name) {
			return true
		}
		if !e.another(src, string(kind)) {
			return false
		}
		full := src.Name + "/" + name
		fail := func(have string, err error) { e.problem(src.Name, fmt.Sprintf("member %q", name), -1, have, err) }
		if _, err := open(); err != nil {
			fail("", err)
		} else if e.fits(size, fail) {
			u := &unpacked{packed: src.Size, size: size, large: size > e.limits.KeepWhole, limits: e.limits, budget: &e.budget, told: e.teller(full, src), open: open}
			e.unpackMember(u, full, size, depth, fail)
		}
		return e.need == nil && !e.over
	})
	if err != nil {
		e.problem(src.Name, string(kind), -1, "a damaged archive", err)
	}
}

// another counts a member, and says whether it is not one too many.
func (e *expander) another(src *input.Source, what string) bool {
	if e.members++; e.members > e.limits.MaxMembers {
		e.problem(src.Name, what, -1, fmt.Sprintf("more than %d members; the rest is left out", e.limits.MaxMembers), nil)
		return false
	}
	return true
}

// fits reports whether a member is not larger than the limits allow.
func (e *expander) fits(size int64, fail func(have string, err error)) bool {
	most := e.limits.MaxTotal
	if size > e.limits.KeepWhole {
		most = e.limits.MaxStream
	}
	if size < 0 || size > most {
		fail(fmt.Sprintf("a claimed size of %d bytes", uint64(size)), fmt.Errorf("%w: %d bytes in all", ErrTooLarge, most))
		return false
	}
	return true
}

// junk reports whether a member is bookkeeping of the system that made the archive.
func junk(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.Contains(name, "/__MACOSX/") || strings.HasPrefix(base, "._") ||
		base == ".DS_Store" || base == "Thumbs.db" || base == "desktop.ini"
}

// methods are names of compression methods that are not unpacked here (APPNOTE.TXT 4.4.5).
var methods = map[uint16]string{
	1: "shrink", 6: "implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 20: "zstd", 93: "zstd", 95: "xz", 98: "PPMd", 99: "AES encryption",
}

// memberKinds are the methods that one of Limits.Unpackers may know.
var memberKinds = map[uint16]Kind{20: Zstd, 93: Zstd, 95: XZ}

// member takes one member of a zip archive.
func (e *expander) member(src *input.Source, f *zipMember, name string, depth int) {
	full := src.Name + "/" + name
	fail := func(off int64, have string, err error) {
		e.problem(src.Name, fmt.Sprintf("member %q", name), off, have, err)
	}
	off, err := f.data(src)
	switch {
	case err != nil:
		fail(-1, "no readable local header", err)
		return
	case f.flags&1 != 0:
		fail(off, "encrypted data", nil)
		return
	case f.method == zipStore:
		if f.packed < 0 || f.packed > src.Size-off {
			fail(off, fmt.Sprintf("a claimed size of %d bytes, where the archive has %d", uint64(f.packed), src.Size-off), nil)
		}
		inner := src.Sub(full, off, f.packed)
		e.expand(inner, Sniff(inner), depth+1, nil)
		return
	case f.method != zipDeflate && e.limits.Unpackers[memberKinds[f.method]] == nil:
		method := methods[f.method]
		if method == "" {
			method = fmt.Sprintf("method %d", f.method)
		}
		if memberKinds[f.method] != "" {
			fail(off, "compressed with "+method, ErrNoUnpacker)
			return
		}
		fail(off, "compressed with "+method+", which is not supported; unpack it first", nil)
		return
	}

	size, packed := f.size, f.packed
	at := func(have string, err error) { fail(off, have, err) }
	if !e.fits(size, at) {
		return
	}
	raw := src.Sub(full, off, packed)
	u := &unpacked{packed: packed, size: size, limits: e.limits, budget: &e.budget, sum: f.sum, hasSum: true, told: e.teller(full, raw)}
	if f.method == zipDeflate {
		u.deflated(raw, false)
	} else {
		u.packedBy(e.limits.Unpackers[memberKinds[f.method]], raw)
	}
	now := size
	if size > eagerSize {
		now = min(size, sniffSize)
	}
	e.unpackMember(u, full, now, depth, at)
}

// unpackMember unpacks a member of an archive as far as it is to be unpacked now, and takes what came out. Where the data are damaged, that is what
// came before the damage.
func (e *expander) unpackMember(u *unpacked, full string, now int64, depth int, fail func(have string, err error)) {
	u.fill(now)
	if u.err != nil && u.err != io.EOF {
		have, cause := "damaged data", u.err
		if errors.Is(cause, ErrTooLarge) || errors.Is(cause, ErrRatio) {
			have = "too much data"
			u.drop()
		} else if u.n > 0 {
			have += fmt.Sprintf("; %d of its %d bytes are unpacked and used", u.n, u.size)
		}
		fail(have, named(cause))
		if u.n == 0 {
			return
		}
		u.endHere()
	}
	g := sniffReader(full, u, u.size)
	u.rewind()
	e.expand(input.New(full, u, u.size), g, depth+1, u)
}

// named returns an error of the libraries in the words of this program.
func named(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data ends too early")
	}
	return err
}
