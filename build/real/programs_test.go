//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What is not installed is named with the way to install it.
func TestAbsent(t *testing.T) {
	p := program{needs: []need{{"sh", "never"}, {"crashpane-no-such-command", "apt-get install it"}}}
	if n := p.absent(); n == nil || n.what != "crashpane-no-such-command" || n.install != "apt-get install it" {
		t.Errorf("absent: %+v", n)
	}
	if p.needs = p.needs[:1]; p.absent() != nil {
		t.Errorf("absent: %+v", p.absent())
	}
}

// Every program has a name of its own, and sources that are there.
func TestPrograms(t *testing.T) {
	source := regexp.MustCompile(`\$SRC/([A-Za-z_.0-9]+)`)
	names := map[string]bool{}
	for _, p := range programs {
		if names[p.name] || p.run == "" {
			t.Errorf("%s: a second program of that name, or nothing to run", p.name)
		}
		names[p.name] = true
		for _, command := range append([]string{p.run}, p.build...) {
			for _, m := range source.FindAllStringSubmatch(command, -1) {
				if _, err := os.Stat(filepath.Join("../..", sources, m[1])); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		}
	}
}
