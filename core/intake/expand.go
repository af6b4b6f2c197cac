package intake

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/crashpane/crashpane/core/input"
)

// Limits bound what an archive may cost. A zero field means its default.
type Limits struct {
	// MaxStream bounds the unpacked size of a file.
	MaxStream int64
	// MaxRatio is how many times its size an archive may unpack to, all members together, once that
	// is more than RatioFloor bytes.
	MaxRatio, RatioFloor int64
	// MaxMembers is how many members are taken from an archive and the archives in it.
	MaxMembers int
	// MaxDepth is how deep archives may be nested: 3 is a .sym.gz in a .zip in a .zip.
	MaxDepth int

	// Spool creates storage outside of memory, for large unpacked files and for what the Budget of
	// the archive's Source has no memory for.
	Spool func() (Spool, error)
	// Inflate unpacks deflate data at once to storage outside of memory, with an inflater that is
	// faster than this program's, such as the browser's. After an error of it the data are unpacked
	// here, which finds out what is wrong with them.
	Inflate func(d Deflated) (unpacked io.ReaderAt, n int64, err error)
	// KeepWhole is the unpacked size in bytes up to which a file stays in memory.
	KeepWhole int64
	// Advice ends the message of a limit that Source.MaxUnpacked raises: how the user can do that.
	Advice string
}

// Deflated is what Limits.Inflate unpacks.
type Deflated struct {
	Src *input.Source
	// Raw: Src is deflate data alone, with the CRC-32 and the size of the result. Otherwise it is a
	// gzip file, which contains these.
	Raw  bool
	Sum  uint32
	Size int64
	// MaxSize bounds the result in bytes. If it would be larger, Inflate returns a larger n and no
	// reader.
	MaxSize int64
	// Progress is called now and then with the number of bytes of Src that were read.
	Progress func(done int64)
}

// Spool is an input.Spool.
type Spool = input.Spool

// Gatherer is a Spool that can make a better reader of its bytes once it has all of them. After an
// error the bytes are lost.
type Gatherer interface {
	Gather() (io.ReaderAt, error)
}

// DefaultLimits suit a browser's tab, where all memory together is 4 GB.
var DefaultLimits = Limits{MaxStream: 16 << 30, MaxRatio: 300, RatioFloor: 64 << 20, MaxMembers: 20000, MaxDepth: 3, KeepWhole: 96 << 20}

// orDefault returns the limits with the defaults in place of fields that are zero.
func (l Limits) orDefault() Limits {
	d := DefaultLimits
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
	d.Spool, d.Inflate, d.Advice = l.Spool, l.Inflate, l.Advice
	if l.KeepWhole > 0 {
		d.KeepWhole = l.KeepWhole
	}
	if l.MaxDepth > 0 {
		d.MaxDepth = l.MaxDepth
	}
	return d
}

// Progress is called with the name of the file that is being unpacked, and the number of its
// archive's packed bytes that were read. If it returns an error, Expand stops and returns the error
// with the members so far. It is also called while a caller reads a member that is unpacked only
// then, with the numbers of that member; there its error is ignored.
type Progress func(name string, done, total int64) error

// eagerSize is the size in bytes up to which Expand unpacks a member of a zip, so that it finds
// damage. Larger members are unpacked when a caller reads them, and damage is then an error of that
// read.
const eagerSize = 8 << 20

// Expand opens an archive: the result are its members, and those of the archives in it, by content.
// A file that is not an archive comes back as it is. The error is *Problems, everything that could not
// be used (*input.FormatError with the file and the offset in it); what could be used is returned
// with it. A *input.NeedError comes alone.
//
// Members that a zip stores without compression are parts of the archive's Source and are not
// copied. Others are held unpacked in memory, in chunks; those that are large go to a spool
// (Limits.Spool).
func Expand(src *input.Source, limits Limits, progress Progress) ([]*input.Source, error) {
	x := Begin(src, limits, progress)
	for state := Waiting; state != Done; {
		_, state = x.Next(Turn{})
	}
	if x.e.need != nil {
		return nil, x.e.need
	}
	return x.e.out, x.Err()
}

// maxBombs is how many members may unpack to too much and are left out, before no other is opened.
const maxBombs = 2

// expander is the state of one Expansion.
type expander struct {
	limits   Limits
	unpacked atomic.Int64 // bytes, of all members that were unpacked
	most     int64        // that may be unpacked
	progress Progress
	top      *input.Source // the archive itself
	ended    bool          // the member that is being unpacked is read by a caller, not by Next
	tasks    tasks
	arrived  int   // tasks so far
	before   int64 // bytes of the archive that tasks have read that are done
	turn     Turn
	letsGo   bool // other files go before what is being unpacked

	out      []*input.Source
	problems Problems
	need     *input.NeedError
	members  int
	over     bool // the work was cancelled
	bombs    int  // members that unpack to too much, together with those before
}

// problem records what could not be used.
func (e *expander) problem(file, part string, off int64, have string, err error) {
	if !errors.As(err, &e.need) {
		e.problems.add(&input.FormatError{File: file, Part: part, Offset: off, Have: have, Err: err})
	}
}

// passed counts bytes of a file that need not be read again, for the progress.
func (e *expander) passed(src *input.Source, n int64) {
	if whole, _ := src.Within(); whole == e.top {
		e.before += n
	}
}

// progressOf returns the function that is called with the number of bytes of a packed file that
// were read.
func (e *expander) progressOf(name string, src *input.Source) func(done int64) {
	whole, _ := src.Within()
	return func(done int64) {
		total := src.Size
		if whole == e.top && !e.ended {
			done, total = min(e.before+done, e.top.Size), e.top.Size
		}
		if e.progress == nil || e.over {
			return
		}
		// The caller cancelled: what was unpacked so far is kept, and the error is the first of the
		// problems.
		if err := e.progress(name, done, total); err != nil && !e.ended {
			e.over = true
			e.problems.First = append(e.problems.First, err)
			e.problems.Count++
		}
	}
}

// expand adds a file to the result: the members of an archive, any other file as it is. mem has its
// bytes if they were unpacked.
func (e *expander) expand(src *input.Source, g Guess, depth int, mem *unpacked) {
	if e.over || e.need != nil {
		return
	}
	archive := g.Kind.IsPacked()
	if archive && depth >= e.limits.MaxDepth && !g.Kind.IsConverted() {
		e.problem(src.Name, "", -1, fmt.Sprintf("an archive in %d others, which is too deep", depth), nil)
		archive = false
	}
	switch {
	case archive && (g.Kind == Multipart || g.Kind == Envelope):
		e.openUpload(src, g.Kind, depth)
	case archive && g.Kind == HTTP:
		e.openHTTP(src, depth)
	case archive && g.Kind == Zip:
		e.unzip(src, depth)
	case archive && g.Kind == Tar:
		e.openTar(src, depth)
	case archive && g.Kind == Ar:
		e.openAr(src, depth)
	case archive && g.Kind == Fat:
		e.openFat(src, depth)
	case archive && serial[g.Kind] != nil:
		e.openSerial(src, g.Kind, depth)
	case archive:
		e.unpack(src, g.Kind, depth, mem)
	default:
		if g.Kind == Unreadable {
			// A source that fails at once: return the reader's error in place of the guess.
			_, err := src.Bytes(0, min(src.Size, 1))
			e.problem(src.Name, "", 0, "a read error", err)
		}
		e.out = append(e.out, src)
	}
}

// unpack unpacks a file that is compressed or encoded as a whole.
func (e *expander) unpack(src *input.Source, kind Kind, depth int, mem *unpacked) {
	e.unpackBy(unpackers[kind], src, string(kind)+" data", depth, mem)
}

// unpackBy unpacks a file with a reader of its format; nil is gzip, which may be of several members.
// Only unpacking finds out its size, so it is unpacked completely, in steps. The bytes
// before any damage are used.
func (e *expander) unpackBy(open unpacker, src *input.Source, part string, depth int, mem *unpacked) {
	var u *unpacked
	e.later(src.Name, src.Size, func(t *task) bool {
		if u == nil {
			u = &unpacked{packed: src.Size, size: -1, limits: e.limits, in: e, progress: e.progressOf(src.Name, src)}
			if open == nil {
				u.deflated(src, true)
			} else {
				u.packedBy(open, src)
			}
			u.atOnce()
		}
		for u.err == nil {
			u.step()
			switch {
			case e.over:
				u.drop()
				return true
			case u.err == nil && e.tooSlow(t, u.read+u.n):
				u.drop()
				u = nil
				return false
			case u.err == nil && e.pauses():
				return false
			}
		}
		e.unpackedWhole(u, src, part, depth, mem)
		e.passed(src, src.Size)
		return true
	})
}

// unpackedWhole adds a file that is unpacked as far as it can be.
func (e *expander) unpackedWhole(u *unpacked, src *input.Source, part string, depth int, mem *unpacked) {
	switch {
	case u.err == io.EOF:
	case u.n > 0 && errors.Is(u.err, errNotGzip):
		// Something else follows the last member. Zeros are padding, which tapes and some tools
		// add.
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
		if tooMuch(cause) {
			have = "too much data"
			u.drop()
		}
		e.problem(src.Name, part, u.read, have, named(cause))
		if u.n == 0 || e.need != nil {
			return
		}
	}
	u.endHere()
	if mem != nil {
		mem.drop() // the compressed bytes were only needed for this
		u.open = nil
	}
	var r io.ReaderAt = u
	if u.whole != nil {
		r = u.whole
	}
	inner := input.New(gunzipped(src.Name), r, u.n)
	inner.Notes, inner.Modified = src.Notes, src.Modified
	g := sniffReader(inner.Name, r, u.n)
	if g.Kind != Tar { // a compressed tar is one archive
		depth++
	}
	e.expand(inner, g, depth, u)
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
	for _, end := range []string{".tgz", ".txz", ".tzst"} {
		if strings.HasSuffix(lower, end) {
			return name[:len(name)-len(end)] + ".tar"
		}
	}
	for _, end := range Endings() {
		if strings.HasSuffix(lower, end) && path.Base(lower) != end {
			return name[:len(name)-len(end)]
		}
	}
	return name
}

// unzip adds the members of a zip archive.
func (e *expander) unzip(src *input.Source, depth int) {
	z, err := openZip(src)
	if err != nil {
		have := "no readable list of members at the end of the file: it is truncated or damaged"
		e.problem(src.Name, "zip archive", src.Size, have, err)
		return
	}
	for packed := int64(0); ; {
		m, ok, err := z.next()
		if !ok {
			if err != nil {
				e.problem(src.Name, "zip archive", z.unreadAt, fmt.Sprintf("a damaged list of members; the %d before are used", z.listed), err)
			}
			return
		}
		name := strings.ReplaceAll(m.name, `\`, "/")
		if strings.HasSuffix(name, "/") || isMetadata(name) {
			continue
		}
		if !e.another(src, "zip archive") {
			return
		}
		// Members that overlap ask for much more work than their archive has bytes. One may only
		// claim to, because the list is damaged.
		if packed += min(m.packed, src.Size); packed > 2*src.Size {
			e.problem(src.Name, "zip archive", m.header, "members that overlap; those before are used", nil)
			return
		}
		size := min(m.packed, src.Size)
		e.later(name, size+min(m.size, e.limits.MaxStream), func(*task) bool {
			if e.progressOf(src.Name+"/"+name, src)(0); !e.over {
				e.member(src, &m, name, depth)
				e.passed(src, size)
			}
			return true
		})
	}
}

// another counts a member, and reports whether it is within MaxMembers.
func (e *expander) another(src *input.Source, what string) bool {
	if e.members++; e.members > e.limits.MaxMembers {
		e.problem(src.Name, what, -1, fmt.Sprintf("more than %d members; the rest is left out", e.limits.MaxMembers), nil)
		return false
	}
	return true
}

// fits reports whether a member is not larger than the limits allow.
func (e *expander) fits(size int64, fail func(have string, err error)) bool {
	if size < 0 || size > e.limits.MaxStream {
		fail(fmt.Sprintf("a claimed size of %d bytes", uint64(size)), e.limits.tooLarge())
		return false
	}
	return true
}

// isMetadata reports whether a member is metadata of the system that made the archive, such as
// __MACOSX.
func isMetadata(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.Contains(name, "/__MACOSX/") || strings.HasPrefix(base, "._") ||
		base == ".DS_Store" || base == "Thumbs.db" || base == "desktop.ini"
}

// methods are the names of compression methods that this package cannot unpack (APPNOTE.TXT 4.4.5).
var methods = map[uint16]string{
	1: "shrink", 6: "implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 20: "zstd", 93: "zstd", 95: "xz", 98: "PPMd", 99: "AES encryption",
}

// memberKinds are the methods besides deflate that have a reader in unpackers.
var memberKinds = map[uint16]Kind{20: Zstd, 93: Zstd, 95: XZ}

// member adds one member of a zip archive.
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
		e.addPart(src, name, off, f.packed, f.modified, depth)
		return
	case f.method != zipDeflate && memberKinds[f.method] == "":
		method := methods[f.method]
		if method == "" {
			method = fmt.Sprintf("method %d", f.method)
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
	u := &unpacked{packed: packed, size: size, limits: e.limits, in: e, sum: f.sum, hasSum: true, progress: e.progressOf(full, raw)}
	if f.method == zipDeflate {
		u.deflated(raw, false)
	} else {
		u.packedBy(unpackers[memberKinds[f.method]], raw)
	}
	now := size
	if size > min(eagerSize, e.top.Budget.Left(input.Memory)/4) {
		now = min(size, sniffSize)
	}
	e.unpackMember(u, full, now, f.modified, depth, at)
}

// unpackMember unpacks a member of an archive, whole or as far as it must be now, and adds it. Of
// damaged data it adds the bytes before the damage.
func (e *expander) unpackMember(u *unpacked, full string, now, modified int64, depth int, fail func(have string, err error)) {
	u.fill(now)
	if u.err != nil && u.err != io.EOF {
		have, cause := "damaged data", u.err
		if tooMuch(cause) {
			have = "too much data"
			u.drop()
		} else if u.n > 0 {
			have += fmt.Sprintf("; %d of its %d bytes are unpacked and used", u.n, u.size)
		}
		fail(have, named(cause))
		if errors.Is(cause, ErrRatio) {
			e.bombs++
		}
		if u.n == 0 {
			return
		}
		u.endHere()
	}
	g := sniffReader(full, u, u.size)
	u.rewind()
	inner := input.New(full, u, u.size)
	inner.Modified = modified
	e.expand(inner, g, depth+1, u)
}

// named translates an error of a library to the words of this program.
func named(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data ends too early")
	}
	return err
}
