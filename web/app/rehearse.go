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
	r.parts = []vugu.Builder{&p.Verdict, &p.Threads, &p.Stack, &p.Frame, &p.Panel, NewRoot(p)}
	return r
}

// Step does the next part and reports whether there are more.
func (r *Rehearsal) Step() bool {
	p := r.page
	if p.Summary == nil {
		p.Reading.Add([]File{silence{}})
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
	return [2]vugu.Builder{NewRoot(NewPage(silence{}, silence{}, "")), NewRoot(r.page)}
}

// madeUp is an answer with something of everything.
func madeUp() *protocol.Looked {
	r := &protocol.Looked{Summary: &view.Summary{Name: "a", Verdict: []view.Span{{Text: "a"}}, Facts: []string{"a"}, Threads: 1},
		Threads: &view.ThreadPage{Rows: []view.ThreadRow{{Crashed: true}}},
		Stack: &view.StackPage{Rows: []view.StackRow{{Kind: view.RowInline}, {Kind: view.RowFrame, Inline: -1},
			{Kind: view.RowStop, Frame: -1, Inline: -1}}},
		Detail:  &view.FrameDetail{Facts: []view.Fact{{Key: "a", Value: "a"}}, Registers: []view.Register{{Name: "a", Note: "a"}}},
		Modules: &view.ModulePage{Rows: []view.ModuleRow{{Name: "a"}}},
		Wanted:  &view.MissingPage{}, Files: &protocol.FilePage{}}
	r.Threads.Total, r.Stack.Total, r.Modules.Total = 1, 3, 1
	return r
}

// silence is a browser and an engine that do nothing, and an empty file.
type silence struct {
	noDocument
	noStorage
	noExchange
	noSymbols
	noEngine
}

type (
	noDocument struct{}
	noStorage  struct{}
	noExchange struct{}
	noSymbols  struct{}
	noEngine   struct{}
)

func (silence) Name() string           { return "a" }
func (silence) Size() int64            { return 0 }
func (silence) After(int, func() bool) {}
func (silence) NextFrame(func())       {}
func (silence) Cores() int             { return 1 }
func (silence) System() string         { return SystemLinux }

func (noDocument) SetTitle(string)         {}
func (noDocument) SetAddress(string, bool) {}
func (noDocument) SetTheme(string)         {}
func (noDocument) Focus(string)            {}
func (noDocument) Reveal(string, int)      {}
func (noDocument) Shift(string, int)       {}
func (noDocument) Progress(string, int)    {}
func (noDocument) Later(string, int)       {}
func (noDocument) Announce(string)         {}

func (noStorage) Load(string) string        { return "" }
func (noStorage) Store(string, string)      {}
func (noStorage) Keep(string, File)         {}
func (noStorage) Kept(string, func(File))   {}
func (noStorage) KeptSize(func(int64, int)) {}
func (noStorage) ForgetKept(func())         {}

func (noExchange) Copy(string, func(string))       {}
func (noExchange) Download(string, string, string) {}
func (noExchange) PickFiles()                      {}
func (noExchange) PickFolder()                     {}
func (noExchange) OpenSample()                     {}

func (noSymbols) SymbolBases() ([]string, bool)                                        { return nil, false }
func (noSymbols) CanPickStore() bool                                                   { return false }
func (noSymbols) PickStore(func(string, string))                                       {}
func (noSymbols) KeepStore(bool)                                                       {}
func (noSymbols) RecallStore(func(string))                                             {}
func (noSymbols) ResolveBase(string) (string, bool, string)                            { return "", false, "" }
func (noSymbols) FromStore([]string, int, func([]File, string))                        {}
func (noSymbols) Fetch(string, string, bool, func(int64, int64), func(Fetched)) func() { return nil }

func (noEngine) Send(c protocol.Call, _ File)   { protocol.AppendCall(nil, c) }
func (noEngine) Restart()                       {}
func (noEngine) Extend()                        {}
func (noEngine) StopExtending()                 {}
func (noEngine) Index(int, protocol.Call, File) {}
func (noEngine) StopIndexing()                  {}
func (noEngine) Make([]File, protocol.Request)  {}
func (noEngine) StopMaking()                    {}
