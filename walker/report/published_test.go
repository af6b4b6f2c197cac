package report

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker"
)

// TestPublished: which modules are the system's, and who publishes the symbols of a module. The first of
// each dump is its program.
func TestPublished(t *testing.T) {
	const mozilla, electron, microsoft, chromium, debuginfod, google = "Mozilla publishes those of its builds at https://symbols.mozilla.org", "Electron publishes", "Microsoft publishes those of its libraries", "Chromium publishes", "the debuginfod project publishes", "Google publishes those of Chrome in archives, https://dl.google.com/chrome/mac/"
	type module struct {
		name, debugFile string
		system          bool
		published       string
	}
	for _, c := range []struct {
		os      core.OS
		modules []module
	}{
		{core.Windows, []module{{`C:\app\app.exe`, "app.pdb", false, ""}, {`C:\Windows\System32\ntdll.dll`, "ntdll.pdb", true, microsoft}, {`C:\app\vcruntime140.dll`, "", true, microsoft},
			{"dbgcore.dll", "", true, microsoft}, {`C:\app\plugin.dll`, "", false, ""}, {`D:\tools\xulrunner.dll`, "", false, ""}}},
		{core.Windows, []module{{`C:\Windows\System32\notepad.exe`, "notepad.pdb", false, ""}, {`\SystemRoot\System32\kernelbase.dll`, "kernelbase.pdb", true, microsoft}, {`C:\Windows\System32\x.dll`, "", true, microsoft}}},
		{core.Windows, []module{{`C:\x\My App.exe`, "electron.exe.pdb", false, electron}, {`C:\x\ffmpeg.dll`, "ffmpeg.dll.pdb", false, electron}, {`C:\x\resources\addon.node`, "addon.pdb", false, ""}}},
		{core.Windows, []module{{`C:\G\chrome.exe`, "chrome.exe.pdb", false, chromium}, {`C:\G\121\chrome.dll`, "chrome.dll.pdb", false, chromium}, {`C:\G\121\chrome_elf.dll`, "chrome_elf.dll.pdb", false, chromium}}},
		{core.Windows, []module{{`C:\E\msedge.exe`, "msedge.exe.pdb", false, "Microsoft publishes those of its builds"}}},
		{core.OSLinux, []module{{"/usr/lib/firefox/firefox", "firefox", false, mozilla}, {"/usr/lib/firefox/libxul.so", "libxul.so", false, mozilla}, {"/usr/lib/firefox/libx.so", "libx.so", false, mozilla},
			{"/usr/lib/x86_64-linux-gnu/libgtk-3.so.0", "libgtk-3.so.0", true, debuginfod}, {"linux-gate.so", "", true, debuginfod}}},
		{core.OSLinux, []module{{"/usr/bin/app", "app", false, ""}, {"/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6", true, debuginfod}, {"/opt/app/libapp.so", "", false, ""}}},
		{core.OSLinux, []module{{"/opt/google/chrome/chrome", "chrome", false, ""}}},
		{core.OSLinux, []module{{"/usr/lib/chromium/chromium", "chromium", false, debuginfod}, {"/usr/lib/chromium/libEGL.so", "libEGL.so", false, debuginfod}}},
		{core.OSLinux, []module{{"/opt/chromium/src/out/chrome", "chrome", false, ""}}},
		{core.MacOS, []module{{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "Google Chrome", false, google},
			{"/Applications/Google Chrome.app/Contents/Frameworks/Google Chrome Framework.framework/Versions/121/Google Chrome Framework", "Google Chrome Framework", false, google}}},
		{core.MacOS, []module{{"/Applications/Chromium.app/Contents/MacOS/Chromium", "Chromium", false, ""}}},
		{core.MacOS, []module{{"/Applications/S.app/Contents/MacOS/S", "S", false, ""}, {"/Applications/S.app/Contents/Frameworks/Electron Framework.framework/Versions/A/Electron Framework", "Electron Framework", false, electron},
			{"/usr/lib/system/libsystem_c.dylib", "", true, ""}, {"/System/Library/Frameworks/AppKit", "", true, ""}}},
		{core.Android, []module{{"/system/bin/app_process64", "", false, ""}, {"/system/lib64/libandroid.so", "", true, ""}, {"/data/app/x/lib/arm64/libgame.so", "", false, ""}}},
	} {
		b := &builder{d: &core.Dump{System: &core.SystemInfo{OS: c.os}}, r: &Report{}}
		for _, m := range c.modules {
			b.r.Modules = append(b.r.Modules, Module{Name: m.name, DebugFile: m.debugFile, DebugID: "1", CodeID: "1"})
		}
		for i, m := range c.modules {
			if have := b.r.IsSystems(i); have != m.system {
				t.Errorf("%s: the system's %v", m.name, have)
			}
			have := ""
			if p := b.published(i); p != nil {
				have = p.says()
			}
			if !strings.HasPrefix(have, m.published) || m.published == "" && have != "" {
				t.Errorf("%s: %q", m.name, have)
			}
		}
	}
	// A name of the program's own, without a folder.
	b := &builder{d: &core.Dump{System: &core.SystemInfo{OS: core.Windows}}, r: &Report{Modules: []Module{{Name: "app.exe"}, {Name: "xul.dll"}, {Name: "other.dll"}}}}
	if p := b.published(2); p != nil {
		t.Error(p.says())
	}
}

// TestWants: what a stack asks for first is of the program, also if only the system's symbols would
// continue the stack.
func TestWants(t *testing.T) {
	scanned := func(m int) walker.Frame { return walker.Frame{Module: m, Trust: walker.TrustScan} }
	rule := func(m int) walker.Frame { return walker.Frame{Module: m, Trust: walker.TrustCFI} }
	for _, c := range []struct {
		frames  []walker.Frame
		missing []int
		want, n int
	}{
		{[]walker.Frame{rule(1), scanned(0)}, []int{0, 1}, 0, 0},
		{[]walker.Frame{rule(1), scanned(1), scanned(1)}, []int{1}, 1, 2},
		{[]walker.Frame{rule(1), scanned(0), scanned(0)}, []int{0, 1}, 0, 1},
		{[]walker.Frame{rule(1), rule(0)}, []int{0, 1}, -1, 0},
		{[]walker.Frame{rule(2), scanned(1), scanned(2)}, []int{1, 2}, 1, 1},
	} {
		b := &builder{d: &core.Dump{System: &core.SystemInfo{OS: core.Windows}}, symbols: make([]ModuleSymbols, 3),
			r: &Report{Modules: []Module{{Name: `C:\app\app.exe`}, {Name: `C:\Windows\ntdll.dll`}, {Name: `C:\Windows\dbgcore.dll`}}}}
		for _, m := range c.missing {
			b.r.Missing = append(b.r.Missing, MissingFile{Module: m})
		}
		if m, n := b.wants(&walker.Stack{Frames: c.frames, Stop: walker.Stop{Kind: walker.StopEnd}}); m != c.want || n != c.n {
			t.Errorf("%v: module %d, %d frames", c.frames, m, n)
		}
	}
}
