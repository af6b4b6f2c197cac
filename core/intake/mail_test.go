package intake

import (
	"bytes"
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
	for name, c := range map[string]struct{ text, want, notes string }{
		"multipart":              {body, "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"with bare newlines":     {strings.Replace(strings.ReplaceAll(strings.Replace(body, string(dump), "MDMPxx", 1), "\r\n", "\n"), "MDMPxx", string(dump), 1), "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"a gzip file in it":      {strings.Replace(body, string(dump), gz(string(dump)), 1), "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"envelope":               {envelope, "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"a compressed envelope":  {gz(envelope), "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
		"cut inside of the dump": {body[:len(body)-20], "x/a.dmp", "[{upload prod App} {upload empty }]"},
		"a length beyond it":     {strings.Replace(envelope, `"length":9`, `"length":99`, 1), "x/a.dmp", "[{envelope event_id 9ec79c33ec9942ab8353589fcb2e04dc} {envelope release app@1.2} {envelope tag gpu none} {envelope user.id 7}]"},
	} {
		out, err := Expand(input.New("x", strings.NewReader(c.text), int64(len(c.text))), Limits{}, nil)
		if len(out) != 1 || out[0].Name != c.want || fmt.Sprint(out[0].Notes) != c.notes {
			t.Errorf("%s: %v %v", name, out, err)
			continue
		}
		got, err := out[0].Bytes(0, out[0].Size)
		damaged := strings.HasPrefix(name, "cut") || strings.HasPrefix(name, "a length")
		if err != nil || !damaged && !bytes.Equal(got, dump) || damaged && !bytes.HasPrefix(got, dump[:1000]) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(dump), err)
		}
	}
}

// Endless headers and boundaries end.
func FuzzUploads(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\nx\r\n--b--\r\n"))
	f.Add([]byte("{\"event_id\":\"0\"}\n{\"type\":\"attachment\",\"length\":-1}\nx\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		Expand(input.FromBytes("x", b), Limits{}, nil)
	})
}
