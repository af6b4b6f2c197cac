package dumptext_test

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptext"
)

func TestWriteStream(t *testing.T) {
	d := open(t, sample())
	var b strings.Builder
	if ok, err := dumptext.WriteStream(&b, d, core.StreamModuleList, dumptext.Options{}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if s := b.String(); !strings.Contains(s, `module[0].name = "/bin/app"`) || strings.Contains(s, "thread[") || strings.Contains(s, "header.") {
		t.Errorf("%s", s)
	}
	b.Reset()
	if ok, _ := dumptext.WriteStream(&b, d, 0x12345678, dumptext.Options{}); ok || b.Len() > 0 {
		t.Errorf("an unknown stream: %s", b.String())
	}
	b.Reset()
	dumptext.WriteStream(&b, d, core.StreamLinuxEnviron, dumptext.Options{})
	if strings.Contains(b.String(), "TOKEN") {
		t.Error("the environment was printed without being asked for")
	}
}
