package intake

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// outside stands for a browser with an inflater of its own: what comes out lies somewhere else. It
// knows gzip files of one member.
type outside struct {
	calls int
	most  int64
	lies  int64 // is added to the size
	fails error
}

func (o *outside) inflate(d Deflated) (io.ReaderAt, int64, error) {
	o.calls++
	o.most = d.MaxSize
	if o.fails != nil {
		return nil, 0, o.fails
	}
	packed, err := d.Src.Bytes(0, d.Src.Size)
	if err != nil {
		return nil, 0, err
	}
	var r io.Reader = flate.NewReader(bytes.NewReader(packed))
	if !d.Raw {
		b := bytes.NewReader(packed)
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, 0, err
		}
		z.Multistream(false)
		r = z
	}
	d.Progress(d.Src.Size / 2)
	data, err := io.ReadAll(io.LimitReader(r, d.MaxSize+1))
	switch n := int64(len(data)); {
	case err != nil:
		return nil, 0, err
	case n > d.MaxSize:
		return nil, n, nil
	case d.Raw && (crc32.ChecksumIEEE(data) != d.Sum || n != d.Size):
		return nil, 0, errors.New("the sum is wrong")
	default:
		d.Progress(d.Src.Size)
		return bytes.NewReader(data), n + o.lies, nil
	}
}

// TestInflatedOutside: large deflate data are unpacked once and by another inflater where there is
// one: a .gz at once, a member of a zip when somebody reads on in it.
func TestInflatedOutside(t *testing.T) {
	text := string(append([]byte(symText), symLike(9<<20)...))
	for name, data := range map[string]string{"a.sym.gz": gz(text), "a.zip": zipOf(member{"a.sym", text, 8}, member{"small.sym", symText, 8})} {
		o := &outside{}
		limits := Limits{KeepWhole: 1 << 20, Inflate: o.inflate}
		last, told := int64(0), 0
		out, err := Expand(input.New(name, bytes.NewReader([]byte(data)), int64(len(data))), limits, func(_ string, done, total int64) error {
			if done < last || done > total {
				t.Errorf("%s: %d of %d after %d", name, done, total, last)
			}
			last = done
			told++
			return nil
		})
		if err != nil || len(out) == 0 {
			t.Fatal(name, out, err)
		}
		large := out[len(out)-1] // the small one is first
		if name == "a.zip" && o.calls > 0 {
			t.Error("a member that nobody has read is unpacked")
		}
		if name == "a.zip" {
			last = 0 // from here on it is the member's own bytes
		}
		large.Materialize()
		if content(t, large) != text || o.calls != 1 {
			t.Errorf("%s: unpacked %d times", name, o.calls)
		}
		if _, ok := large.Reader().(*bytes.Reader); !ok {
			t.Errorf("%s: is read by %T", name, large.Reader())
		}
		if told < 2 || name == "a.sym.gz" && last != int64(len(data)) {
			t.Errorf("%s: told %d times, last %d", name, told, last)
		}
	}
}

// TestInflatedOutsideRefused: what is too much is refused by what the other inflater says; anything
// else that is wrong is found out here, with the same words as without one.
func TestInflatedOutsideRefused(t *testing.T) {
	text := string(append([]byte(symText), symLike(5<<20)...))
	packed := gz(text)
	broken := []byte(packed)
	broken[len(broken)-6] ^= 1
	zipped := zipOf(member{"a.sym", text, 8})
	wrong := []byte(zipped)
	wrong[bytes.LastIndex(wrong, []byte("PK\x01\x02"))+16] ^= 1
	for _, tt := range []struct {
		name, data string
		limits     Limits
		o          outside
		words      string // of the error
		size       int64  // of what is used
	}{
		{"bomb.gz", gz(string(make([]byte, 9<<20))), Limits{MaxRatio: 100, RatioFloor: 2 << 20}, outside{}, ErrRatio.Error(), 0},
		{"long.gz", packed, Limits{MaxStream: 2 << 20}, outside{}, ErrTooLarge.Error(), 0},
		{"sum.sym.gz", string(broken), Limits{}, outside{}, "checksum", int64(len(text))},
		{"cut.sym.gz", packed[:len(packed)/2], Limits{}, outside{}, "the end of the file in the middle", -1},
		{"two.sym.gz", packed + gz("FUNC 1 1 0 f\n"), Limits{}, outside{fails: errors.New("isMetadata")}, "", int64(len(text) + 13)},
		{"none.sym.gz", packed, Limits{}, outside{fails: errors.New("no room")}, "", int64(len(text))},
		{"a.zip", zipped, Limits{}, outside{lies: 5}, "", int64(len(text))},
		{"sum.zip", string(wrong), Limits{}, outside{}, "checksum", int64(len(text))},
	} {
		o := tt.o
		tt.limits.KeepWhole, tt.limits.Inflate = 1<<20, o.inflate
		out, err := Expand(input.New(tt.name, bytes.NewReader([]byte(tt.data)), int64(len(tt.data))), tt.limits, nil)
		if tt.words != "" {
			wantProblem(t, err, tt.name, tt.words)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		switch {
		case tt.size == 0 && len(out) > 0, tt.size != 0 && len(out) != 1:
			t.Errorf("%s: %v", tt.name, out)
		case tt.size == 0:
		default:
			p := make([]byte, 5000)
			at := min(out[0].Size, int64(len(text))) - 6000
			if _, err := out[0].ReadDirect(p, at); err != nil || string(p) != text[at:at+5000] || tt.size > 0 && out[0].Size != tt.size {
				t.Errorf("%s: %d bytes, want %d; %v", tt.name, out[0].Size, tt.size, err)
			}
			if _, err := out[0].ReadDirect(p, out[0].Size-5000); err != nil {
				t.Errorf("%s: read to the end: %v", tt.name, err)
			}
		}
		if o.calls != 1 {
			t.Errorf("%s: tried %d times", tt.name, o.calls)
		}
	}
}

// gatheringSpool is a memorySpool that hands over what is in it, or has lost it.
type gatheringSpool struct {
	memorySpool
	lost error
}

func (g *gatheringSpool) Gather() (io.ReaderAt, error) { return bytes.NewReader(g.data), g.lost }

// TestGathered: what a spool hands over is read from there; what it has lost is an error.
func TestGathered(t *testing.T) {
	text := string(append([]byte(symText), symLike(6<<20)...))
	for name, data := range map[string]string{"a.sym.gz": gz(text), "a.zip": zipOf(member{"a.sym", text, 8})} {
		for _, lost := range []error{nil, errors.New("no room")} {
			limits := Limits{KeepWhole: 1 << 20, Spool: func() (Spool, error) { return &gatheringSpool{lost: lost}, nil }}
			out, err := Expand(input.New(name, bytes.NewReader([]byte(data)), int64(len(data))), limits, nil)
			if lost != nil {
				wantProblem(t, err, name, "no room")
				continue
			}
			if err != nil || len(out) != 1 {
				t.Fatal(name, out, err)
			}
			out[0].Materialize()
			if content(t, out[0]) != text {
				t.Errorf("%s: other bytes", name)
			}
			if _, ok := out[0].Reader().(*bytes.Reader); !ok {
				t.Errorf("%s: is read by %T", name, out[0].Reader())
			}
		}
	}
}

// TestGatheredCounts: what a spool handed over counts as unpacked, so that several members cannot together unpack
// to more than is allowed.
func TestGatheredCounts(t *testing.T) {
	text := gz(string(append([]byte(symText), symLike(6<<20)...)))
	zipped := zipOf(member{"a.sym.gz", text, 0}, member{"b.sym.gz", text, 0})
	limits := Limits{MaxRatio: 1, RatioFloor: 8 << 20, KeepWhole: 1 << 20, Spool: func() (Spool, error) { return &gatheringSpool{}, nil }}
	if out, err := expand(zipped, limits); !errors.Is(err, ErrRatio) || len(out) != 1 {
		t.Error(out, err)
	}
}
