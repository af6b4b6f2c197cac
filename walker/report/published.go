package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// systemFolders are the beginnings of the paths of systems' libraries, after the drive.
var systemFolders = []string{"/windows/", "/systemroot/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/", "/system/",
	"/apex/", "/vendor/", "/product/", "/library/apple/", "/private/preboot/cryptexes/", "/nix/store/"}

// systemNames are the beginnings of the names of systems' libraries and runtimes, wherever they are: a
// dump may have names without folders, and programs bring some with them.
var systemNames = []string{"ntdll.", "kernel32.", "kernelbase.", "user32.", "win32u.", "gdi32", "dbgcore.", "dbghelp.", "ucrtbase", "msvcrt.", "msvcr1", "msvcp1", "vcruntime",
	"concrt1", "mfc1", "combase.", "ole32.", "rpcrt4.", "sechost.", "advapi32.", "ws2_32.", "mswsock.", "wow64", "coreclr.", "clr.", "clrjit.",
	"libc.so", "libc-2.", "libc++", "libpthread", "libm.so", "libm-2.", "libdl.so", "libdl-2.", "librt.so", "librt-2.", "libstdc++", "libgcc_s", "ld-linux", "ld-2.", "ld-musl", "ld.so",
	"linux-gate", "linux-vdso", "[vdso]", "libsystem_", "libdyld.", "dyld", "libobjc.", "corefoundation", "foundation"}

// slashes returns a path in lower case, without its drive, with "/" between folders.
func slashes(path string) string {
	path = strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	if len(path) > 1 && path[1] == ':' {
		path = path[2:]
	}
	return strings.TrimPrefix(path, "//?")
}

func folder(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// IsSystems reports whether a module is a library of the system, whose symbols its user does not have at
// hand: by its folder, unless the program itself or a part of it is there, or by its name.
func (r *Report) IsSystems(m int) bool {
	if m == r.MainModule {
		return false
	}
	path := slashes(r.Modules[m].Name)
	begins := func(s string) func(string) bool {
		return func(begin string) bool { return strings.HasPrefix(s, begin) }
	}
	if slices.ContainsFunc(systemNames, begins(path[len(folder(path)):])) {
		return true
	}
	if main := r.MainModule; main >= 0 && strings.HasPrefix(path, folder(slashes(r.Modules[main].Name))) && !isShared(folder(slashes(r.Modules[main].Name))) {
		return false
	}
	return slices.ContainsFunc(systemFolders, begins(path))
}

// isShared reports whether a folder has programs of all kinds: being in it shows no relation to another
// file there.
func isShared(folder string) bool {
	return folder == "" || folder == "/" || slices.Contains(systemFolders, folder) || strings.HasPrefix(folder, "/windows/")
}

// publisher publishes the symbols of its programs on a server of a layout, or without one as archives.
type publisher struct {
	name, server, layout string
	of                   string // what of, if not its own builds
	// shows are the beginnings of the names of the program's own files, which the other files in their
	// folder belong to.
	shows []string
	// on is the only system whose programs' symbols are published, OSUnknown for all.
	on core.OS
}

// says returns where the symbols are: "Mozilla publishes those of its builds at https://symbols.mozilla.org".
func (p *publisher) says() string {
	at := " at "
	if p.layout == "" {
		at = " in archives, "
	}
	return p.name + " publishes those of " + cmp.Or(p.of, "its builds") + at + p.server
}

// publishers of programs (each is on the page that says how to debug with the program's symbols:
// firefox-source-docs.mozilla.org, electronjs.org/docs, chromium.org, learn.microsoft.com; Chrome's for
// macOS are in Chromium's tools/mac/download_symbols.py), and those of the systems' libraries. Of Chrome
// for Linux nothing public is known; distributions build Chromium themselves.
var (
	publishers = []publisher{
		{name: "Mozilla", server: "https://symbols.mozilla.org", layout: LayoutBreakpad, shows: []string{"xul", "xul.pdb", "xul.dll", "libxul.so", "firefox", "thunderbird", "plugin-container"}},
		{name: "Electron", server: "https://symbols.electronjs.org", layout: LayoutBreakpad, shows: []string{"electron"}},
		{name: "Chromium", server: "https://chromium-browser-symsrv.commondatastorage.googleapis.com", layout: LayoutMicrosoft, shows: []string{"chrome.", "chrome_elf."}, on: core.Windows},
		{name: "Google", of: "Chrome", server: "https://dl.google.com/chrome/mac/CHANNEL/dsym/googlechrome-VERSION-ARCHITECTURE-dsym.tar.bz2", shows: []string{"google chrome"}, on: core.MacOS},
		{name: "Microsoft", server: msdl, layout: LayoutMicrosoft, shows: []string{"msedge", "msedgewebview2"}, on: core.Windows},
	}
	ofWindows = publisher{name: "Microsoft", of: "its libraries", server: msdl, layout: LayoutMicrosoft}
	// The server asks those of the distributions.
	ofLinux = publisher{name: "the debuginfod project", of: "distributions", server: "https://debuginfod.elfutils.org", layout: LayoutDebuginfod}
)

const msdl = "https://msdl.microsoft.com/download/symbols"

// published returns who publishes a module's symbols, or nil.
func (b *builder) published(m int) *publisher {
	windows := b.d.OS() == core.Windows
	switch system := b.r.IsSystems(m); {
	case system && windows:
		return &ofWindows
	case system && b.d.OS() == core.OSLinux && b.r.Modules[m].CodeID != "":
		return &ofLinux
	case system:
		return nil
	}
	if b.publishedIn == nil {
		b.publishedIn = map[string]*publisher{}
		for i := range b.r.Modules {
			if p := shownBy(&b.r.Modules[i], b.d.OS()); p != nil {
				b.publishedIn[folder(slashes(b.r.Modules[i].Name))] = p
			}
		}
	}
	if p := shownBy(&b.r.Modules[m], b.d.OS()); p != nil {
		return p
	}
	if b.d.OS() == core.OSLinux && b.ofDistribution(m) {
		return &ofLinux
	}
	in := folder(slashes(b.r.Modules[m].Name))
	if isShared(in) {
		return nil
	}
	return b.publishedIn[in]
}

// ofDistribution reports whether a module is Chromium as a distribution has built it, or is next to it.
//
//	/usr/lib/chromium/chromium    /usr/lib64/chromium-browser/chromium-browser
func (b *builder) ofDistribution(m int) bool {
	path := slashes(b.r.Modules[m].Name)
	inSystem := slices.ContainsFunc(systemFolders, func(begin string) bool { return strings.HasPrefix(path, begin) })
	return inSystem && b.r.Modules[m].CodeID != "" && strings.Contains(path, "/chromium")
}

// publish says who publishes each module.
func (b *builder) publish() {
	for i := range b.r.Modules {
		m := &b.r.Modules[i]
		m.System = b.r.IsSystems(i)
		if p := b.published(i); p != nil && p != &ofLinux && (!m.System || p == &ofWindows) {
			m.Publisher = p.name
		}
	}
}

// shownBy returns the publisher whose program a module is by its name, or nil.
func shownBy(m *Module, os core.OS) *publisher {
	file, _ := m.debugFile()
	for i := range publishers {
		p := &publishers[i]
		for _, s := range p.shows {
			for _, name := range []string{slashes(file), slashes(m.Title())} {
				if (p.on == core.OSUnknown || p.on == os) && (name == s || len(s) > 4 && strings.HasPrefix(name, s)) {
					return p
				}
			}
		}
	}
	return nil
}
