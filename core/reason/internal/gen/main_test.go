package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreUpToDate: what is committed is what the data files give.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for _, o := range outputs {
		want, err := o.build(filepath.Join("..", "..", "data"))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("..", "..", o.name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is not what the data files give: run go generate ./core/reason", o.name)
		}
	}
}
