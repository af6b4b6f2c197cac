// Package host is what the page needs of the browser and of the engine. wasm/viewer implements it with
// the browser; Nothing does nothing. Begin with Host.
package host

import "github.com/crashpane/crashpane/web/protocol"

// Host is everything that the page needs of the browser. It is one interface, so that a page can be
// one of several in a window, in a shadow root, or in a test.
type Host interface {
	Document
	Storage
	Exchange
	Symbols
	// After calls do after a delay. do reports whether the page must be drawn.
	After(milliseconds int, do func() (draw bool))
	// NextFrame calls do when the browser is about to paint what was drawn, or soon if it paints
	// nothing, as in a hidden tab.
	NextFrame(do func())
	// System returns the user's operating system: Windows, Mac or Linux.
	System() string
}

// Document is the document in which the page is drawn.
type Document interface {
	// SetTitle sets the document's title. An embedded viewer ignores it.
	SetTitle(title string)
	// SetAddress writes the state to the address, as a new entry of the history or in place of the
	// present one.
	SetAddress(hash string, entry bool)
	// Link returns the page's address with another hash.
	Link(hash string) string
	// SetTheme sets the viewer's theme: "dark", "light" or "" for the system's.
	SetTheme(theme string)
	// Focus moves the focus to the element with an id, after the next render.
	Focus(id string)
	// Reveal scrolls a list so that a row is visible, after the next render.
	Reveal(list string, row int)
	// Shift scrolls a list by rows, after the next render.
	Shift(list string, rows int)
	// Progress sets the value of the progress bar with a class, without drawing the page: bars move
	// often, and drawing takes as long as reading a megabyte.
	Progress(bar string, percent int)
	// ShowBackground shows background work and its progress, without drawing the page; percent is
	// -1 if it is unknown.
	ShowBackground(text string, percent int)
	// Low reports whether the window is too low to have the lower panel below a stack at first.
	Low() bool
	// ShowDocument shows an HTML document in a frame of its own in the element with an id, which has
	// no other content, after the next render. The document may neither run scripts nor load anything.
	ShowDocument(id, html string)
	// Announce has a screen reader say a text.
	Announce(text string)
}

// Storage is what the browser stores between visits. The page works without it, so failures are
// ignored.
type Storage interface {
	// Load and Store read and write a preference. Load returns "" for one that is not stored.
	Load(key string) string
	Store(key, value string)
	// KeptSize returns the size and the number of the indexes that the engine has stored,
	// ForgetKept deletes all of them.
	KeptSize(done func(bytes int64, indexes int))
	ForgetKept(done func())
}

// Exchange is how texts and files enter and leave the page.
type Exchange interface {
	// Copy puts text on the clipboard, and calls done with the problem, or "".
	Copy(text string, done func(problem string))
	// Download saves text as a file.
	Download(name, mime string, parts ...string)
	// PickFiles and PickFolder open the browser's choosers, OpenSample fetches the sample. The
	// files go to Reading.Add.
	PickFiles()
	PickFolder()
	OpenSample()
}

// Symbols gets symbol files from servers and folders.
type Symbols interface {
	// SymbolBases returns the addresses of the symbol servers that the page was built with; ok is
	// false if the page may not reach any server.
	SymbolBases() (bases []string, ok bool)
	// ResolveBase returns the address of a server as the browser resolves it, without a slash at
	// the end, and whether the page may reach it.
	ResolveBase(text string) (base string, allowed bool, problem string)
	// Fetch requests a symbol file. It sends only the address, and the token if there is one. If
	// the server supports range requests and whole is false, a large file arrives as one that the
	// engine reads in parts. After stop, neither progress nor done is called.
	Fetch(url, token string, whole bool, progress func(done, total int64), done func(Fetched)) (stop func())
	// PickStore has the user choose a folder of symbol files that the page may read again later, in
	// browsers that can do so (CanPickStore). KeepStore stores that folder for the next visit, or
	// deletes it; RecallStore calls done with the stored folder's name, or "".
	CanPickStore() bool
	PickStore(done func(name, problem string))
	KeepStore(keep bool)
	RecallStore(done func(name string))
	// FromStore finds files of the folder by their paths in a symbol store. If there is none of
	// them, it finds symbol files anywhere in the folder, at most limit.
	FromStore(paths []string, limit int, done func(found []File, problem string))
}

// File is a file of the browser. The page passes it on; only the engine reads it.
type File interface {
	Name() string // with its folders, as dropped
	Size() int64
}

// Engine is the engine in its worker. Answers go to Page.Answer; if the worker dies,
// Reading.EngineStopped is called. While a worker fetches the engine's program, it calls
// Program.Loading, and then Program.Loaded or Program.Failed.
type Engine interface {
	// Send posts a call with a file: the File of an Add, which may be a Parcel, or nil.
	Send(c protocol.Call, file File)
	// Restart ends the worker, even while it is busy, and starts a new one, which has no files.
	Restart()
	// Make has another worker read files and answer a request, and offers the file that it makes as
	// a download. Progress goes to Making.Progress; at the end Making.Made is called.
	Make(files []File, req protocol.Request)
	// StopMaking ends that worker; nothing is called any more.
	StopMaking()
}

// Fetched is a server's answer.
type Fetched struct {
	Status  int    // of HTTP; 0 if there was no answer
	Problem string // if there was no answer: why
	At      string // where the server redirected to, or ""
	File    File   // or nil
}

// remote is a File that is on a server and is read in parts.
type remote interface{ Remote() bool }

// IsRemote reports whether a file is on a server and is read in parts.
func IsRemote(f File) bool {
	r, ok := f.(remote)
	return ok && r.Remote()
}

// Systems, as Host.System returns them.
const (
	Windows = "windows"
	Mac     = "mac"
	Linux   = "linux" // and all others
)
