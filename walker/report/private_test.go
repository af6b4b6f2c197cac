package report

import "testing"

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
