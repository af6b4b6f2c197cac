package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// Names with markup and control characters, in every text that leaves the page.
func TestHostileNamesInExports(t *testing.T) {
	const element, turned = "<img src=x onerror=alert(1)>`|**[a](javascript:b)**", "safe\u202etxt.exe\u2066\u200f\a\x1b[31m\nFUNC"
	long := strings.Repeat("n", 1<<20)
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux})
	for i, name := range []string{element, turned, long} {
		d.Module(0x400000+uint64(i)*0x10000, 0x1000, name, dumptest.RSDS(1, 2, 3, [8]byte{byte(i)}, 0, name))
		rip := dumptest.AMD64(map[string]uint64{"rip": 0x400010 + uint64(i)*0x10000, "rsp": 0x7000})
		d.Thread(uint32(i+1), rip, 0x7000, make([]byte, 64)).ThreadName(uint32(i+1), name)
	}
	d.Exception(1, 11, 1, 0x10, context)
	k := newTalk(t)
	for _, f := range []struct {
		name    string
		content []byte
	}{
		{element + ".dmp", d.Bytes()},
		{turned + ".sym", []byte("MODULE Linux x86_64 00000001000200030000000000000000 " + element + "\nFILE 0 " + element + "\nFUNC 0 100 0 " + element + "\n0 100 7 0\n")},
	} {
		if r := k.ask(&protocol.Add{Names: []string{f.name}}, input.FromBytes(f.name, f.content)); r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	for _, row := range protocol.Exports {
		kind := row.ID
		for thread := range 3 {
			r, problem := k.export(kind, thread)
			if problem != "" || r.Text == "" {
				t.Errorf("%s: %q", kind, problem)
				continue
			}
			if strings.ContainsAny(r.FileName, "<>&\"'`/\\\u202e\u2066\x1b\n") || len(r.FileName) > 200 {
				t.Errorf("%s: a file called %q", kind, r.FileName)
			}
			switch kind {
			case protocol.ExportJSON:
				if !json.Valid([]byte(r.Text)) {
					t.Errorf("no JSON: %.2000s", r.Text)
				}
			case "text", "machine": // what Breakpad prints, as Breakpad prints it
			default:
				if strings.ContainsAny(r.Text, "\u202e\u2066\u200f\a\x1b") {
					t.Errorf("%s of thread %d has controls: %.2000q", kind, thread, r.Text)
				}
				if len(r.Text) > 200_000 {
					t.Errorf("%s of thread %d has %d characters", kind, thread, len(r.Text))
				}
			}
			if kind == "markdown" {
				for _, line := range strings.Split(r.Text, "\n") {
					outside := outsideCode(line)
					if strings.Contains(outside, "<") || strings.Contains(outside, "](") && !strings.Contains(outside, `\](`) {
						t.Errorf("markdown that is more than text: %.2000q", line)
					}
				}
			}
		}
	}
}

// outsideCode returns a line of Markdown without its code spans (CommonMark, section 6.1).
func outsideCode(line string) (out string) {
	for {
		before, code, found := strings.Cut(strings.ReplaceAll(line, "\\`", ""), "`")
		if out += before; !found {
			return out
		}
		fence := "`" + code[:len(code)-len(strings.TrimLeft(code, "`"))]
		code = code[len(fence)-1:]
		end := -1
		for i := 0; i < len(code); i++ { // the next run that is as long
			n := len(code[i:]) - len(strings.TrimLeft(code[i:], "`"))
			if n == len(fence) {
				end = i + n
				break
			}
			i += n
		}
		if end < 0 {
			return out + code
		}
		line = code[end:]
	}
}
