//go:build !js

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/session"
)

// TestNewSymbols: symbols that the user adds while the server runs are used by the next answers, also about a dump
// that is open.
func TestNewSymbols(t *testing.T) {
	dump, symbols := dumptest.Secretive("x")
	syms := folderOf(t, map[string][]byte{"other": nil})
	c := client(t, options{folders: []string{folderOf(t, map[string][]byte{"a.dmp": dump})}, symbols: []string{syms}})
	answers := func() (out string) {
		for _, q := range []struct {
			tool string
			a    args
		}{{"walk", args{"dump": "dumps/a.dmp"}}, {"groups", args{}}} {
			text, failed := ask(t, c, q.tool, q.a)
			if failed {
				t.Error(text)
			}
			out += text + "\n"
		}
		return out
	}
	if out := answers(); strings.Contains(out, "main") {
		t.Errorf("names without symbols: %s", out)
	}
	if err := os.WriteFile(filepath.Join(syms, "app.sym"), symbols, 0o666); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		out := answers()
		if strings.Contains(out, `"function":"main"`) && strings.Contains(out, `"signature":"inlined"`) {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("the new symbols are not used: %s", out)
		}
	}
}

// TestGroupsGoOn: a call that is cancelled keeps the records that it has made, so that the next goes on.
func TestGroupsGoOn(t *testing.T) {
	files := map[string][]byte{}
	for i := range 10 {
		files[fmt.Sprintf("a%d.dmp", i)] = deep(3)
	}
	large := deep(1 << 20)
	for i := range 20 {
		files[fmt.Sprintf("b%d.dmp", i)] = large
	}
	s, err := newServer(options{folders: []string{folderOf(t, files)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := s.groups(ctx, &groupsQuestion{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	if n := len(s.grouped.known); n < 10 || n == len(files) {
		t.Errorf("the call that was cancelled has left %d of %d files", n, len(files))
	}
	for name, k := range s.grouped.known {
		if len(k.records) != 1 || k.records[0].Signature == "" {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestGroupsForget: files that are deleted are no longer counted, and take no place.
func TestGroupsForget(t *testing.T) {
	dir := folderOf(t, map[string][]byte{"a.dmp": deep(3), "b.dmp": deep(3), "c.txt": nil})
	s, err := newServer(options{folders: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, want := range []string{`{"dumps":2,"files_not_read_yet":0,"files_without_dump":1,`, `{"dumps":1,"files_not_read_yet":0,"files_without_dump":1,`} {
		a, err := s.groups(context.Background(), &groupsQuestion{})
		if err != nil || !strings.HasPrefix(string(a.body), want) {
			t.Errorf("%v: %s", err, a.body)
		}
		os.Remove(filepath.Join(dir, "b.dmp"))
	}
	if n := len(s.grouped.known); n != 2 {
		t.Errorf("%d files are known", n)
	}
}

// TestCacheMemory: dumps that take much memory do not stay open by the number alone.
func TestCacheMemory(t *testing.T) {
	const each = 100 << 20
	c := newCache(func(_ context.Context, name string, into *dump) error {
		into.Set = disk.New(session.Options{}, disk.Choices{}, io.Discard)
		into.Files.Budget().Give(each)
		return into.Files.Budget().Draw(input.Memory, each)
	})
	defer c.close()
	for i := range maxOpen {
		if err := c.with(context.Background(), fmt.Sprint(i), inputs{}, func(*dump) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.dumps); n != maxHeld/each || c.dumps[fmt.Sprint(maxOpen-1)] == nil {
		t.Errorf("%d dumps of %d bytes are open: %v", n, each, c.dumps)
	}
	// One that is larger than all may be alone stays until the next.
	c.with(context.Background(), "large", inputs{}, func(d *dump) error {
		d.Files.Budget().Give(maxHeld)
		return d.Files.Budget().Draw(input.Memory, maxHeld)
	})
	if len(c.dumps) != 1 || c.dumps["large"] == nil {
		t.Errorf("%v", c.dumps)
	}
}

// TestCompareNotes: what is to be said about the first of two dumps is said, too.
func TestCompareNotes(t *testing.T) {
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for i := range 2 {
		f, err := w.Create(fmt.Sprintf("%d.dmp", i))
		if err != nil {
			t.Fatal(err)
		}
		f.Write(deep(3))
	}
	w.Close()
	c := client(t, options{folders: []string{folderOf(t, map[string][]byte{"a.zip": z.Bytes(), "b.dmp": deep(4)})}})
	for _, q := range []args{{"dump": "dumps/a.zip", "other": "dumps/b.dmp"}, {"dump": "dumps/b.dmp", "other": "dumps/a.zip"}} {
		if r := must(t, c, "compare", q, nil); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "dumps/a.zip: holds 2 dumps") {
			t.Errorf("%v: %q", q, r.Notes)
		}
	}
}

// TestLinkedSymbols: the user may name a folder of symbols by a link that is in the folder of the dumps, and leads out of
// it.
func TestLinkedSymbols(t *testing.T) {
	dump, symbols := dumptest.Secretive("x")
	dir := folderOf(t, map[string][]byte{"a.dmp": dump})
	link := filepath.Join(dir, "symbols")
	if err := os.Symlink(folderOf(t, map[string][]byte{"app.sym": symbols}), link); err != nil {
		t.Fatal(err)
	}
	c := client(t, options{folders: []string{dir}, symbols: []string{link}})
	for _, tool := range []string{"walk", "groups"} {
		a := args{}
		if tool == "walk" {
			a["dump"] = "dumps/a.dmp"
		}
		if out, failed := ask(t, c, tool, a); failed || !strings.Contains(out, `"inlined"`) {
			t.Errorf("%s: %s", tool, out)
		}
	}
}
