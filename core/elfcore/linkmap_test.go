package elfcore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/elfcore"
	"github.com/crashpane/crashpane/core/input"
)

// linked is a core without a list of mapped files: a program at fixed addresses, whose header the core has if it is kept,
// a library without its header, a library and the dynamic linker with theirs. The entry of the program's dynamic section with a tag leads to the linker's list,
// whose end leads to its beginning.
func linked(a *cpu.Arch, kept bool, tag, value uint64) *dumptest.Core {
	order, wide := dumptest.LittleEndian, a.WordSize == 8
	const program, data = 0x480000, 0x481000
	words := func(all ...uint64) (b []byte) {
		for _, v := range all {
			if wide {
				b = order.AppendUint64(b, v)
			} else {
				b = order.AppendUint32(b, uint32(v))
			}
		}
		return b
	}
	header := func(kind uint32, address uint64) []byte {
		b := order.AppendUint32(nil, kind)
		if wide {
			return append(order.AppendUint32(b, 0), words(0, address, 0, 16, 16, 8)...)
		}
		return append(b, words(0, address, 0, 16, 16, 0, 8)...)
	}
	first, b := make([]byte, 0x1000), make([]byte, 0x1000)
	image := func(id string) []byte { return dumptest.ELFImage(order, wide, a.ELFMachines[0], 0x2000, []byte(id)) }
	copy(first, image("89ab"))
	copy(first[0x200:], append(append(header(6, program+0x200), header(2, data)...), header(3, data+0x300)...))
	copy(b, words(1, 2, tag, value, 0, 0))
	copy(b[0x80:], words(data+0x100))
	copy(b[0x100:], words(1, data+0x140)) // r_debug
	copy(b[0x140:], words(0, data+0x240, data, data+0x180, 0))
	copy(b[0x180:], words(0x500000, data+0x280, 0x501008, data+0x1c0, 0))
	copy(b[0x1c0:], words(0x600000, data+0x2c0, 0x601000, data+0x140, 0))
	for at, name := range map[int]string{0x280: "/lib/libheader.so", 0x2c0: "/lib/libnone.so", 0x300: "/lib/ld.so", 0x340: "/opt/started"} {
		copy(b[at:], name)
	}
	c := dumptest.NewCore(order, wide, a.ELFMachines[0])
	c.Thread(1, 11, gregset(a, order, program+0x10, 0x7ff00100)).Process(1, "app", "")
	c.Auxv([2]uint64{3, program + 0x200}, [2]uint64{5, 3}, [2]uint64{7, 0x680000}, [2]uint64{9, program + 0x10}, [2]uint64{31, data + 0x340})
	if !kept {
		first = nil
	}
	c.Memory(program, 0x1000, dumptest.Read|dumptest.Exec, first).Memory(data, 0x1000, dumptest.Read|dumptest.Write, b)
	c.Memory(0x500000, 0x1000, dumptest.Read|dumptest.Exec, image("0123")).Memory(0x501000, 0x1000, dumptest.Read|dumptest.Write, nil)
	c.Memory(0x600000, 0x1000, dumptest.Read|dumptest.Exec, nil).Memory(0x601000, 0x1000, dumptest.Read|dumptest.Write, nil)
	c.Memory(0x680000, 0x2000, dumptest.Read|dumptest.Exec, image("4567"))
	return c.Memory(0x7ff00000, 0x2000, dumptest.Read|dumptest.Write, make([]byte, 0x2000))
}

func modules(d *core.Dump) string {
	var out []string
	for i := range d.Modules {
		m := &d.Modules[i]
		out = append(out, fmt.Sprintf("%s %x %x %s", m.Name, m.Base, m.Size, m.CodeID))
	}
	return strings.Join(out, "\n")
}

// TestLinkMap: without a list of mapped files, the modules are those that the dynamic linker lists, and those whose
// header is in the memory. Without a linker the program is there, by the name that the kernel started it by.
func TestLinkMap(t *testing.T) {
	const (
		started   = "/opt/started 480000 2000 38396162\n"
		linker    = "/lib/ld.so 680000 2000 34353637"
		libraries = "/lib/libheader.so 500000 2000 30313233\n/lib/libnone.so 600000 2000 \n"
	)
	for _, a := range []*cpu.Arch{cpu.AMD64, cpu.X86, cpu.MIPS} {
		for _, c := range []struct {
			kept       bool
			tag, value uint64
			want       string
		}{
			{true, 21, 0x481100, started + libraries + linker},
			{true, 0x70000016, 0x481080, started + libraries + linker},
			{true, 0x70000035, 0x80 - 2*uint64(a.WordSize), started + libraries + linker},
			{true, 21, 0x999000, started + " 500000 2000 30313233\n" + linker}, // the list is not in the memory
			{true, 1, 1, started + " 500000 2000 30313233\n" + linker},         // linked statically
			{false, 21, 0x481100, "/opt/started 480000 2000 \n 500000 2000 30313233\n 680000 2000 34353637"},
		} {
			d, err := elfcore.Read(input.FromBytes("core", linked(a, c.kept, c.tag, c.value).Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if got := modules(d); got != c.want || len(d.Diags) > 0 {
				t.Errorf("%s, tag %x: modules\n%s\nwant\n%s\n%v", a.Name, c.tag, got, c.want, d.Diags)
			}
		}
	}
}

// TestGoBuildID: Go's linker writes the build id where no header says.
func TestGoBuildID(t *testing.T) {
	order := dumptest.LittleEndian
	c := dumptest.NewCore(order, true, 62).Thread(1, 11, gregset(cpu.AMD64, order, 0x400010, 0x7ff00100)).File(0x400000, 0x402000, 0, "/opt/go").
		Memory(0x400000, 0x1000, dumptest.Read|dumptest.Exec, dumptest.GoImage(order, true, 62, 0x2000, buildID))
	d, err := elfcore.Read(input.FromBytes("core", c.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := modules(d), "/opt/go 400000 2000 3031323334353637383961626364656630313233"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
