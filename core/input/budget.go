package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// Budget is what an investigation may cost. Its limits follow from the bytes of the files that were
// given to it, so that a small file cannot ask for much. It travels with the files: the Sources of
// an investigation share one, and what reads them draws from it. A nil Budget has no limits.
// Several goroutines may draw at once.
type Budget struct {
	// Pause, if it is set, is called now and then from within what draws, some thousand steps apart.
	Pause func()

	given, unpacked atomic.Int64
	unpackable      atomic.Int64 // what the user allows of Unpacked
	drawn           [resources]atomic.Int64
	over            atomic.Pointer[BudgetError]
	cancelled       atomic.Pointer[error]
}

// Cancel ends everything that draws from the Budget with an error, until Resume.
func (b *Budget) Cancel(why error) { b.cancelled.Store(&why) }

// Resume ends what Cancel began.
func (b *Budget) Resume() { b.cancelled.Store(nil) }

// Cancelled returns the error that Cancel was given, else nil.
func (b *Budget) Cancelled() error {
	if b != nil {
		if err := b.cancelled.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// Until cancels the Budget with the context's error when the context is done. stop is that of
// context.AfterFunc.
func (b *Budget) Until(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { b.Cancel(context.Cause(ctx)) })
}

// pauseEvery is a power of two: so many steps or bytes are drawn between two calls of Pause. That is
// less than a millisecond's work.
const pauseEvery = 1 << 14

// pause calls Pause if a total passes a multiple of pauseEvery with n more.
func (b *Budget) pause(total, n int64) {
	if b.Pause != nil && total/pauseEvery != (total+n)/pauseEvery {
		b.Pause()
	}
}

// Resource is what a Budget counts.
type Resource uint8

const (
	// Memory in bytes: of unpacked files, of windows of decompressors, of frames.
	Memory Resource = iota
	// Work in steps. A step takes some 20 ns: reading a byte, or applying a rule.
	Work
	// Output in bytes: of what a command or an export writes (Writer).
	Output
	// Unpacked in bytes: of compressed sections. (For files in archives, see intake.Limits.)
	Unpacked

	resources
)

// limits are the size of each resource: at least so much, and so much more for each byte given. The
// limits of Work are some 5 s and 1 s for a megabyte. fromUnpacked: bytes that were unpacked to
// storage outside of memory count like given ones.
var limits = [resources]struct {
	least, each  int64
	fromUnpacked bool
	name         string
}{
	Memory:   {64 << 20, 4, false, "bytes of memory"},
	Work:     {256 << 20, 50, true, "steps of work"},
	Output:   {64 << 20, 40, true, "bytes of output"},
	Unpacked: {64 << 20, 300, false, "bytes of unpacked sections"},
}

// BudgetError says that a Budget is used up, and how large it was.
type BudgetError struct {
	Resource Resource
	Limit    int64
	Given    int64 // bytes of the files, unpacked ones included if they count
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("it would take more than the %d %s that are allowed for files of %d bytes", e.Limit, limits[e.Resource].name, e.Given)
}

// Give adds a file's bytes to what was given.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.given.Add(n)
	}
}

// GiveUnpacked adds bytes that were unpacked to storage outside of memory.
func (b *Budget) GiveUnpacked(n int64) {
	if b != nil {
		b.unpacked.Add(n)
	}
}

// GiveFile adds a file's bytes to what was given, and what the user allows to be unpacked from it.
func (b *Budget) GiveFile(s *Source) {
	b.Give(s.Size)
	b.unpackable.Add(s.MaxUnpacked)
}

// Limit returns the size of a resource.
func (b *Budget) Limit(r Resource) int64 {
	if b == nil {
		return math.MaxInt64
	}
	limit, _ := b.limit(r)
	return limit
}

// limit returns the size of a resource, and the bytes that it follows from.
func (b *Budget) limit(r Resource) (limit, given int64) {
	l := &limits[r]
	given = b.given.Load()
	if l.fromUnpacked {
		given += b.unpacked.Load()
	}
	limit = l.least + l.each*given
	if r == Unpacked {
		limit = max(limit, b.unpackable.Load())
	}
	return limit, given
}

// Draw takes n of a resource. The error is a *BudgetError if that is more than is left, or negative.
// Then nothing is taken, except that no Work is left: the task ends.
func (b *Budget) Draw(r Resource, n int64) error { return b.DrawKeeping(r, n, 0) }

// DrawKeeping is Draw if so much is left after it for others, else an error.
func (b *Budget) DrawKeeping(r Resource, n, keep int64) error {
	if b == nil {
		return nil
	}
	b.pause(b.drawn[r].Load(), n)
	if err := b.cancelled.Load(); err != nil {
		return *err
	}
	for {
		drawn := b.drawn[r].Load()
		limit, given := b.limit(r)
		limit -= keep
		switch {
		case n < 0 || n > limit-drawn: // n may be a number of a file: a sum with it could overflow
			if r == Work {
				b.drawn[r].Store(limit + 1)
			}
			return b.end(&BudgetError{r, limit, given})
		case b.drawn[r].CompareAndSwap(drawn, drawn+n):
			return nil
		}
	}
}

// Left returns how much of a resource is left.
func (b *Budget) Left(r Resource) int64 {
	if b == nil {
		return math.MaxInt64
	}
	limit, _ := b.limit(r)
	return max(0, limit-b.drawn[r].Load())
}

// Return gives back n bytes of Memory.
func (b *Budget) Return(n int64) {
	if b != nil {
		b.drawn[Memory].Add(-n)
	}
}

// Begin begins another task with the same files, which may take as much work as the one before.
// Memory that is still in use stays drawn.
func (b *Budget) Begin() {
	b.drawn[Work].Store(0)
	b.over.Store(nil)
}

// Writer returns a writer to w that fails when it has written more than Output allows. Each writer
// may write as much.
func (b *Budget) Writer(w io.Writer) io.Writer { return &budgetWriter{b, w, 0} }

type budgetWriter struct {
	b *Budget
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (w *budgetWriter) Write(p []byte) (int, error) {
	w.b.pause(w.n, int64(len(p)))
	if err := w.b.cancelled.Load(); err != nil {
		return 0, *err
	}
	limit, given := w.b.limit(Output)
	if w.n += int64(len(p)); w.n > limit {
		return 0, w.b.end(&BudgetError{Output, limit, given})
	}
	return w.w.Write(p)
}

// end records the first error.
func (b *Budget) end(err *BudgetError) error {
	b.over.CompareAndSwap(nil, err)
	return err
}

// Err returns the first error of Draw, or nil: then nothing was left out for its cost.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	if err := b.cancelled.Load(); err != nil {
		return *err
	}
	if err := b.over.Load(); err != nil {
		return err
	}
	return nil
}

// Return gives back n bytes of Memory to the Source's Budget.
func (s *Source) Return(n int64) {
	whole, _ := s.Within()
	whole.Budget.Return(n)
	if s.held != nil {
		s.held.Add(-n)
	}
}

// Hold counts the Memory that readers of the Source, and of what is made of it from now on, draw.
// release returns what they have not. Parts of one file that were made before do not count for each
// other: two members of an archive are two files.
func (s *Source) Hold() (release func()) {
	whole, _ := s.Within()
	held := &atomic.Int64{}
	s.held = held
	return func() { whole.Budget.Return(held.Swap(0)) }
}

// Left returns how much of a resource is left in the Source's Budget.
func (s *Source) Left(r Resource) int64 {
	whole, _ := s.Within()
	return whole.Budget.Left(r)
}

// Cancelled returns the error of the Source's Budget if it is cancelled, else nil. Then errors of
// reading the Source say nothing about it.
func (s *Source) Cancelled() error {
	whole, _ := s.Within()
	return whole.Budget.Cancelled()
}

// Interrupted reports whether an error says nothing about the content of the Source: its bytes are not
// there yet, or what reading may cost has ended the read, which a later one may repeat.
func (s *Source) Interrupted(err error) bool {
	return err != nil && (Needs(err) || errors.As(err, new(*BudgetError)) || s.Cancelled() != nil)
}

// GiveUnpacked adds bytes that were unpacked to storage outside of memory.
func (s *Source) GiveUnpacked(n int64) {
	whole, _ := s.Within()
	whole.Budget.GiveUnpacked(n)
}

// Draw takes n of a resource from the Source's Budget.
func (s *Source) Draw(r Resource, n int64) error {
	whole, _ := s.Within()
	err := whole.Budget.Draw(r, n)
	switch {
	case r == Memory && err == nil && s.held != nil:
		s.held.Add(n)
	case r == Unpacked && err != nil:
		whole.refused.Store(true)
	}
	return err
}

// Refused reports whether the Source has sections that unpack to more than is allowed.
func (s *Source) Refused() bool {
	whole, _ := s.Within()
	return whole.refused.Load()
}
