package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources are the texts of the files that match the patterns, without tests.
func sources(t *testing.T, patterns ...string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(raw)
		}
	}
	return all.String()
}

// What a report or a message tells someone to do can be done: the page has the control that it
// names, the command the option.
func TestAdviceCanBeFollowed(t *testing.T) {
	said := sources(t, "../../report/findings.go", "../../report/overflow.go", "../../session/*.go", "*.go")
	page := sources(t, "../../../web/app/*.vugu", "../../../web/app/*.go", "../../../web/app/*/*.vugu", "../../../web/app/*/*.go")
	options := map[string]bool{}
	for i := range commands {
		fs := commands[i].flagSet()
		commands[i].flags(fs)
		fs.VisitAll(func(f *flag.Flag) { options[f.Name] = true })
	}
	controls, flags := 0, 0
	for _, m := range regexp.MustCompile(`“([^”]+)” on the page`).FindAllStringSubmatch(said, -1) {
		controls++
		if strings.Contains(page, `"`+m[1]+`"`) || strings.Contains(page, ">"+m[1]+"<") {
			continue
		}
		t.Errorf("the page has no control %q", m[1])
	}
	for _, m := range regexp.MustCompile(`--([a-z-]+) (?:FILE|MODULE|"|[a-z.]+=FILE)`).FindAllStringSubmatch(said, -1) {
		flags++
		if !options[m[1]] {
			t.Errorf("no command has the option --%s", m[1])
		}
	}
	if controls < 2 || flags < 6 {
		t.Errorf("%d controls and %d options were found in the texts", controls, flags)
	}
	if strings.Contains(said, "it by hand\"") || strings.Contains(said, "anyway by hand") {
		t.Error("a text says “by hand” and not with what")
	}
}
