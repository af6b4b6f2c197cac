package session_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/session"
)

// server reads a file as the page reads one on a server (wasm/worker/remote_js.go): parts that are close together are
// one request, and the requests of a read are under way at once.
type server struct {
	file io.ReaderAt
	*traffic
}

// traffic is what was asked of a server: rounds are the reads that wait for one another.
type traffic struct {
	rounds, requests int
	bytes            int64
}

func (s server) ReadAt(p []byte, off int64) (int, error) {
	s.rounds, s.requests, s.bytes = s.rounds+1, s.requests+1, s.bytes+int64(len(p))
	return s.file.ReadAt(p, off)
}

func (s server) ReadManyAt(parts []input.Part) error {
	const gap, most = 64 << 10, 2 << 20
	s.rounds++
	from, to := int64(0), int64(-1)
	for _, p := range parts {
		if end := p.Off + int64(len(p.Data)); to < 0 || p.Off-to > gap || to-from > most {
			s.requests, s.bytes = s.requests+1, s.bytes+int64(len(p.Data))
			from, to = p.Off, end
		} else {
			s.bytes += end - to
			to = end
		}
		if _, err := s.file.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// firstStack walks the crashed thread of a dump with a symbol file on a server and the index next to it.
func firstStack(t *testing.T, dump, file io.ReaderAt, dumpSize, size int64) (names, frames int, did traffic) {
	t.Helper()
	opened, err := symfile.Open(input.New("big.sym", file, size), symfile.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	index, err := opened.Index()
	if err != nil {
		t.Fatal(err)
	}
	src := input.New("big.sym", server{file, &did}, size)
	src.Slice = 4 << 10
	src.Index = input.New("big.sym.index", server{bytes.NewReader(index), &did}, int64(len(index)))
	src.Index.Slice = src.Slice
	fs := session.NewFiles(session.Options{IndexOnDemand: true})
	fs.Add(input.New("big.dmp", dump, dumpSize))
	fs.Add(src)
	s := fs.Session(0)
	if s == nil {
		t.Fatal("no dump")
	}
	r := s.PartialReport(-1)
	thread := &r.Threads[r.FirstThread]
	for i := range thread.Frames {
		if f := &thread.Frames[i]; f.Named() {
			names++
		}
	}
	return names, len(thread.Frames), did
}

// shuffled makes a symbol file whose functions and unwind records are in no order, and a dump of 60 frames in as many functions.
func shuffled(functions int) (sym, dump []byte) {
	const size = 0x100 // of a function
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 000000010002000304000000000000001 big\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "FILE %d /src/some/folder/file_%d.cc\n", i, i)
	}
	for i := range functions / 4 {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d space::Inlined%d::operator()(int) const\n", i, i)
	}
	order := r.Perm(functions)
	for _, i := range order {
		at := i * size
		fmt.Fprintf(&b, "FUNC %x %x 0 space::Class%d<int, char const*>::method(std::string const&, int)\nINLINE 0 12 %d %d %x 80\n", at, size, i, i%2000, i%(functions/4), at)
		for k := range 8 {
			fmt.Fprintf(&b, "%x 20 %d %d\n", at+k*0x20, 10+k, (i+k)%2000)
		}
	}
	for _, i := range order {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI %x .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n", i*size, size, i*size+1)
	}
	const base, sp = 0x10000000, 0x7ffe0000
	var stack []byte
	for range 60 {
		stack = dumptest.LittleEndian.AppendUint64(stack, 7) // rbx
		stack = dumptest.LittleEndian.AppendUint64(stack, base+uint64(r.IntN(functions))*size+0x40)
	}
	stack = append(stack, make([]byte, 64)...)
	context := dumptest.AMD64(map[string]uint64{"rip": base + 0x40, "rsp": sp})
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(base, uint32(functions*size), "/opt/big", dumptest.RSDS(1, 2, 3, [8]byte{4}, 1, "big")).
		Thread(7, context, sp, stack).Exception(7, 11, 1, 0x45, context)
	return b.Bytes(), d.Bytes()
}

// TestRemoteStack: a first stack of a large file on a server, in whatever order its records are, takes few requests, most of them at
// once. The rounds are those of opening the file (4), and of rules and names together (4).
// CRASHPANE_REMOTE names a folder with big.sym and big.dmp (make_big_sym.py), which is measured, too.
func TestRemoteStack(t *testing.T) {
	sym, dump := shuffled(40_000)
	names, frames, did := firstStack(t, bytes.NewReader(dump), bytes.NewReader(sym), int64(len(dump)), int64(len(sym)))
	if names < 60 || did.rounds > 6 || did.requests > 300 || did.bytes > 8<<20 {
		t.Errorf("%d MB: %+v, %d of %d frames have names", len(sym)>>20, did, names, frames)
	}
	if dir := os.Getenv("CRASHPANE_REMOTE"); dir != "" {
		open := func(name string) (*os.File, int64) {
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			return f, st.Size()
		}
		dump, dumpSize := open("big.dmp")
		sym, size := open("big.sym")
		names, frames, did := firstStack(t, dump, sym, dumpSize, size)
		t.Logf("%d MB: %+v, %d of %d frames have names", size>>20, did, names, frames)
	}
}
