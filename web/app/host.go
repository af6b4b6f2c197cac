package app

import "github.com/crashpane/crashpane/web/protocol"

// Host is everything that the page needs of the browser around it. One object, so that a viewer can live beside others, in a
// shadow root, or in a test.
type Host interface {
	// SetTitle names the document; a viewer inside another page ignores it.
	SetTitle(title string)
	// SetAddress writes the state into the address, as a new entry of the history or in place of the present one.
	SetAddress(hash string, entry bool)
	// Load and Store keep a preference between visits. Load returns "" if there is none.
	Load(key string) string
	Store(key, value string)
	// SetTheme puts "dark", "light" or "" (as the system has it) on the viewer's root.
	SetTheme(theme string)
	// Copy puts text on the clipboard and calls done with what went wrong, or "".
	Copy(text string, done func(problem string))
	// Download offers text as a file.
	Download(name, mime, text string)
	// PickFiles and PickFolder open the browser's choosers, OpenSample fetches the sample; the files come to Page.Add.
	PickFiles()
	PickFolder()
	OpenSample()
	// Focus moves the focus to the element of an id, after the next render.
	Focus(id string)
	// Reveal scrolls a list so that a row can be seen, after the next render.
	Reveal(list string, row int)
	// Shift scrolls a list by rows, after the next render.
	Shift(list string, rows int)
	// Progress moves the bar of a class to so many of a hundred. A bar moves often, and drawing takes as long as reading a megabyte.
	Progress(bar string, percent int)
	// Later shows work that goes on while the page can be used, and how much of it is done, of a hundred; -1 if that is not known.
	Later(text string, percent int)
	// Announce tells a screen reader.
	Announce(text string)
	// After calls back later. What it answers says whether the page is to be drawn.
	After(milliseconds int, do func() (draw bool))
	// NextFrame calls back when what was drawn is about to be painted, or soon if nothing is painted; what comes after it is painted later.
	NextFrame(do func())
	// System is the one that the browser runs on: one of the System… names.
	System() string
	// Cores is how many processors the machine has, as far as the browser says it.
	Cores() int
	// Keep stores an index in the browser's storage under a name, and Kept gets it back: nil if there is none. KeptSize says how
	// much is stored, in bytes, and ForgetKept removes all of it. What cannot be stored is left out; the page works without.
	Keep(key string, index File)
	Kept(key string, done func(index File))
	KeptSize(done func(bytes int64, indexes int))
	ForgetKept(done func())
	// SymbolBases are the sources of symbol files that the page was built with, as addresses; false: the page may reach no server.
	SymbolBases() (bases []string, ok bool)
	// ResolveBase reads the address of a source as the browser will ask it, without a slash at the end, and says whether the page may.
	ResolveBase(text string) (base string, allowed bool, problem string)
	// Fetch asks a server for a symbol file, with nothing but its address and the token, if there is one. Where the server sends
	// parts, the file is one of which parts are read, unless it is wanted whole. stop gives it up; nothing comes any more.
	Fetch(url, token string, whole bool, progress func(done, total int64), done func(Fetched)) (stop func())
	// PickStore has a person choose a folder of symbol files, where the browser can give one for longer (CanPickStore). KeepStore
	// remembers it, or forgets it; RecallStore says the name of the one that was remembered, "" if there is none.
	CanPickStore() bool
	PickStore(done func(name, problem string))
	KeepStore(keep bool)
	RecallStore(done func(name string))
	// FromStore answers those files of the folder that stand under paths of a symbol store; if there is none, the symbol files that
	// it has anywhere, at most limit.
	FromStore(paths []string, limit int, done func(found []File, problem string))
}

// Indexers are workers beside the engine, which read symbol files piece by piece. They are started when they are first used.
type Indexers interface {
	// Index sends a worker, counted from 0, a request with a file. Its answers come to Page.Indexed, its death to Page.IndexerStopped.
	Index(worker int, c protocol.Call, file File)
	// StopIndexing ends all of them at once.
	StopIndexing()
}

// File is a file of the browser. The page never reads it; the engine does.
type File interface {
	Name() string // with its folders, as dropped
	Size() int64
}

// Engine is the worker. Replies come to Page.Reply, its death to Page.EngineStopped.
type Engine interface {
	Indexers
	// Send posts a request; file is what goes with it: the File of an Add, the index of a JoinChunk, or nil.
	Send(c protocol.Call, file File)
	// Restart ends the worker, whatever it does, and starts a new one that knows nothing.
	Restart()
	// Extend gets the program that has all readers, while the worker goes on. How far it is comes to Page.Extending, and when the
	// next Restart will start it, or why not, to Page.Extended.
	Extend()
	// StopExtending gives that up; nothing comes any more.
	StopExtending()
	// Make has another worker read files and answer a request whose answer is a file, which it hands to the browser as a download.
	// What it does comes to Page.MakingProgress, the end to Page.Made.
	Make(files []File, req protocol.Request)
	// StopMaking ends that worker; nothing comes any more.
	StopMaking()
}

// Heights of the rows of the lists in pixels, as the style sheet has them.
const (
	RowHeight    = 26
	ThreadHeight = 44
	LineHeight   = 20 // of a stream's content
)
