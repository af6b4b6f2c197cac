package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// TestTicketsHideSecrets: no form of a ticket has a secret of the dump, of its symbols, or of the
// folders that they are in, unless --private is given.
func TestTicketsHideSecrets(t *testing.T) {
	const secret = "hunter2"
	dir := filepath.Join(t.TempDir(), "home", secret)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data, symbols := dumptest.Secretive(secret)
	dump, sym := filepath.Join(dir, "a.dmp"), filepath.Join(dir, "app.sym")
	writeFile(t, dump, data)
	writeFile(t, sym, symbols)
	commands := [][]string{{"brief"}, {"report"}, {"report", "--html"}}
	for _, form := range ticketNames() {
		commands = append(commands, []string{"report", "--format=" + form})
	}
	for _, args := range commands {
		code, stdout, stderr := crashpane(append(args, dump, sym)...)
		if code != exitOK || !strings.Contains(stdout, "app") || strings.Contains(stdout, secret) {
			t.Errorf("%q: exit %d, %s\n%s", args, code, stderr, stdout)
		}
		if args[len(args)-1] != "--format=csv" && !strings.Contains(stdout, "main") {
			t.Errorf("%q has no names:\n%s", args, stdout)
		}
		_, stdout, _ = crashpane(append(args, "--private", dump, sym)...)
		if !strings.Contains(stdout, secret) {
			t.Errorf("%q --private hides it, too:\n%s", args, stdout)
		}
	}
}

// TestReports: of the sample, the two commands and their mistakes.
func TestReports(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	_, page, _ := crashpane("report", "--html", dump, sample)
	if len(page) > 200_000 || !strings.HasPrefix(page, "<!doctype html>") || !strings.Contains(page, "blend_edges") || strings.Contains(page, "<script") || strings.Contains(page, "http") && !strings.Contains(page, "http-equiv") {
		t.Errorf("%d bytes of a page: %.3000s", len(page), page)
	}
	for _, thread := range []string{"io", "stitch-1"} {
		if !strings.Contains(page, thread) {
			t.Errorf("thread %s is not in the page", thread)
		}
	}
	_, first, _ := crashpane("brief", dump, sample)
	_, second, _ := crashpane("brief", dump, sample)
	if first != second || len(first) > 8192 || !strings.Contains(first, "0  libtilecodec.so!tile::blend_edges(") {
		t.Errorf("a brief:\n%s\nand another:\n%s", first, second)
	}
	if _, text, _ := crashpane("report", "--thread", "0", dump, sample); !strings.Contains(text, "\nThread 0 ") {
		t.Error(text)
	}
	for _, args := range [][]string{{"report"}, {"brief"}, {"report", "--format", "word", dump}, {"report", "--thread", "99", dump}} {
		if code, stdout, stderr := crashpane(args...); code == exitOK || stdout != "" || stderr == "" {
			t.Errorf("%q: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}
