package intake

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// Uploads are opened by their content: the dump in them is a member, and what was sent with it goes
// along.
func TestUploads(t *testing.T) {
	dump := append([]byte("MDMP\x93\xa7\r\n--"), bytes.Repeat([]byte{0, '\n', 0xff}, 30000)...) // across blocks
	body := "--b\r\nContent-Disposition: form-data; name=\"prod\"\r\n\r\nApp\r\n--b\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n" +
		"--b\r\ncontent-disposition: form-data; name=\"upload_file_minidump\"; filename=\"a.dmp\"\r\nContent-Type: application/octet-stream\r\n\r\n" + string(dump) + "\r\n--b--\r\n"
	envelope := `{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}` + "\n" + `{"type":"event"}` + "\n" + `{"release":"app@1.2","tags":{"gpu":"none"},"user":{"id":7},"breadcrumbs":[{"message":"x"}]}` + "\n" +
		fmt.Sprintf(`{"type":"attachment","length":%d,"attachment_type":"event.minidump","filename":"a.dmp"}`, len(dump)) + "\n" + string(dump) + "\n"
	const values, header = "[{upload prod App} {upload empty }]", "Host: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
	inBase64 := strings.Replace(strings.Replace(body, string(dump), lines(dump), 1), "octet-stream\r\n", "octet-stream\r\nContent-Transfer-Encoding: BASE64\r\n", 1)
	valueFirst, _ := strings.CutPrefix(body, "--b\r\n")
	dumpFirst := valueFirst[strings.Index(valueFirst, "content-disp"):]
	for name, c := range map[string]struct{ text, want, notes string }{
		"a preamble":                              {"Files of a crash:\r\n\r\n-- \r\n" + body, "x/a.dmp", values},
		"an empty line before it":                 {"\r\n" + body, "x/a.dmp", values},
		"no first boundary":                       {valueFirst, "x/a.dmp", values},
		"no first boundary, the dump alone":       {dumpFirst, "x/a.dmp", "[]"},
		"no first boundary, cut inside of a dump": {valueFirst[:len(valueFirst)-20], "x/a.dmp", values},
		"no boundary at all":                      {dumpFirst[:len(dumpFirst)-9], "x/a.dmp", "[]"},
		"base64":                                  {inBase64, "x/a.dmp", values},
		"a value in base64":                       {strings.Replace(body, "name=\"prod\"\r\n\r\nApp", "name=\"prod\"\r\nContent-Transfer-Encoding: base64\r\n\r\nQXBw", 1), "x/a.dmp", values},
		"a value in quoted-printable":             {strings.Replace(body, "name=\"prod\"\r\n\r\nApp", "name=\"prod\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=41pp", 1), "x/a.dmp", values},
		"a gzip file in base64":                   {strings.Replace(inBase64, lines(dump), lines([]byte(gz(string(dump)))), 1), "x/a.dmp", values},
		"a mail":                                  {"From: a\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee\r\n" + strings.Replace(inBase64[strings.Index(inBase64, "--b\r\ncontent"):], `form-data; name="upload_file_minidump"`, "attachment", 1), "x/a.dmp", "[]"},
		"a request":                               {"POST /submit?id=7 HTTP/1.1\r\n" + header + "\r\n" + body, "x/a.dmp", values},
		"a request of HTTP 2":                     {"POST /submit HTTP/2\r\n" + header + "\r\n" + body, "x/a.dmp", values},
		"a request with bare newlines":            {"POST /submit HTTP/1.1\n" + strings.ReplaceAll(header, "\r", "") + "\n" + body, "x/a.dmp", values},
		"its header alone":                        {header + "\r\n" + body, "x/a.dmp", values},
		"a compressed request":                    {"POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n" + gz(body), "x/a.dmp", values},
		"a request in chunks":                     {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + inChunks(body), "x/a.dmp", values},
		"in chunks, compressed":                   {"POST / HTTP/1.1\r\ntransfer-encoding: gzip, Chunked\r\n\r\n" + inChunks(gz(body)), "x/a.dmp", values},
		"said to be in chunks":                    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + body, "x/a.dmp", values},
		"cut inside of a chunk":                   {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + inChunks(body)[:len(body)-2000], "x/a.dmp", values},
		"a response":                              {"HTTP/1.1 200 OK\r\nServer: a\r\n\r\n" + string(dump), "x", "[]"},
		"a request with an envelope":              {"POST /api/1/envelope/ HTTP/1.1\r\nHost: a\r\n\r\n" + envelope, "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"multipart":                               {body, "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"with bare newlines":                      {strings.Replace(strings.ReplaceAll(strings.Replace(body, string(dump), "MDMPxx", 1), "\r\n", "\n"), "MDMPxx", string(dump), 1), "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"a gzip file in it":                       {strings.Replace(body, string(dump), gz(string(dump)), 1), "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"envelope":                                {envelope, "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"an envelope without a header's values":   {"{}" + envelope[strings.IndexByte(envelope, '\n'):], "x/a.dmp", "[{envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"a compressed envelope":                   {gz(envelope), "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"cut inside of the dump":                  {body[:len(body)-20], "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"a length beyond it":                      {strings.Replace(envelope, `"length":9`, `"length":99`, 1), "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
	} {
		out, err := Expand(input.New("x", strings.NewReader(c.text), int64(len(c.text))), Limits{}, nil)
		if len(out) != 1 || out[0].Name != c.want || fmt.Sprint(out[0].Notes) != c.notes {
			t.Errorf("%s: %v %v", name, out, err)
			continue
		}
		got, err := out[0].Bytes(0, out[0].Size)
		damaged := strings.Contains(name, "cut") || strings.HasPrefix(name, "a length") || strings.HasSuffix(name, "at all")
		if err != nil || !damaged && !bytes.Equal(got, dump) || damaged && !bytes.HasPrefix(got, dump[:1000]) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(dump), err)
		}
	}
}

// lines returns bytes in base64, in lines as mails have them.
func lines(b []byte) string {
	text := base64.StdEncoding.EncodeToString(b)
	var out strings.Builder
	for ; len(text) > 76; text = text[76:] {
		out.WriteString(text[:76] + "\r\n")
	}
	return out.String() + text
}

// inChunks returns a body in chunks.
func inChunks(body string) string {
	var out strings.Builder
	for ; body != ""; body = body[min(len(body), 1000):] {
		fmt.Fprintf(&out, "%x;a=b\r\n%s\r\n", min(len(body), 1000), body[:min(len(body), 1000)])
	}
	return out.String() + "0\r\n\r\n"
}

// TestDamagedUploads: what is before the damage is used, and the damage is reported.
func TestDamagedUploads(t *testing.T) {
	for name, c := range map[string]struct{ text, member, problem string }{
		"base64": {"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Transfer-Encoding: base64\r\n\r\nTURNUA==****\r\n--b--\r\n", "x/f MDMP",
			`x/f: base64 data at offset 0xc: damaged data; the 4 bytes before it are used: illegal base64 data at input byte 8`},
		"a chunk's size": {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nMDMP\r\n-4\r\n", "x MDMP",
			`x: the chunks of an HTTP message at offset 0xd: damaged data; the 4 bytes before it are used: "-4\r\n", where a chunk's size should be`},
		"a longer chunk": {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nMDMPx\r\n0\r\n", "x MDMP",
			`x: the chunks of an HTTP message at offset 0xa: damaged data; the 4 bytes before it are used: a chunk that is longer than its size`},
	} {
		out, err := Expand(input.FromBytes("x", []byte(c.text)), Limits{}, nil)
		if len(out) != 1 || err == nil || err.Error() != c.problem {
			t.Errorf("%s: %v %v", name, out, err)
			continue
		}
		if got, _ := out[0].Bytes(0, out[0].Size); out[0].Name+" "+string(got) != c.member {
			t.Errorf("%s: %s %q", name, out[0].Name, got)
		}
	}
}

// TestNoUploads: texts that only look like an upload are what they were.
func TestNoUploads(t *testing.T) {
	for _, text := range []string{
		"POST / HTTP/1.1\r\nHost: a\r\n",              // no end of the header
		"POST / HTTP/1.1\r\nno header\r\n\r\nMDMP",    // not of this form
		"GET the file HTTP/1.1\n\nMDMP",               // a sentence
		"--b\nContent-Type: text/plain\n\nx\n--b--\n", // no part with a name
		"--- a\n+++ b\n@@ -1 +1 @@\n-x\n",             // a patch
		"text\n--b\ntext\nContent-Disposition: form-data; name=\"a\"\n\nx\n--b--\n",
	} {
		if g := Sniff(input.FromBytes("x", []byte(text))); g.Kind != Text {
			t.Errorf("%q: %v", text, g)
		}
	}
}

// Endless headers and boundaries end.
func FuzzUploads(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\nx\r\n--b--\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n-\r\n0\r\n"))
	f.Add([]byte("Content-Disposition: form-data; name=\"a\"; filename=\"b\"\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--\r\n"))
	f.Add([]byte("{\"event_id\":\"0\"}\n{\"type\":\"attachment\",\"length\":-1}\nx\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		Expand(input.FromBytes("x", b), Limits{}, nil)
	})
}

// brokenAt is a file whose bytes from an offset on cannot be read.
type brokenAt struct {
	data []byte
	off  int64
}

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.off {
		return 0, errors.New("bad sector")
	}
	return copy(p, b.data[off:]), nil
}

// TestUploadReadErrors: where a part's end cannot be read, the message says so, and not that the file ends.
func TestUploadReadErrors(t *testing.T) {
	dump := "MDMP" + noise(300<<10)
	for name, text := range map[string]string{
		"multipart": "--b\r\nContent-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"a.dmp\"\r\n\r\n" + dump + "\r\n--b--\r\n",
		"envelope":  "{}\n{\"type\":\"attachment\",\"filename\":\"a.dmp\"}\n" + strings.ReplaceAll(dump, "\n", " ") + "\n",
	} {
		src := input.New(name, brokenAt{[]byte(text), 200 << 10}, int64(len(text)))
		out, err := Expand(src, Limits{}, nil)
		if len(out) != 1 || err == nil || !strings.Contains(err.Error(), "bad sector") || strings.Contains(err.Error(), "the end of the file") {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}
