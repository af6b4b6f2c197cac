package intake

import (
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/crashpane/crashpane/core/input"
)

const (
	// chunkSize is the unit in which unpacked bytes are stored. Memory grows by the bytes that were
	// unpacked, a chunk at a time, whatever size the file claims, and nothing is copied to a larger
	// slice.
	chunkSize = 256 << 10
	// packedSize is the size of one read of the compressed data. In a browser a small read costs
	// nearly as much.
	packedSize = 256 << 10
)

// Errors of unpacking, wrapped with the file's name and where it happened.
var (
	// ErrTooLarge: more was unpacked than the limits allow. It stops a zip bomb.
	ErrTooLarge = errors.New("it unpacks to more than is allowed")
	// ErrRatio: a file unpacks to suspiciously many times its size.
	ErrRatio = errors.New("it unpacks to implausibly many times its size")
	// ErrChecksum: the unpacked bytes do not have the checksum that the file states.
	ErrChecksum = errors.New("the checksum does not match")
)

// tooLarge and ratio are the errors of the limits that the user can raise.
func (l *Limits) tooLarge() error {
	return fmt.Errorf("%w: %d bytes%s", ErrTooLarge, l.MaxStream, l.Advice)
}

func (l *Limits) ratio(unpacked, packed int64) error {
	return fmt.Errorf("%w: %d bytes out of %d%s", ErrRatio, unpacked, packed, l.Advice)
}

// Refused reports whether an error is of a limit that Source.MaxUnpacked raises.
func Refused(err error) bool {
	var budget *input.BudgetError
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrRatio) || errors.As(err, &budget) && budget.Resource == input.Unpacked
}

// tooMuch reports whether an error is of a limit: what was unpacked before it is no use.
func tooMuch(err error) bool {
	var budget *input.BudgetError
	return Refused(err) || errors.As(err, &budget)
}

// unpacked is a compressed file as an io.ReaderAt: it is unpacked from its start as far as callers
// read. The result is kept in chunks, or in a spool if it is large.
type unpacked struct {
	open   func() (io.Reader, error) // starts from the beginning; nil once that is not possible any more
	packed int64                     // the compressed size, bytes
	size   int64                     // the expected size in bytes, or -1 if unknown
	limits Limits
	in     *expander
	// sum is the CRC-32 that the unpacked bytes should have, where the reader below does not check
	// it.
	sum    uint32
	hasSum bool

	mu     sync.Mutex // of ReadAt: an index is made by several goroutines
	r      io.Reader
	crc    uint32   // of the bytes so far
	chunks [][]byte // all full except the last one; none if there is a spool
	spool  Spool
	n      int64 // bytes unpacked so far
	err    error // why no more follows; io.EOF at the regular end

	// progress, if set, is called with read, the number of packed bytes that were read.
	progress func(done int64)
	read     int64
	// whole has all bytes once they are stored elsewhere. Then r, chunks and spool are unused.
	whole io.ReaderAt
	src   *input.Source // of deflate data
	gzip  bool
	tried bool   // Limits.Inflate was called
	large bool   // the file states a large size
	spare []byte // for the next chunk
}

// deflated sets u up for deflate data, in gzip members or without.
func (u *unpacked) deflated(src *input.Source, zipped bool) {
	u.src, u.gzip = src, zipped
	u.packedBy(func(r io.Reader, _ int64) (io.Reader, error) {
		in := r.(*countedReader)
		if zipped {
			return &members{in: in}, nil
		}
		return flate.NewReader(in), nil
	}, src)
	u.large = max(u.size, src.Size) > u.limits.KeepWhole
	if tail, err := src.Bytes(max(0, src.Size-4), min(4, src.Size)); zipped && err == nil && len(tail) == 4 {
		// The last member's size. It is untrusted; unpacking finds out whether it is true.
		u.large = u.large || int64(little.Uint32(tail)) > u.limits.KeepWhole
	}
}

// packedBy sets u up for data of another format than deflate.
func (u *unpacked) packedBy(open unpacker, src *input.Source) {
	u.large = u.size > u.limits.KeepWhole
	u.open = func() (io.Reader, error) {
		u.read = 0
		in := &countedReader{bufio.NewReaderSize(io.NewSectionReader(src, 0, src.Size), int(min(packedSize, max(src.Size, 16)))), &u.read}
		return open(in, u.in.top.Budget.Left(input.Memory))
	}
}

// countedReader counts what is read. It is an io.ByteReader, from which flate reads no more than it
// needs.
type countedReader struct {
	*bufio.Reader
	n *int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

func (c *countedReader) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		*c.n++
	}
	return b, err
}

// ReadAt unpacks as far as it must. For damaged data, the bytes before the damage can be read,
// except for the last one (the last one of all if only the checksum is wrong): a read of that byte
// returns the error.
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
		k := 0
		if u.spool == nil {
			k = copy(p[done:], u.chunks[off/chunkSize][off%chunkSize:])
		} else if want := int(min(int64(len(p)-done), u.n-off)); want > 0 {
			var err error
			if k, err = u.spool.ReadAt(p[done:done+want], off); k < want {
				return done + k, err
			}
		}
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

// Held implements input.Holder.
func (u *unpacked) Held(off int64) (block []byte, start int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.whole == nil {
		u.fill(off + 1)
	}
	if u.whole != nil || u.spool != nil || off >= u.n || u.err != nil && u.err != io.EOF {
		return nil, 0
	}
	return u.chunks[off/chunkSize], off &^ (chunkSize - 1)
}

// atOnce unpacks everything with Limits.Inflate, if the file is large.
func (u *unpacked) atOnce() {
	if u.tried || !u.large || u.src == nil || u.limits.Inflate == nil {
		return
	}
	u.tried = true
	most := u.size
	if most < 0 {
		most = min(u.limits.MaxStream, max(u.limits.RatioFloor, u.limits.MaxRatio*u.packed))
	}
	r, n, err := u.limits.Inflate(Deflated{Src: u.src, Raw: !u.gzip, Sum: u.sum, Size: u.size, MaxSize: most, Progress: u.progress})
	switch {
	case err != nil, u.size >= 0 && n != u.size:
	case n > u.limits.MaxStream:
		u.stop(u.limits.tooLarge())
	case n > most:
		u.stop(u.limits.ratio(n, u.packed))
	default:
		u.take(r, n)
	}
}

// take replaces the unpacked bytes by another reader.
func (u *unpacked) take(r io.ReaderAt, n int64) {
	u.drop()
	u.in.unpacked.Add(n)
	u.whole, u.n, u.size, u.err = r, n, n, io.EOF
}

// Materialize implements input.Materializer.
func (u *unpacked) Materialize() io.ReaderAt {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.large {
		u.fill(u.size)
	}
	return u.whole
}

// keep stores the next unpacked bytes: in memory, or in a spool if the file is large and Limits has
// one.
func (u *unpacked) keep(b []byte) error {
	u.n += int64(len(b))
	budget := u.in.top.Budget
	if len(b) < chunkSize/2 && u.spool == nil {
		b = append([]byte(nil), b...)
	}
	fits := budget.Left(input.Memory) >= int64(cap(b))
	if u.spool == nil && u.limits.Spool != nil && (u.large || u.n > u.limits.KeepWhole || !fits) {
		var err error
		if u.spool, err = u.limits.Spool(); err != nil {
			u.limits.Spool, u.spool = nil, nil
		}
		for i := 0; i < len(u.chunks) && u.spool != nil; i++ {
			if _, err := u.spool.WriteAt(u.chunks[i], int64(i)*chunkSize); err != nil {
				return err
			}
		}
		if u.spool != nil {
			budget.Return(u.held())
			u.chunks = nil
		}
	}
	if u.spool != nil {
		budget.GiveUnpacked(int64(len(b)))
		_, err := u.spool.WriteAt(b, u.n-int64(len(b)))
		u.spare = b[:cap(b)]
		return err
	}
	if err := budget.Draw(input.Memory, int64(cap(b))); err != nil {
		return err
	}
	u.chunks = append(u.chunks, b)
	return nil
}

// held returns how many bytes of memory the unpacked ones take.
func (u *unpacked) held() (n int64) {
	for _, c := range u.chunks {
		n += int64(cap(c))
	}
	return n
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
	buf := u.spare
	if u.spare = nil; int64(len(buf)) < want {
		buf = make([]byte, want)
	}
	k, err := readUntil(u.r, buf[:want])
	u.in.unpacked.Add(int64(k))
	if u.hasSum {
		u.crc = crc32.Update(u.crc, crc32.IEEETable, buf[:k])
	}
	if k > 0 {
		if err := u.keep(buf[:k]); err != nil {
			u.n -= int64(k)
			u.stop(err)
			return
		}
	}
	if u.progress != nil {
		u.progress(u.read)
	}
	switch {
	case u.n > u.limits.MaxStream:
		u.stop(u.limits.tooLarge())
	case err == io.EOF && u.n < u.size:
		u.stop(fmt.Errorf("it ends after %d of %d bytes: %w", u.n, u.size, io.ErrUnexpectedEOF))
	case err != nil && (err != io.EOF || u.size < 0):
		u.stop(err)
	case u.in.unpacked.Load() > u.in.most:
		u.stop(u.limits.ratio(u.in.unpacked.Load(), u.in.top.Size))
	}
}

// readUntil fills p or returns the reader's own error. (io.ReadFull makes the regular end of data
// and data that were cut off the same error.)
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

// finish checks the size and the checksum of the unpacked bytes.
func (u *unpacked) finish() {
	if !u.begin() {
		return
	}
	k, err := u.r.Read(make([]byte, 1))
	switch {
	case k > 0:
		err = fmt.Errorf("it continues after its %d bytes", u.size)
	case (err == nil || err == io.EOF) && u.hasSum && u.crc != u.sum:
		err = ErrChecksum
	case err == nil || err == io.EOF:
		err = io.EOF
	}
	u.stop(err)
}

// stop ends the stream, with io.EOF or with what is wrong.
func (u *unpacked) stop(err error) {
	u.err, u.r, u.spare = err, nil, nil
	if err == io.EOF {
		u.gather()
	}
}

// gather replaces the spool by one reader of all its bytes, if the spool can make one (Gatherer).
func (u *unpacked) gather() {
	if g, ok := u.spool.(Gatherer); ok {
		r, err := g.Gather()
		if err != nil { // the spool's bytes are gone
			u.drop()
			u.err, u.n = err, 0
			return
		}
		u.take(r, u.n)
	}
}

// rewind frees what was unpacked if it is not the whole file, so that a file that was only sniffed
// costs no memory.
func (u *unpacked) rewind() {
	if u.err == nil {
		u.drop()
	}
}

// Forget implements input.Forgetter. What would take long to unpack again stays, and what cannot be.
func (u *unpacked) Forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == io.EOF && u.n <= eagerSize && u.open != nil {
		u.drop()
	}
}

// drop frees what was unpacked, which is unpacked again if a caller reads it. What is stored
// outside of memory stays.
func (u *unpacked) drop() {
	if u.whole != nil {
		return
	}
	u.in.top.Budget.Return(u.held())
	u.in.unpacked.Add(-u.n)
	u.r, u.err, u.chunks, u.spool, u.spare, u.n, u.crc = nil, nil, nil, nil, nil, 0, 0
}

// endHere makes what was unpacked so far the whole file, after its error was reported, so that
// readers get what there is. Unpacking it again would end in that error.
func (u *unpacked) endHere() {
	if u.whole == nil && u.err != io.EOF {
		u.open = nil
		u.gather()
	}
	if u.err == nil || u.whole == nil && u.n > 0 {
		u.size, u.err = u.n, io.EOF
	}
}
