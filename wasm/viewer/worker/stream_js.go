package worker

import (
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
)

// StreamAt implements input.Streamer: another thread reads them (web/static/apart.js).
func (f *fileReader) StreamAt(stretches [][2]int64, overlap int64) (s input.Stream) {
	defer func() {
		if recover() != nil {
			s = nil
		}
	}()
	in := js.Global().Get("crashpaneApart").Call("stream", f.file, numbers(stretches), overlap)
	if !in.Truthy() {
		return nil
	}
	return &fileStream{next: in.Get("next"), size: in.Get("size"), pick: in.Get("pick"), end: in.Get("end"), room: in.Get("room")}
}

// fileStream implements input.Stream. Its functions are called with numbers alone and answer numbers: what a call costs is mostly names that
// are read, and objects that are noted.
type fileStream struct {
	next, size, pick, end, room js.Value
	at                          int64 // where the piece lies
	read                        int64 // and not noted
}

// Next implements input.Stream.
func (s *fileStream) Next() (from, to int64, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = unreadable(e)
		}
	}()
	at := s.next.Invoke()
	if at.Type() != js.TypeNumber {
		var why js.Value
		if at, why = await(at); why.Truthy() {
			return 0, 0, unreadable(why.Get("message"))
		}
	}
	if s.at = int64(at.Float()); s.at < 0 {
		return 0, 0, io.EOF
	}
	size := int64(s.size.Invoke().Float())
	if s.read += size; s.read >= notedEvery {
		noteRead(s.read)
		s.read = 0
	}
	return s.at, s.at + size, nil
}

// Copy implements input.Stream.
func (s *fileStream) Copy(p input.Part) error {
	for n := 0; n < len(p.Data); {
		some := min(len(p.Data)-n, mostPicked)
		s.pick.Invoke(float64(p.Off-s.at)+float64(n), some)
		n += js.CopyBytesToGo(p.Data[n:n+some], s.room)
	}
	return nil
}

const (
	// mostPicked is the size of room.
	mostPicked = 64 << 10
	// notedEvery is after how many bytes it is noted that they were read.
	notedEvery = 16 << 20
)

// End implements input.Stream.
func (s *fileStream) End() {
	noteRead(s.read)
	s.end.Invoke()
}
