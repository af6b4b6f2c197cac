package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
)

// TestFolderKinds: the archives and binaries of a folder are found by their first bytes. A new kind
// of either needs a sample here.
func TestFolderKinds(t *testing.T) {
	zeros := strings.Repeat("\x00", 100)
	samples := map[intake.Kind]string{intake.Zip: "PK\x03\x04", intake.Cab: "MSCF" + zeros, intake.SevenZip: "7z\xbc\xaf\x27\x1c",
		intake.Tar: "a" + strings.Repeat("\x00", 256) + "ustar" + strings.Repeat("\x00", 250), intake.Ar: "!<arch>\n",
		intake.MachO: "\xcf\xfa\xed\xfe\x07\x00\x00\x01" + zeros, intake.Fat: "\xca\xfe\xba\xbe\x00\x00\x00\x01" + zeros,
		intake.ELF: "\x7fELF\x02\x01" + zeros, intake.PE: "MZ" + zeros, intake.PDB: "Microsoft C/C++ MSF 7.00\r\n\x1aDS" + zeros}
	for name, k := range enumtest.Strings[intake.Kind](t, "../../core/intake", "Kind") {
		// Uploads have dumps, not symbols.
		if !k.IsBinary() && !k.HasMembers() || k == intake.Multipart || k == intake.Envelope || k == intake.HTTP {
			continue
		}
		if got := intake.Sniff(input.FromBytes("a", []byte(samples[k]))).Kind; got != k {
			t.Errorf("the sample of intake.%s is %q", name, got)
		}
		f := &folder{root: t.TempDir()}
		if err := os.WriteFile(filepath.Join(f.root, "a"), []byte(samples[k]), 0o644); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		f.scan(&core.Dump{}, &stderr)
		opened := len(f.binariesByName) > 0 || stderr.Len() > 0 // most of the samples are damaged
		if k.HasMembers() && len(f.archives) == 0 || k.IsBinary() && !opened {
			t.Errorf("folder.scan does not find a file of the kind intake.%s", name)
		}
		if k != intake.ELF && strings.Contains(stderr.String(), "ELF") {
			t.Errorf("binary.Open takes a file of the kind intake.%s for an ELF file: %s", name, stderr.String())
		}
	}
}
