package symbols

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// id returns a debug id that ends in a number.
func id(n int) string { return fmt.Sprintf("%032X0", 0xabcdef00+n) }

func sym(n int, name string) *input.Source {
	return input.FromBytes(name+".sym", fmt.Appendf(nil, "MODULE Linux x86_64 %s %s\nFUNC 1000 100 0 function%d\n", id(n), name, n))
}

func names(list []Candidate) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s sure=%v name=%v", c.Name(), c.Sure, c.SameName))
	}
	return strings.Join(out, ", ")
}

// A module's files are those that have one of its keys, in the order of adding.
func TestFor(t *testing.T) {
	s := New(Options{})
	for i, name := range []string{"liba.so", "libb.so", "liba.so", "LIBA.so", "other"} {
		if _, err := s.AddSym(sym(i, name)); err != nil {
			t.Fatal(err)
		}
	}
	m := &core.Module{Name: "/usr/lib/liba.so", DebugFile: "liba.so", DebugID: id(2)}
	if got, want := names(s.For(ModuleKeys(m))), "liba.so.sym sure=false name=true, liba.so.sym sure=true name=true, LIBA.so.sym sure=false name=true"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := len(s.Since(3)); got != 2 {
		t.Errorf("%d files after the third", got)
	}
}

// Files that nobody uses are closed but for the last, and open again when they are asked.
func TestIdle(t *testing.T) {
	s := New(Options{})
	var files []*File
	for i := range keptIdle + 3 {
		f, err := s.AddSym(sym(i, "lib"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	look := func(i int) {
		t.Helper()
		if got, answer, err := files[i].Lookup(0x1010); err != nil || answer != symbol.Yes || got.Name != fmt.Sprintf("function%d", i) {
			t.Fatalf("%+v %v %v", got, answer, err)
		}
	}
	for i, f := range files {
		s.Use(f)
		look(i)
	}
	s.Use(files[0]) // twice in use
	for _, f := range files {
		s.Release(f)
	}
	open := 0
	for _, f := range files {
		if f.sym != nil {
			open++
		}
	}
	if open != keptIdle+1 || files[0].sym == nil || files[1].sym != nil {
		t.Errorf("%d of %d are open", open, len(files))
	}
	s.Use(files[1])
	look(1)
	s.Release(files[0])
	if files[1].sym == nil {
		t.Error("a file in use is closed")
	}
}

// Several goroutines add files, ask for them and look up, while others use and release the same.
func TestGoroutines(t *testing.T) {
	s := New(Options{})
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 100 {
				if _, err := s.AddSym(sym(g*100+i, "lib")); err != nil {
					t.Error(err)
				}
				for _, c := range s.For([]Key{NameKey("lib")})[:1] {
					s.Use(c.File)
					if _, answer, err := c.Lookup(0x1010); answer != symbol.Yes || err != nil {
						t.Error(answer, err)
					}
					c.Warnings()
					s.Release(c.File)
				}
			}
		})
	}
	wait.Wait()
	if n := len(s.Since(0)); n != 400 {
		t.Errorf("%d files", n)
	}
}

// part is a binary whose name says what it is of: "app", "app.debug" …
type part struct {
	src   *input.Source
	id    symbol.Identity
	taken *[]string
}

func (p *part) Base() uint64                { return 0 }
func (p *part) Identity() symbol.Identity   { return p.id }
func (p *part) ChecksumID() (string, error) { return "", nil }
func (p *part) Lookup(uint64) (symbol.Symbol, symbol.Answer, error) {
	return symbol.Symbol{}, symbol.No, nil
}
func (p *part) Row(uint64) (unwind.Row, symbol.Answer, error) { return unwind.Row{}, symbol.No, nil }
func (*part) Function(uint64) (symbol.Range, bool, error)     { return symbol.Range{}, false, nil }
func (p *part) FrameData(uint64) (unwind.FrameData, symbol.Answer, error) {
	return unwind.FrameData{}, symbol.NoFile, nil
}
func (p *part) SourceSum(uint64, string) (symbol.Sum, error)    { return symbol.Sum{}, nil }
func (p *part) SourceLink(string) (string, error)               { return "", nil }
func (p *part) Variables([]string) map[string]uint64            { return nil }
func (p *part) Initial(uint64, []byte) int                      { return 0 }
func (p *part) Pointer(uint64) (uint64, bool)                   { return 0, false }
func (p *part) Code(uint64, []byte) int                         { return 0 }
func (p *part) BigEndian() bool                                 { return false }
func (p *part) IsARM(uint64) bool                               { return false }
func (p *part) Names(int64, func(symbol.Symbol)) (int64, error) { return -1, nil }
func (p *part) Has() symbol.Contents                            { return symbol.Contents{} }
func (p *part) Warnings() []string                              { return nil }
func (*part) Prefetch(_, _ []uint64)                            {}
func (*part) NeedsPrefetch(uint64) bool                         { return false }

// Attach takes in files with the program's name and an ending. A debug file links to app.alt.
func (p *part) Attach(src *input.Source) (bool, error) {
	*p.taken = append(*p.taken, p.src.Name+"<"+src.Name)
	switch {
	case strings.HasSuffix(src.Name, ".stale"):
		return false, errors.New(src.Name + ": another build")
	case !strings.HasPrefix(src.Name, p.src.Name+"."):
		return false, nil
	case strings.HasSuffix(src.Name, ".debug"):
		p.id.LinkedIDs = []string{"a17"}
	}
	return true, nil
}

// A binary in use is offered the files that it links to, whenever they come, each once, and those
// that its parts link to. Others are not even offered.
func TestParts(t *testing.T) {
	const n = 20
	for _, useFirst := range []bool{true, false} {
		var offered []string
		s := New(Options{OpenBinary: func(src *input.Source) (Binary, error) {
			id := symbol.Identity{Name: src.Name, DebugID: id(len(src.Name)), CodeID: src.Name, OS: "Linux", Arch: "x86_64"}
			switch {
			case strings.HasSuffix(src.Name, ".alt"):
				id.CodeID = "a17"
			case strings.HasSuffix(src.Name, ".dwo"):
				id.SplitUnits = true
			case !strings.Contains(src.Name, "."):
				id.Code, id.LinkedNames, id.NeedsSplit = true, []string{src.Name + ".debug"}, src.Name == "app"
			}
			return &part{src, id, &offered}, nil
		}})
		add := func(name string) *File {
			f, err := s.AddBinary(input.FromBytes(name, nil))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		app := add("app")
		if useFirst {
			s.Use(app)
		}
		for i := range n {
			add(fmt.Sprintf("other%d", i))
			add(fmt.Sprintf("other%d.debug", i))
		}
		for _, name := range []string{"app.dwo", "app.alt", "app.debug", "app.debug.stale"} {
			add(name)
		}
		if !useFirst {
			s.Use(app)
		}
		if got := strings.Join(offered, " "); strings.Count(got, "app<app.debug ") != 1 && !strings.HasSuffix(got, "app<app.debug") || strings.Count(got, "app<app.dwo") != 1 ||
			strings.Count(got, "app<app.alt") != 1 || strings.Contains(got, "other") {
			t.Errorf("in use first %v: offered %s", useFirst, got)
		}
		if app.Revision() != 3 {
			t.Errorf("revision %d", app.Revision())
		}
		app.close()
		offered = nil
		app.Open()
		if got := len(offered); got != 3 {
			t.Errorf("opened again, the binary has %d parts", got)
		}
	}
}

// What a binary has drawn is given back when the Store closes it, and what was removed is not found.
func TestClosedBinaryReturnsMemory(t *testing.T) {
	const size = 1 << 20
	budget := &input.Budget{}
	s := New(Options{OpenBinary: func(src *input.Source) (Binary, error) {
		return &part{src: src, id: symbol.Identity{Name: "app"}}, src.Draw(input.Memory, size)
	}})
	src := input.FromBytes("app", []byte("app"))
	src.Budget = budget
	f, err := s.AddBinary(src)
	whole := budget.Limit(input.Memory)
	if err != nil || budget.Left(input.Memory) != whole-size {
		t.Fatal(err, budget.Left(input.Memory))
	}
	for range 2 {
		if f.close(); budget.Left(input.Memory) != whole {
			t.Errorf("%d of %d left after it was closed", budget.Left(input.Memory), whole)
		}
	}
	if f.Open() != nil || budget.Left(input.Memory) != whole-size {
		t.Errorf("%d left when it is open again", budget.Left(input.Memory))
	}
	keys := []Key{NameKey("app")}
	if len(s.For(keys)) != 1 {
		t.Fatal("it is not found")
	}
	if s.Remove(map[*File]bool{f: true}); len(s.For(keys)) != 0 || budget.Left(input.Memory) != whole {
		t.Errorf("%d files are found, %d left", len(s.For(keys)), budget.Left(input.Memory))
	}
	budget.Cancel(errors.New("enough"))
	if err := f.Open(); err == nil || err.Error() != "enough" {
		t.Errorf("opened while the work is cancelled: %v", err)
	}
	budget.Resume()
	if err := f.Open(); err != nil {
		t.Error(err)
	}
}
