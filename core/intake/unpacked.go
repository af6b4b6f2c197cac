package intake

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/crashpane/crashpane/core/inflate"
	"github.com/crashpane/crashpane/core/input"
)

// chunkSize is the unit in which unpacked bytes are kept. Memory grows by what really came out, a chunk at a time, and
// nothing is ever copied into something larger.
const chunkSize = 256 << 10

const (
	// Of a large file are kept what was used last, keepChunks, and places to unpack again from, one each pointEvery bytes as long as
	// there are no more than maxPoints (of 32 KiB), else less often.
	keepChunks = 32
	pointEvery = 128 << 10
	maxPoints  = 1024
)

// budget is what all members of one Expand may still unpack into memory, in bytes.
type budget struct{ left, total int64 }

// Errors of unpacking, wrapped with the file's name and where it happened.
var (
	// ErrTooLarge: more was unpacked than the limits allow. It is what a zip bomb ends in.
	ErrTooLarge = errors.New("it unpacks to more than is allowed")
	// ErrRatio: a file unpacks to suspiciously many times its size.
	ErrRatio = errors.New("it unpacks to implausibly many times its size")
	// ErrNoUnpacker: the limits have no reader of a member's format that there is one of elsewhere (Limits.Unpackers).
	ErrNoUnpacker = errors.New("its reader is not at hand; unpack it first")
	// ErrChecksum: what came out is not what went in.
	ErrChecksum = errors.New("the checksum does not match")
)

// unpacked is a compressed file as an io.ReaderAt: it is unpacked from its start as far as somebody reads, and what came out is
// kept in chunks. Of a large file of deflate data most chunks are forgotten again, and unpacked anew from a place shortly before.
type unpacked struct {
	open   func() (io.Reader, error) // begins anew
	packed int64                     // the compressed size, bytes
	size   int64                     // how much there should be, bytes; -1 if nobody knows
	limits Limits
	budget *budget
	// sum is the CRC-32 that the unpacked bytes should have, where the reader below does not check it.
	sum    uint32
	hasSum bool

	mu     sync.Mutex // of ReadAt: an index is made by several goroutines
	r      io.Reader
	crc    uint32   // of the bytes so far
	chunks [][]byte // all full except the last one; nil where forgotten
	n      int64    // bytes in chunks, forgotten ones included
	held   int64    // bytes in chunks that are not forgotten
	err    error    // why there is no more; io.EOF at the regular end

	// told, if set, is called with how many packed bytes were read; read is how many another format's reader took.
	told func(done int64)
	read int64
	// whole is what gives the bytes in place of all that follows, once they are all somewhere else.
	whole io.ReaderAt
	src   *input.Source // of deflate data
	gzip  bool
	tried bool // Limits.Inflate

	// Of deflate data: what unpacks, the places to begin again at, how far they are apart, and the chunks that are there, the oldest
	// use first, if some were forgotten.
	z      *inflate.Reader
	points []inflate.Point
	every  int64
	recent []int64
	large  bool   // chunks are forgotten from the start
	spare  []byte // for the next chunk
	spool  Spool  // where chunks that are forgotten are; nil if they are unpacked again, or all are held
	at     int64  // how far into the compressed data it came
}

// deflated makes u unpack deflate data, in gzip members or without.
func (u *unpacked) deflated(src *input.Source, gzip bool) {
	u.src, u.gzip = src, gzip
	u.large = max(u.size, src.Size) > u.limits.KeepWhole
	if tail, err := src.Bytes(max(0, src.Size-4), min(4, src.Size)); gzip && err == nil && len(tail) == 4 {
		// The last member's size. It may say anything; what is too large is noticed when it comes out.
		u.large = u.large || int64(little.Uint32(tail)) > u.limits.KeepWhole
	}
	u.open = func() (io.Reader, error) {
		u.z, u.points, u.every = inflate.New(src, gzip), nil, pointEvery
		u.z.OnBlock = func(now []byte) {
			if u.spool != nil {
				return
			}
			at := u.z.Out() + int64(len(now))
			if n := len(u.points); at < u.every || n > 0 && at-u.points[n-1].Out < u.every {
				return
			}
			if len(u.points) == maxPoints {
				for i := range maxPoints / 2 {
					u.points[i] = u.points[2*i+1]
				}
				clear(u.points[maxPoints/2:])
				u.points = u.points[:maxPoints/2]
				u.every *= 2
			}
			u.points = append(u.points, u.z.Here(now))
		}
		return u.z, nil
	}
}

// ReadAt unpacks as far as it has to. Of data that turn out to be damaged, all is readable that came out before, except
// for the last byte before the damage (or of all, if only the checksum is wrong): who reads on to it gets the error.
func (u *unpacked) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.whole == nil {
		u.fill(off + int64(len(p)))
	}
	if u.whole != nil {
		return u.whole.ReadAt(p, off)
	}
	done := 0
	for done < len(p) && off < u.n {
		c, err := u.chunk(off / chunkSize)
		if err != nil {
			return done, err
		}
		k := copy(p[done:], c[off%chunkSize:])
		done += k
		off += int64(k)
	}
	switch {
	case done < len(p):
		return done, u.err
	case u.err != nil && u.err != io.EOF && off == u.n && done > 0:
		return done - 1, u.err
	}
	return done, nil
}

// packedBy makes u unpack data of another format.
func (u *unpacked) packedBy(open func(io.Reader) (io.Reader, error), src *input.Source) {
	u.large = u.size > u.limits.KeepWhole
	u.open = func() (io.Reader, error) {
		u.read = 0
		return open(&readCounter{io.NewSectionReader(src, 0, src.Size), &u.read})
	}
}

// readCounter counts what is read.
type readCounter struct {
	io.Reader
	n *int64
}

func (c *readCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

// atOnce has all unpacked by Limits.Inflate, if it is much.
func (u *unpacked) atOnce() {
	if u.tried || !u.large || u.src == nil || u.limits.Inflate == nil {
		return
	}
	u.tried = true
	most := u.size
	if most < 0 {
		most = min(u.limits.MaxStream, max(u.limits.RatioFloor, u.limits.MaxRatio*u.packed))
	}
	r, n, err := u.limits.Inflate(Deflated{Src: u.src, Raw: !u.gzip, Sum: u.sum, Size: u.size, Most: most, Told: u.told})
	switch {
	case err != nil, u.size >= 0 && n != u.size:
	case n > u.limits.MaxStream:
		u.stop(fmt.Errorf("%w: %d bytes", ErrTooLarge, u.limits.MaxStream))
	case n > most:
		u.stop(fmt.Errorf("%w: %d bytes out of %d", ErrRatio, n, u.packed))
	default:
		u.take(r, n)
	}
}

// take has another reader give the bytes from now on.
func (u *unpacked) take(r io.ReaderAt, n int64) {
	u.drop()
	u.whole, u.n, u.size, u.err = r, n, n, io.EOF
	u.z, u.spool, u.spare = nil, nil, nil
}

// Settle implements input.Settler.
func (u *unpacked) Settle() io.ReaderAt {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.large {
		u.fill(u.size)
	}
	return u.whole
}

// spooled makes sure of a spool, if there is a way to one, and puts the chunks there from one on. Deflate data can do without, but a
// lookup then unpacks a megabyte.
func (u *unpacked) spooled(from int64) {
	if u.limits.Spool == nil {
		return
	}
	var err error
	if u.spool == nil {
		if u.spool, err = u.limits.Spool(); err != nil {
			u.limits.Spool, u.spool = nil, nil
			return
		}
		from = 0
	}
	for i := from; i < int64(len(u.chunks)) && err == nil; i++ {
		_, err = u.spool.WriteAt(u.chunks[i], i*chunkSize)
	}
	switch {
	case err != nil && u.z != nil:
		u.limits.Spool, u.spool = nil, nil
	case err != nil:
		u.stop(err)
	default:
		u.points = nil
	}
}

// chunk is a chunk of what was unpacked once; if it was forgotten, it is unpacked again.
func (u *unpacked) chunk(i int64) ([]byte, error) {
	if u.chunks[i] == nil {
		start := i * chunkSize
		buf := make([]byte, min(chunkSize, u.n-start))
		if u.spool != nil {
			if k, err := u.spool.ReadAt(buf, start); k < len(buf) {
				return nil, err
			}
		} else if err := u.seek(start); err != nil {
			return nil, err
		} else if k, err := readUntil(u.z, buf); k < len(buf) {
			return nil, err
		}
		u.chunks[i] = buf
		u.held += int64(len(buf))
		u.budget.left -= int64(len(buf))
	}
	if u.recent != nil {
		u.use(i)
	}
	return u.chunks[i], nil
}

// seek makes the inflater go on at an offset up to which it was unpacked once.
func (u *unpacked) seek(start int64) error {
	z := u.z
	if z.Out() > start || z.Out()+2*chunkSize < start || z.Err() != nil {
		var p inflate.Point // the start
		for _, q := range u.points {
			if q.Out <= start {
				p = q
			}
		}
		if err := z.Begin(p); err != nil {
			return err
		}
	}
	var skip []byte
	for z.Out() < start {
		if skip == nil {
			skip = make([]byte, inflate.Window)
		}
		if _, err := z.Read(skip[:min(inflate.Window, start-z.Out())]); err != nil {
			return err
		}
	}
	return nil
}

// use notes that a chunk is used, and forgets those that were not used for long.
func (u *unpacked) use(i int64) {
	if n := len(u.recent); n > 0 && u.recent[n-1] == i {
		return
	}
	if at := slices.Index(u.recent, i); at >= 0 {
		u.recent = slices.Delete(u.recent, at, at+1)
	}
	u.recent = append(u.recent, i)
	for len(u.recent) > keepChunks {
		u.forget(u.recent[0])
		u.recent = u.recent[1:]
	}
}

func (u *unpacked) forget(i int64) {
	u.held -= int64(len(u.chunks[i]))
	u.budget.left += int64(len(u.chunks[i]))
	u.chunks[i] = nil
}

// fill unpacks until there are n bytes, or there is an error.
func (u *unpacked) fill(n int64) {
	if u.size >= 0 {
		n = min(n, u.size)
	}
	if n > sniffSize && u.err == nil {
		u.atOnce()
	}
	for u.err == nil {
		switch {
		case u.n < n:
			u.step()
		case u.n == u.size:
			u.finish()
		default:
			return
		}
	}
}

// begin opens the compressed data, unless they are open already.
func (u *unpacked) begin() bool {
	if u.r == nil {
		u.r, u.err = u.open()
	}
	return u.err == nil
}

// step unpacks another chunk.
func (u *unpacked) step() {
	if !u.begin() {
		return
	}
	want := int64(chunkSize)
	if u.size >= 0 {
		want = min(want, u.size-u.n)
	}
	if u.budget.left < want {
		// One byte more than is left says whether it is really too much.
		want = u.budget.left + 1
	}
	buf := u.spare
	if u.spare = nil; int64(len(buf)) < want {
		buf = make([]byte, want)
	}
	buf = buf[:want]
	if u.z != nil && u.z.Out() != u.n { // it was somewhere else meanwhile
		if err := u.seek(u.n); err != nil {
			u.stop(err)
			return
		}
	}
	k, err := readUntil(u.r, buf)
	if int64(k) > u.budget.left {
		u.stop(fmt.Errorf("%w: %d bytes in all", ErrTooLarge, u.budget.total))
		return
	}
	u.budget.left -= int64(k)
	if u.hasSum {
		u.crc = crc32.Update(u.crc, crc32.IEEETable, buf[:k])
	}
	if k > 0 {
		if k < chunkSize/2 {
			buf = append([]byte(nil), buf[:k]...)
		}
		u.chunks = append(u.chunks, buf[:k])
		u.n += int64(k)
		u.held += int64(k)
		last := int64(len(u.chunks)) - 1
		large := u.large || u.n > u.limits.KeepWhole
		if large {
			u.spooled(last)
		}
		switch {
		case large && u.spool != nil:
			from := last
			if u.recent == nil {
				u.recent, from = []int64{}, 0
			}
			for i := from; i <= last; i++ {
				u.forget(i)
			}
			u.spare = buf[:cap(buf)]
		case large && u.z != nil:
			if u.recent == nil {
				u.recent = []int64{}
				for i := range last {
					u.use(i)
				}
			}
			u.use(last)
		}
	}
	if u.told != nil {
		if u.z != nil {
			u.read = u.z.Consumed()
		}
		u.told(u.read)
	}
	switch {
	case u.n > u.limits.MaxStream:
		u.stop(fmt.Errorf("%w: %d bytes", ErrTooLarge, u.limits.MaxStream))
	case err == io.EOF && u.n < u.size:
		u.stop(fmt.Errorf("it ends after %d of %d bytes: %w", u.n, u.size, io.ErrUnexpectedEOF))
	case err != nil && (err != io.EOF || u.size < 0):
		u.stop(err)
	case u.n > u.limits.RatioFloor && u.n/max(u.packed, 1) > u.limits.MaxRatio:
		u.stop(fmt.Errorf("%w: %d bytes out of %d", ErrRatio, u.n, u.packed))
	}
}

// readUntil fills p or says with the reader's own error why not. (io.ReadFull makes the regular end of data and data that
// were cut off the same error.)
func readUntil(r io.Reader, p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; idle++ {
		var k int
		k, err = r.Read(p[n:])
		n += k
		if k > 0 {
			idle = 0
		} else if idle > 100 {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// finish checks that the data end where they should, and are what they should be.
func (u *unpacked) finish() {
	if !u.begin() {
		return
	}
	k, err := u.r.Read(make([]byte, 1))
	switch {
	case k > 0:
		err = fmt.Errorf("it goes on behind its %d bytes", u.size)
	case (err == nil || err == io.EOF) && u.hasSum && u.crc != u.sum:
		err = ErrChecksum
	case err == nil || err == io.EOF:
		err = io.EOF
	}
	u.stop(err)
}

func (u *unpacked) stop(err error) {
	u.err = err
	u.r = nil
	u.at = u.read
	if u.z != nil {
		u.z.OnBlock = nil
		u.at = u.z.Consumed()
		if u.recent == nil {
			u.z, u.points = nil, nil // all is there: its window and tables are not needed any more
		}
	}
	u.spare = nil
	if err == io.EOF && !u.gather() {
		if u.z == nil {
			return
		}
		// It is unpacked once more, with places to begin again at.
		u.limits.Spool, u.spool = nil, nil
		u.drop()
	}
}

// gather has the spool give the bytes from now on, if that is better. False: what was in it is lost.
func (u *unpacked) gather() bool {
	if g, ok := u.spool.(Gatherer); ok {
		r, err := g.Gather()
		if err != nil {
			u.err = err
			return false
		}
		u.take(r, u.n)
	}
	return true
}

// rewind forgets what was unpacked if it is not all, so that a file that was only looked at costs nothing.
func (u *unpacked) rewind() {
	if u.err == nil {
		u.drop()
	}
}

// drop forgets what was unpacked; it is unpacked anew if somebody reads again. What is outside of memory stays.
func (u *unpacked) drop() {
	if u.whole != nil {
		return
	}
	u.budget.left += u.held
	u.r, u.err, u.chunks, u.n, u.held, u.crc, u.recent, u.points = nil, nil, nil, 0, 0, 0, nil, nil
}

// settle takes what came out for all there is, after an error has been reported.
func (u *unpacked) settle() {
	if u.whole == nil && u.err != io.EOF {
		u.gather()
	}
	u.size, u.err = u.n, io.EOF
}
