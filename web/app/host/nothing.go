package host

import "github.com/crashpane/crashpane/web/protocol"

// Nothing is a Host and an Engine that do nothing, and an empty File.
type Nothing struct {
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

func (Nothing) Name() string           { return "a" }
func (Nothing) Size() int64            { return 0 }
func (Nothing) After(int, func() bool) {}
func (Nothing) NextFrame(func())       {}
func (Nothing) System() string         { return Linux }

func (noDocument) SetTitle(string)             {}
func (noDocument) SetAddress(string, bool)     {}
func (noDocument) Link(string) string          { return "" }
func (noDocument) SetTheme(string)             {}
func (noDocument) Focus(string)                {}
func (noDocument) Reveal(string, int)          {}
func (noDocument) Shift(string, int)           {}
func (noDocument) Progress(string, int)        {}
func (noDocument) ShowBackground(string, int)  {}
func (noDocument) ShowDocument(string, string) {}
func (noDocument) Announce(string)             {}
func (noDocument) Low() bool                   { return false }

func (noStorage) Load(string) string        { return "" }
func (noStorage) Store(string, string)      {}
func (noStorage) KeptSize(func(int64, int)) {}
func (noStorage) ForgetKept(func())         {}

func (noExchange) Copy(string, func(string))          {}
func (noExchange) Download(string, string, ...string) {}
func (noExchange) PickFiles()                         {}
func (noExchange) PickFolder()                        {}
func (noExchange) OpenSample()                        {}

func (noSymbols) SymbolBases() ([]string, bool)                                        { return nil, false }
func (noSymbols) CanPickStore() bool                                                   { return false }
func (noSymbols) PickStore(func(string, string))                                       {}
func (noSymbols) KeepStore(bool)                                                       {}
func (noSymbols) RecallStore(func(string))                                             {}
func (noSymbols) ResolveBase(string) (string, bool, string)                            { return "", false, "" }
func (noSymbols) FromStore([]string, int, func([]File, string))                        {}
func (noSymbols) Fetch(string, string, bool, func(int64, int64), func(Fetched)) func() { return nil }

func (noEngine) Send(c protocol.Call, _ File)  { protocol.AppendCall(nil, c) }
func (noEngine) Restart()                      {}
func (noEngine) Make([]File, protocol.Request) {}
func (noEngine) StopMaking()                   {}
