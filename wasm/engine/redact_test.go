package engine

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// Users' folders on several systems.
const (
	linux = "/" + "home"
	mac   = "/" + "Users"
)

func TestHideUsers(t *testing.T) {
	for in, want := range map[string]string{
		linux + "/alice/src/main.cc":                linux + "/USER/src/main.cc",
		mac + "/Bob Miller/Library/x.dylib":         mac + "/USER/Library/x.dylib",
		`C:\Users\bob\AppData\a.dll`:                `C:\Users\USER\AppData\a.dll`,
		`{"f":"c:\\users\\bob\\a.pdb","g":1}`:       `{"f":"c:\\users\\USER\\a.pdb","g":1}`,
		`C:\Documents and Settings\bob\a.exe`:       `C:\Documents and Settings\USER\a.exe`,
		"a " + linux + "/x/1 and " + linux + "/y/2": "a " + linux + "/USER/1 and " + linux + "/USER/2",
		linux + "/alice":                            linux + "/USER",
		"/var" + linux + "/alice/x":                 "/var" + linux + "/USER/x",
		"/home/":                                    "/home/",
		"/usr/lib/libc.so.6":                        "/usr/lib/libc.so.6",
		"homes/alice":                               "homes/alice",
		"/homeless/alice":                           "/homeless/alice",
		"a function (int) [with T = users::alice]":  "a function (int) [with T = users::alice]",
		"one\n" + linux + "/a\ntwo":                 "one\n" + linux + "/USER\ntwo",
	} {
		if got := HideUsers(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzHideUsers(f *testing.F) {
	f.Add(linux + "/alice/x")
	f.Add(`\\users\\`)
	f.Fuzz(func(t *testing.T, s string) {
		once := HideUsers(s)
		if again := HideUsers(once); again != once {
			t.Errorf("%q: %q, then %q", s, once, again)
		}
	})
}

// secret is in every part of a dump that has private data.
const secret = "hunter2"

func secretive() []byte {
	stack := make([]byte, 256)
	copy(stack[128:], secret)
	copy(stack[8:], "\x20\x00\x40\x00\x00\x00\x00\x00")
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, linux+"/"+secret+"/bin/app", nil).
		Thread(7, context, 0x7000, stack).
		Exception(7, 11, 1, 0x400020, context).
		Stream(0x47670006, []byte("app\x00--password="+secret+"\x00")).
		Stream(0x47670007, []byte("HOME="+linux+"/"+secret+"\x00TOKEN="+secret+"\x00")).
		Stream(0x47670009, []byte("00400000-00401000 r-xp 00000000 08:01 1 "+linux+"/"+secret+"/bin/app\n")).
		Stream(0x12345678, []byte(secret)).
		Handles(true, dumptest.Handle{Handle: 4, Type: "File", Name: `\Device\` + secret + ".xlsx"}).
		Crashpad([16]byte{1}, [16]byte{2}, 0, [][2]string{{"switch-1", "--token=" + secret}},
			dumptest.CrashpadModule{Index: 0, List: []string{secret}, Simple: [][2]string{{"url", "https://example.com/" + secret}},
				Objects: []dumptest.CrashpadObject{{Name: "note", Type: 1, Value: []byte(secret)}}}).
		MacCrashInfo(5, [3]uint64{1, 0, 0}, "/usr/lib/libfoo.dylib", secret, secret, secret, secret).
		MacBootArgs(false, "debug="+secret).
		CommentA("user "+secret).CommentW("mail to "+secret).
		Memory(0x9000, []byte(linux+"/"+secret+"/bin/app\x00")).
		Auxv(8, [2]uint64{31, 0x9000}).
		Bytes()
}

// Sends every request, with and without Redact: private data must be in the answers only without
// it.
func TestNothingPrivateLeaves(t *testing.T) {
	for _, redact := range []bool{false, true} {
		said := map[string]string{} // of each question, the answers as they go to the page
		what := ""
		var e *Engine
		e = New(func(a protocol.Answer) { said[what] += string(protocol.AppendAnswer(nil, a, e.Text())) }, Options{})
		ask := func(name string, req protocol.Request, src *input.Source) {
			what = name
			e.Handle(protocol.Call{Redact: redact, Request: req}, src)
		}
		upload := "--b\r\nContent-Disposition: form-data; name=\"comment\"\r\n\r\n" + secret + "\r\n--b\r\n" +
			"Content-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"a.dmp\"\r\n\r\n" + string(secretive()) + "\r\n--b--\r\n"
		ask("add", &protocol.Add{Names: []string{"a.dmp"}}, input.FromBytes("a.dmp", []byte(upload)))
		for e.Idle() {
		}
		all := protocol.Span{Count: 100}
		look := protocol.Query{Summary: true, Threads: &protocol.ThreadsQuery{Span: all}, Stack: &all, Detail: true, Modules: &protocol.ModulesQuery{Span: all}, Missing: &all,
			Files: &all, Compare: &protocol.CompareQuery{Span: all}, System: &protocol.SystemQuery{CommandLine: true, Environment: true}}
		for i, v := 0, reflect.ValueOf(look); i < v.NumField(); i++ {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains([]string{"Selection", "Search", "Rest", "Wanted", "Grid", "Content", "Find"}, name) {
				t.Errorf("nothing is asked for Query.%s", name)
			}
		}
		for frame := range 3 {
			look.Frame = frame
			ask(fmt.Sprint("look ", frame), &look, nil)
		}
		for _, grid := range gridTables {
			ask(grid.id, &protocol.Query{Grid: &protocol.GridQuery{Name: grid.id, Span: all}}, nil)
		}
		for i := range e.files.Session(0).Dump.Streams {
			for _, bytes := range []bool{false, true} {
				ask(fmt.Sprint("stream ", i, bytes), &protocol.Query{Content: &protocol.ContentQuery{Stream: i, Bytes: bytes, Private: true, Span: all}}, nil)
			}
		}
		for _, kind := range protocol.Exports {
			ask("export "+kind.ID, &protocol.Export{Kind: kind.ID, Thread: -1}, nil)
		}
		found := 0
		for question, answer := range said {
			if strings.Contains(answer, secret) {
				found++
				if redact {
					t.Errorf("%s tells it: %q", question, answer)
				}
			}
		}
		if !redact && found < 10 {
			t.Errorf("without redact %d of %d answers tell it", found, len(said))
		}
		if redact && !strings.Contains(said["memory"], linux+"/USER/bin/app") {
			t.Errorf("more is lost: %s", said["memory"])
		}
	}
}

// The report's threads and frames are the same with Redact.
func TestRedactKeepsTheStack(t *testing.T) {
	stack := func(redact bool) string {
		k := newTalk(t)
		for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym"} {
			content, err := os.ReadFile(sample + name)
			if err != nil {
				t.Fatal(err)
			}
			k.call(protocol.Call{Redact: redact, Request: &protocol.Add{Names: []string{name}}}, input.FromBytes(name, content))
		}
		k.call(protocol.Call{Redact: redact, Request: &protocol.Export{Kind: "machine", Thread: -1}}, nil)
		r, _ := last[*protocol.Exported](k)
		return r.Text
	}
	if open, redacted := stack(false), stack(true); HideUsers(open) != redacted || !strings.Contains(open, "codec.cc") {
		t.Errorf("%s\nbut with redact\n%s", open, redacted)
	}
}
