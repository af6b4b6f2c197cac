package app

import (
	"github.com/vugu/vugu"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// A browser compiles a function of the program when it is called first, and all that draws a dump is called first when the
// dump comes: that would be one long task at the moment when somebody waits. So the start page, when it is idle, builds each
// part of the screen some times from a made-up answer, one small task at a time, and throws it away.

// Rehearsal is what there is to build.
type Rehearsal struct {
	page  *Page
	parts []vugu.Builder
	steps int // that were done since the answers
}

// rounds is how often each part is built: so often that the browser finds the functions worth compiling a second time, for speed. Those that build
// the screen are so long that this takes it half a second of another core, which would be missing when somebody waits.
const rounds = 40

// NewRehearsal prepares the parts.
func NewRehearsal() *Rehearsal {
	p := NewPage(silence{}, silence{}, "")
	r := &Rehearsal{page: p}
	r.parts = []vugu.Builder{&Verdict{Page: p}, &Threads{Page: p}, &Stack{Page: p}, &FrameZone{Page: p}, &Panel{Page: p}, &Root{Page: p}}
	return r
}

// Step does the next part and reports whether there are more.
func (r *Rehearsal) Step() bool {
	p := r.page
	if p.Summary == nil {
		p.Add([]File{silence{}})
		for _, a := range []protocol.Answer{{Reply: &protocol.Added{Items: []protocol.FileRow{{Name: "a", Usable: true}}, Dumps: []protocol.DumpName{{Name: "a"}}}}, {Reply: madeUp()}} {
			if back, err := protocol.ReadAnswer(protocol.AppendAnswer(nil, a, nil)); err == nil {
				p.Answer(back, nil)
			}
		}
		return true
	}
	if env, err := vugu.NewBuildEnv(); err == nil {
		env.RunBuild(r.parts[r.steps%len(r.parts)])
	}
	r.steps++
	return r.steps < rounds*len(r.parts)
}

// Screens are the start page and, once the steps are done, the screen of a dump, for who draws them.
func (r *Rehearsal) Screens() [2]vugu.Builder {
	return [2]vugu.Builder{&Root{Page: NewPage(silence{}, silence{}, "")}, &Root{Page: r.page}}
}

// madeUp is an answer with something of everything.
func madeUp() *protocol.Looked {
	r := &protocol.Looked{Summary: &view.Summary{Name: "a", Verdict: []view.Span{{Text: "a"}}, Facts: []string{"a"}, Threads: 1},
		Threads: &view.ThreadPage{Rows: []view.ThreadRow{{Crashed: true}}},
		Stack: &view.StackPage{Rows: []view.StackRow{{Kind: view.RowInline}, {Kind: view.RowFrame, Inline: -1},
			{Kind: view.RowStop, Frame: -1, Inline: -1}}},
		Detail:  &view.FrameDetail{Facts: []view.Fact{{Key: "a", Value: "a"}}, Registers: []view.Register{{Name: "a", Note: "a"}}},
		Modules: &view.ModulePage{Rows: []view.ModuleRow{{Name: "a"}}},
		Wanted:  &view.WantedPage{}, Files: &protocol.FilePage{}}
	r.Threads.Total, r.Stack.Total, r.Modules.Total = 1, 3, 1
	return r
}

// silence is a browser and an engine that do nothing, and an empty file.
type silence struct{}

func (silence) Name() string                 { return "a" }
func (silence) Size() int64                  { return 0 }
func (silence) Send(c protocol.Call, _ File) { protocol.AppendCall(nil, c) }

func (silence) SetTitle(string)                 {}
func (silence) SetAddress(string, bool)         {}
func (silence) Load(string) string              { return "" }
func (silence) Store(string, string)            {}
func (silence) SetTheme(string)                 {}
func (silence) Copy(string, func(string))       {}
func (silence) Download(string, string, string) {}
func (silence) PickFiles()                      {}
func (silence) PickFolder()                     {}
func (silence) OpenSample()                     {}
func (silence) Focus(string)                    {}
func (silence) Reveal(string, int)              {}
func (silence) Shift(string, int)               {}
func (silence) Progress(string, int)            {}
func (silence) Later(string, int)               {}
func (silence) Announce(string)                 {}
func (silence) After(int, func() bool)          {}
func (silence) NextFrame(func())                {}
func (silence) Restart()                        {}
func (silence) Extend()                         {}
func (silence) StopExtending()                  {}
func (silence) Index(int, protocol.Call, File)  {}
func (silence) StopIndexing()                   {}
func (silence) Cores() int                      { return 1 }
func (silence) Keep(string, File)               {}
func (silence) Kept(string, func(File))         {}
func (silence) KeptSize(func(int64, int))       {}
func (silence) ForgetKept(func())               {}
func (silence) Make([]File, protocol.Request)   {}
func (silence) StopMaking()                     {}
func (silence) SymbolBases() ([]string, bool)   { return nil, false }
func (silence) CanPickStore() bool              { return false }
func (silence) PickStore(func(string, string))  {}
func (silence) KeepStore(bool)                  {}
func (silence) RecallStore(func(string))        {}

func (silence) System() string                                { return SystemLinux }
func (silence) ResolveBase(string) (string, bool, string)     { return "", false, "" }
func (silence) FromStore([]string, int, func([]File, string)) {}

func (silence) Fetch(string, string, bool, func(int64, int64), func(Fetched)) func() { return nil }
