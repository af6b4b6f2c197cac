package dumptext_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/dumptext"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/microdump"
)

func sample() []byte {
	stack := make([]byte, 40)
	copy(stack, "SECRET=stack memory")
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/bin/app", dumptest.ELF([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})).
		Thread(0x1234, dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000}), 0x7000, stack).
		Stream(0x47670006, []byte("app\x00--password=hunter2\x00")).
		Stream(0x47670007, []byte("HOME=/home/me\x00TOKEN=abc\x00")).
		Stream(0x47670003, []byte("processor\t: 0\nmodel name\t: A = B\n")).
		Stream(0x12345678, []byte("\x00\x01binary \xffdata of a program")).
		Stream(0x7fff0001, []byte("just\ntext\r\n")).
		Bytes()
}

func open(t testing.TB, data []byte) *core.Dump {
	t.Helper()
	d, err := core.Open(input.FromBytes("a.dmp", data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func text(t testing.TB, d *core.Dump, o dumptext.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := dumptext.Write(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonOf(t testing.TB, d *core.Dump, o dumptext.Options) (raw string, v any) {
	t.Helper()
	var b bytes.Buffer
	if err := dumptext.WriteJSON(&b, d, o); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatalf("%v in\n%.2000s", err, b.String())
	}
	return b.String(), v
}

func TestText(t *testing.T) {
	got := text(t, open(t, sample()), dumptext.Options{})
	for _, want := range []string{
		"file = \"a.dmp\"\n",
		"header.order = little-endian\n",
		"stream[0].type = 0x7 SystemInfo\n",
		"system.processor = 0x9 amd64\n",
		"system.platform_id = 0x8201 MD_OS_LINUX\n",
		"thread[0].id = 0x1234\n",
		"thread[0].context.rip = 0x0000000000400010\n",
		"module[0].base = 0x400000\n",
		"module[0].name = \"/bin/app\"\n",
		"module[0].code_view.signature = 0x4270454c BpEL\n",
		"module[0].code_view.build_id = 0102030405060708090a0b0c0d0e0f10\n",
		"linux.cmd_line = left out, 23 bytes; --all prints them\n",
		"linux.environ = left out, 24 bytes; --all prints them\n",
		"linux.cpu_fields[1].model_name = \"A = B\"\n",
		".type = 0x12345678 unknown\n",
		".bytes 0x00000000: 00 01 62 69 6e 61 72 79 20 ff 64 61 74 61 20 6f  |..binary .data o|\n",
		".bytes 0x00000010: 66 20 61 20 70 72 6f 67 72 61 6d                 |f a program|\n",
		".text[1] = \"text\"\n",
		"memory_bytes = left out; --memory prints them\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q", want)
		}
	}
	for _, secret := range []string{"hunter2", "TOKEN", "SECRET"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is printed without being asked for", secret)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	got = text(t, open(t, sample()), dumptext.Options{All: true, Memory: true})
	for _, want := range []string{
		"linux.cmd_line[1] = \"--password=hunter2\"\n",
		"linux.environ[1] = \"TOKEN=abc\"\n",
		"memory[0].start = 0x7000\n",
		"memory[0].bytes 0x00007000: 53 45 43 52 45 54 3d 73 74 61 63 6b 20 6d 65 6d  |SECRET=stack mem|\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("with everything there is no %q in\n%s", want, got)
		}
	}
}

// TestJSON: what the text says, the JSON says too, at the same place.
func TestJSON(t *testing.T) {
	dumps := []*core.Dump{open(t, sample())}
	micro, err := microdump.Read(input.FromBytes("log.txt", []byte(dumptest.Micro{OS: "A", Arch: "arm", Hardware: "armv7l", Fingerprint: "x",
		GPU: "a|b|c", Context: dumptest.ARM(nil), Stack: make([]byte, 20), StackStart: 0x1000, SP: 0x1000}.Log("google-breakpad: ", "\n"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range append(dumps, micro...) {
		o := dumptext.Options{All: true, Memory: true}
		_, v := jsonOf(t, d, o)
		checked := samePlaces(t, text(t, d, o), v)
		if checked < 100 {
			t.Errorf("only %d values were compared", checked)
		}
	}
}

// samePlaces looks each line of the text up in the JSON value.
func samePlaces(t *testing.T, lines string, v any) int {
	t.Helper()
	checked := 0
	for line := range strings.Lines(lines) {
		path, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		if !ok {
			continue // bytes
		}
		at := v
		for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
			switch x := at.(type) {
			case map[string]any:
				at = x[step]
			case []any:
				var i int
				fmt.Sscan(step, &i)
				if i < len(x) {
					at = x[i]
				} else {
					at = nil
				}
			}
		}
		var want string
		switch x := at.(type) {
		case string:
			want = x
		case float64, bool:
			want = fmt.Sprint(x)
		default:
			t.Errorf("%s: the JSON has %v there", line, at)
			continue
		}
		if unquoted := unquote(value); unquoted != want && !strings.HasPrefix(value, want+" ") {
			t.Errorf("%s: the JSON has %q", line, want)
		}
		checked++
	}
	return checked
}

func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}

// TestEveryStream: a stream that core decodes is in a section, or known as text. Add it to sections
// or textStreams if this fails.
func TestEveryStream(t *testing.T) {
	for _, s := range core.DecodedStreams() {
		if !dumptext.Claimed(s) && !dumptext.IsText(s) {
			t.Errorf("core decodes %s (0x%x), and core/dumptext has no section for it: it is printed as bytes", s.Name(), uint32(s))
		}
	}
}

// TestEveryField fills a Dump with numbers and texts that occur once, and looks for each of them in
// the outputs: what is added to a type of core is printed.
func TestEveryField(t *testing.T) {
	d := open(t, sample())
	var f filler
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		if n := v.Type().Field(i); n.IsExported() && n.Name != "Src" && n.Name != "Memory" && n.Name != "Streams" &&
			n.Name != "Exceptions" && // all but the last are printed, as that is
			n.Name != "Registers" { // is how the contexts are read
			f.fill(v.Field(i), n.Name, 0)
		}
	}
	d.Header.Order = binary.LittleEndian
	for name, out := range map[string]string{"text": text(t, d, dumptext.Options{All: true}), "json": first(jsonOf(t, d, dumptext.Options{All: true}))} {
		for _, m := range f.marks {
			if !strings.Contains(out, m.value) && (m.decimal == "" || !strings.Contains(out, m.decimal)) {
				t.Errorf("%s: %s (%s) is not printed", name, m.path, m.value)
			}
		}
	}
	t.Logf("%d fields", len(f.marks))
	if len(f.marks) < 100 {
		t.Errorf("only %d fields were looked for", len(f.marks))
	}
}

func first(s string, _ any) string { return s }

// filler sets every field to a value of its own.
type filler struct {
	n     uint64
	marks []mark
}

type mark struct {
	path, value string
	decimal     string // another form that will do
}

// skipped are fields that choose what else is printed, and those that are printed in other words.
var skipped = map[string]bool{"Signature": true, "Offset": true, "Time": true, "GUID": true}

func (f *filler) fill(v reflect.Value, path string, depth int) {
	if !v.CanSet() || depth > 12 {
		return
	}
	f.n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			n := v.Type().Field(i).Name
			if v.Type().Name() == "CodeView" && skipped[n] {
				continue
			}
			f.fill(v.Field(i), path+"."+n, depth+1)
		}
		if v.Type().Name() == "CodeView" {
			v.FieldByName("Signature").SetUint(core.SigBpEL)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), path+"[0]", depth+1)
	case reflect.Array:
		if v.Len() > 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			f.fill(v.Index(0), path+"[0]", depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(value, path+"[]", depth+1)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.String:
		s := fmt.Sprintf("text%dx", f.n)
		v.SetString(s)
		f.marks = append(f.marks, mark{path: path, value: s})
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32, reflect.Uint64:
		n := 0x5a0000 + f.n
		v.SetUint(n)
		// Whether the field is printed in this notation or that is not the question here.
		f.marks = append(f.marks, mark{path, fmt.Sprintf("0x%x", n), fmt.Sprint(n)})
	}
}

// What was sent with a dump comes before it.
func TestUpload(t *testing.T) {
	src := input.FromBytes("a.dmp", sample())
	src.Notes = []input.Note{{Origin: "upload", Key: "prod", Value: "App\n"}}
	d, err := core.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := dumptext.Write(&b, d, dumptext.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "upload[0].origin = \"upload\"\nupload[0].key = \"prod\"\nupload[0].value = \"App\\n\"\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%.300s\nlacks\n%s", b.String(), want)
	}
}
