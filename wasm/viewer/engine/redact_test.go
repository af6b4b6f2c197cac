package engine

import "testing"

func TestHideUsers(t *testing.T) {
	for in, want := range map[string]string{
		"/home/alice/src/main.cc":                  "/home/USER/src/main.cc",
		"/Users/Bob Miller/Library/x.dylib":        "/Users/USER/Library/x.dylib",
		`C:\Users\bob\AppData\a.dll`:               `C:\Users\USER\AppData\a.dll`,
		`{"f":"c:\\users\\bob\\a.pdb","g":1}`:      `{"f":"c:\\users\\USER\\a.pdb","g":1}`,
		`C:\Documents and Settings\bob\a.exe`:      `C:\Documents and Settings\USER\a.exe`,
		"a /home/x/1 and /home/y/2":                "a /home/USER/1 and /home/USER/2",
		"/home/alice":                              "/home/USER",
		"/var/home/alice/x":                        "/var/home/USER/x",
		"/home/":                                   "/home/",
		"/usr/lib/libc.so.6":                       "/usr/lib/libc.so.6",
		"homes/alice":                              "homes/alice",
		"/homeless/alice":                          "/homeless/alice",
		"a function (int) [with T = users::alice]": "a function (int) [with T = users::alice]",
		"one\n/home/a\ntwo":                        "one\n/home/USER\ntwo",
	} {
		if got := HideUsers(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzHideUsers(f *testing.F) {
	f.Add("/home/alice/x")
	f.Add(`\\users\\`)
	f.Fuzz(func(t *testing.T, s string) {
		once := HideUsers(s)
		if again := HideUsers(once); again != once {
			t.Errorf("%q: %q, then %q", s, once, again)
		}
	})
}
