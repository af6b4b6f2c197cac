package core_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// entry is an entry of a module list with the id that its letter stands for; none for "".
type entry struct {
	base     uint64
	size     uint32
	name, id string
}

// withEntries is a dump of a system with a module list and /proc/PID/maps, if there is any.
func withEntries(t testing.TB, platform uint32, entries []entry, maps string) *core.Dump {
	t.Helper()
	return withMemory(t, platform, entries, maps, nil)
}

// withMemory is withEntries with memory.
func withMemory(t testing.TB, platform uint32, entries []entry, maps string, memory map[uint64][]byte) *core.Dump {
	t.Helper()
	d := dumptest.New(binary.LittleEndian)
	d.System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: platform})
	for _, e := range entries {
		var id dumptest.CodeView
		if e.id != "" {
			id = dumptest.ELF([]byte(strings.Repeat(e.id, 20)))
		}
		d.Module(e.base, e.size, e.name, id)
	}
	if maps != "" {
		d.Stream(uint32(core.StreamLinuxMaps), []byte(maps))
	}
	for at, p := range memory {
		d.Memory(at, p)
	}
	out, err := core.Open(input.FromBytes("made.dmp", d.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The list and the maps of Node 20 as rust-minidump's writer had them: the entry with the entry
// point comes first, and V8 has mapped its builtins once more, in memory that it keeps for
// generated code.
var nodeEntries = []entry{
	{0xb72000, 0x1a8c000, "/usr/bin/node", "n"},
	{0x400000, 0x771000, "/usr/bin/node", "n"},
	{0x2600000, 0x305d000, "/usr/bin/node", "n"},
	{0x7f4fd3e40000, 0x1c0000, "/usr/bin/node", "n"},
	{0x7f4fdb000000, 0x1d5000, "/usr/lib/libc.so.6", "c"},
}

const nodeMaps = `00400000-00b6f000 r--p 00000000 fe:00 247580   /usr/bin/node
00b6f000-00b71000 r-xp 0076f000 fe:00 247580   /usr/bin/node
00b72000-025fe000 r-xp 00772000 fe:00 247580   /usr/bin/node
02600000-02601000 r-xp 02200000 fe:00 247580   /usr/bin/node
02601000-0563a000 r--p 02201000 fe:00 247580   /usr/bin/node
0563a000-0563e000 r--p 05239000 fe:00 247580   /usr/bin/node
0563e000-0565d000 rw-p 0523d000 fe:00 247580   /usr/bin/node
7f4fb4003000-7f4fb403f000 rwxp 00000000 00:00 0
7f4fd3e40000-7f4fd3fd2000 r-xp 014c4000 fe:00 247580   /usr/bin/node
7f4fd3fd2000-7f4fd4000000 ---p 00000000 00:00 0
7f4fdb000000-7f4fdb026000 r--p 00000000 fe:00 1   /usr/lib/libc.so.6
7f4fdb026000-7f4fdb17b000 r-xp 00026000 fe:00 1   /usr/lib/libc.so.6
7f4fdb17b000-7f4fdb1d5000 rw-p 0017b000 fe:00 1   /usr/lib/libc.so.6
`

// A library of two parts with a gap between them, as often as bases say.
func gapped(name, id string, bases ...uint64) (out []entry) {
	for _, b := range bases {
		out = append(out, entry{b, 0x2000, name, id}, entry{b + 0x10000, 0x4000, name, id})
	}
	return out
}

func gappedMaps(name string, offset, inode uint64, bases ...uint64) string {
	var b strings.Builder
	for _, base := range bases {
		fmt.Fprintf(&b, "%x-%x r--p %08x fe:00 %d %s\n", base, base+0x2000, offset, inode, name)
		fmt.Fprintf(&b, "%x-%x r-xp %08x fe:00 %d %s\n", base+0x10000, base+0x13000, offset+0x2000, inode, name)
		fmt.Fprintf(&b, "%x-%x rw-p %08x fe:00 %d %s\n", base+0x13000, base+0x14000, offset+0x5000, inode, name)
	}
	return b.String()
}

// withoutIDs returns entries, some without an id.
func withoutIDs(entries []entry, which ...int) []entry {
	entries = slices.Clone(entries)
	for _, i := range which {
		entries[i].id = ""
	}
	return entries
}

// heldMaps is a library whose gaps the loader keeps free, so that there is one entry.
func heldMaps(base uint64) string {
	return fmt.Sprintf("%x-%x r--p 0 0:1 7 a.so\n%x-%x ---p 2000 0:1 7 a.so\n%x-%x r-xp 2000 0:1 7 a.so\n",
		base, base+0x2000, base+0x2000, base+0x10000, base+0x10000, base+0x14000)
}

// Frames of a program with gaps are named by where the program begins, and those of what only looks
// like it are not.
func TestModuleMappings(t *testing.T) {
	const a, b = 0x7f0000100000, 0x7f0000200000
	apart := func(entries []entry) (out []core.ModuleMapping) {
		for i, e := range entries {
			out = append(out, core.ModuleMapping{Start: e.base, Size: uint64(e.size), Module: i})
		}
		return out
	}
	twice := []core.ModuleMapping{{a, 0x2000, 0, 0}, {a + 0x10000, 0x4000, 0x10000, 0}, {b, 0x2000, 0, 2}, {b + 0x10000, 0x4000, 0x10000, 2}}
	packages := append(gapped("/data/app/base.apk", "a", a), gapped("/data/app/base.apk", "b", a+0x14000)...)
	for _, c := range []struct {
		name     string
		platform uint32
		entries  []entry
		maps     string
		want     []core.ModuleMapping // nil: as stored
	}{
		{"node with maps", dumptest.OSLinux, nodeEntries, nodeMaps, []core.ModuleMapping{
			{0xb72000, 0x1a8c000, 0x772000, 0}, {0x400000, 0x771000, 0, 0}, {0x2600000, 0x305d000, 0x2200000, 0},
			{0x7f4fd3e40000, 0x192000, 0x14c4000, 0}, {0x7f4fdb000000, 0x1d5000, 0, 4}}},
		{"node on Android, V8's copy not in the list", dumptest.OSAndroid, nodeEntries[:3], nodeMaps, []core.ModuleMapping{
			{0xb72000, 0x1a8c000, 0x772000, 0}, {0x400000, 0x771000, 0, 0}, {0x2600000, 0x305d000, 0x2200000, 0},
			{0x7f4fd3e40000, 0x192000, 0x14c4000, 0}}},
		{"code that the writer left out", dumptest.OSLinux, gapped("a (deleted)", "a", a)[:1], gappedMaps("a (deleted)", 0, 1, a), []core.ModuleMapping{
			{a, 0x2000, 0, 0}, {a + 0x10000, 0x3000, 0x10000, 0}}},
		{"no such code in an Android package", dumptest.OSAndroid, gapped("/data/app/base.apk", "a", a)[:1], gappedMaps("/data/app/base.apk", 0x41000, 9, a), nil},
		{"gaps that a library keeps free", dumptest.OSLinux, []entry{{a, 0x14000, "a.so", "a"}, {b, 0x14000, "a.so", "a"}, {a - 0x8000, 0x8000, "a.so", "a"}},
			fmt.Sprintf("%x-%x r--p 0 0:1 7 a.so\n", a-0x8000, a) + heldMaps(a) + heldMaps(b),
			[]core.ModuleMapping{{a, 0x14000, 0, 0}, {b, 0x14000, 0, 1}, {a - 0x8000, 0x2000, 0, 0}}},
		{"node without maps: the far entry's place is not known", dumptest.OSLinux, nodeEntries, "", []core.ModuleMapping{
			{0xb72000, 0x1a8c000, 0x772000, 0}, {0x400000, 0x771000, 0, 0}, {0x2600000, 0x305d000, 0x2200000, 0},
			{0x7f4fd3e40000, 0x1c0000, 0, 3}, {0x7f4fdb000000, 0x1d5000, 0, 4}}},
		{"maps that are cut off say no more than none", dumptest.OSLinux, nodeEntries[:3], nodeMaps[:strings.Index(nodeMaps, "02600000")], []core.ModuleMapping{
			{0xb72000, 0x1a8c000, 0x772000, 0}, {0x400000, 0x771000, 0, 0}, {0x2600000, 0x305d000, 0x2200000, 0}}},
		{"segments whose distances differ from those in the file", dumptest.OSLinux, gapped("a.so", "a", a), gappedMaps("a.so", 0, 1, a), twice[:2]},
		{"ld.so, with another file in its gap", dumptest.OSLinux, gapped("/lib/ld.so", "a", a),
			strings.Replace(gappedMaps("/lib/ld.so", 0, 1, a), fmt.Sprintf("%x-", a+0x10000), fmt.Sprintf("%x-%x r--s 0 fe:00 5 /en-US.pak\n%x-", a+0x4000, a+0x5000, a+0x10000), 1), twice[:2]},
		{"a library that is loaded twice", dumptest.OSLinux, gapped("a.so", "a", a, b), gappedMaps("a.so", 0, 1, a, b), twice},
		{"the same without maps", dumptest.OSLinux, gapped("a.so", "a", a, b), "", twice},
		{"one without gaps that is loaded twice", dumptest.OSLinux, []entry{{a, 0x5000, "a.so", "a"}, {b, 0x5000, "a.so", "a"}}, "", nil},
		{"one without gaps and one more mapping of its code below it", dumptest.OSLinux,
			[]entry{{a, 0x1000, "a.so", "a"}, {b, 0x5000, "a.so", "a"}},
			fmt.Sprintf("%x-%x r-xp 3000 0:1 7 a.so\n%x-%x r--p 0 0:1 7 a.so\n%x-%x r-xp 2000 0:1 7 a.so\n", a, a+0x1000, b, b+0x2000, b+0x2000, b+0x5000),
			[]core.ModuleMapping{{a, 0x1000, 0x3000, 1}, {b, 0x5000, 0, 1}}},
		{"a file that is read, right below where it is loaded", dumptest.OSLinux,
			[]entry{{a, 0x8000, "a.so", "a"}, {a + 0x8000, 0x5000, "a.so", "a"}},
			fmt.Sprintf("%x-%x r--p 0 0:1 7 a.so\n%x-%x r--p 0 0:1 7 a.so\n%x-%x r-xp 2000 0:1 7 a.so\n", a, a+0x8000, a+0x8000, a+0xa000, a+0xa000, a+0xd000),
			[]core.ModuleMapping{{a, 0x2000, 0, 1}, {a + 0x8000, 0x5000, 0, 1}}},
		{"a copy of what no load has", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", "a"}, {b, 0x2000, "a.so", "a"}},
			fmt.Sprintf("%x-%x r-xp 0 0:1 7 a.so\n%x-%x r-xp 9000 0:1 7 a.so\n", a, a+0x2000, b-0x100000000, b+0x2000-0x100000000), nil},
		{"the id on the second", dumptest.OSLinux, withoutIDs(gapped("a.so", "a", a), 0), gappedMaps("a.so", 0, 1, a),
			[]core.ModuleMapping{{a, 0x2000, 0, 1}, {a + 0x10000, 0x4000, 0x10000, 1}}},
		{"the id on the first", dumptest.OSLinux, withoutIDs(gapped("a.so", "a", a), 1), gappedMaps("a.so", 0, 1, a), twice[:2]},
		{"the id on the second, loaded twice", dumptest.OSLinux, withoutIDs(gapped("a.so", "a", a, b), 0, 2), gappedMaps("a.so", 0, 1, a, b),
			[]core.ModuleMapping{{a, 0x2000, 0, 1}, {a + 0x10000, 0x4000, 0x10000, 1}, {b, 0x2000, 0, 3}, {b + 0x10000, 0x4000, 0x10000, 3}}},
		{"the part with the id alone", dumptest.OSLinux, gapped("a.so", "a", a)[1:], gappedMaps("a.so", 0, 1, a),
			[]core.ModuleMapping{{a + 0x10000, 0x4000, 0x10000, 0}}},
		{"the id on the last, gaps kept free", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", ""}, {a + 0x10000, 0x2000, "a.so", ""}, {a + 0x12000, 0x2000, "a.so", "a"}},
			heldMaps(a), []core.ModuleMapping{{a, 0x2000, 0, 2}, {a + 0x10000, 0x2000, 0x10000, 2}, {a + 0x12000, 0x2000, 0x12000, 2}}},
		{"the id on the second, nothing between, without maps", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", ""}, {a + 0x2000, 0x4000, "a.so", "a"}, {a + 0x6000, 0x1000, "a.so", ""}}, "",
			[]core.ModuleMapping{{a, 0x2000, 0, 1}, {a + 0x2000, 0x4000, 0x2000, 1}, {a + 0x6000, 0x1000, 0x6000, 1}}},
		{"the same, with a gap in the part with the id", dumptest.OSLinux, []entry{{a + 0x10000, 0x4000, "a.so", "a"}, {a + 0x2000, 0x2000, "a.so", "a"}, {a, 0x2000, "a.so", ""}, {a + 0x14000, 0x1000, "a.so", ""}}, "",
			[]core.ModuleMapping{{a + 0x10000, 0x4000, 0x10000, 0}, {a + 0x2000, 0x2000, 0x2000, 0}, {a, 0x2000, 0, 0}, {a + 0x14000, 0x1000, 0x14000, 0}}},
		{"loaded twice, the ids on the second, without maps", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", ""}, {a + 0x2000, 0x4000, "a.so", "a"}, {b, 0x2000, "a.so", ""}, {b + 0x2000, 0x4000, "a.so", "a"}}, "",
			[]core.ModuleMapping{{a, 0x2000, 0, 1}, {a + 0x2000, 0x4000, 0x2000, 1}, {b, 0x2000, 0, 3}, {b + 0x2000, 0x4000, 0x2000, 3}}},
		{"a gap before the one with the id, without maps", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", ""}, {a + 0x3000, 0x4000, "a.so", "a"}}, "", nil},
		{"another file before the one with the id, without maps", dumptest.OSLinux, []entry{{a, 0x2000, "b.so", ""}, {a + 0x2000, 0x4000, "a.so", "a"}}, "", nil},
		{"a package of two libraries, one behind the other, without maps", dumptest.OSAndroid, []entry{{a, 0x2000, "base.apk", ""}, {a + 0x2000, 0x4000, "base.apk", "a"}, {a + 0x6000, 0x1000, "base.apk", "b"}}, "", nil},
		{"another file between", dumptest.OSLinux, withoutIDs(gapped("a.so", "a", a), 0),
			strings.Replace(gappedMaps("a.so", 0, 1, a), fmt.Sprintf("%x-", a+0x10000), fmt.Sprintf("%x-%x r-xp 0 fe:00 5 b.so\n%x-", a+0x4000, a+0x5000, a+0x10000), 1), nil},
		{"a package and a library far into it", dumptest.OSAndroid, withoutIDs(gapped("/data/app/base.apk", "a", a), 0),
			fmt.Sprintf("%x-%x r--p 0 fe:00 9 /data/app/base.apk\n%x-%x r-xp 90000 fe:00 9 /data/app/base.apk\n", a, a+0x2000, a+0x10000, a+0x14000), nil},
		{"a package that is read, and a library in it", dumptest.OSAndroid, withoutIDs(gapped("/data/app/base.apk", "a", a), 0),
			fmt.Sprintf("%x-%x r--p 0 fe:00 9 /data/app/base.apk\n%x-%x r-xp 5000 fe:00 9 /data/app/base.apk\n", a-0x100000, a+0x2000, a+0x10000, a+0x14000), nil},
		{"two libraries in one package, the ids on the second parts", dumptest.OSAndroid, withoutIDs(packages, 0, 2),
			gappedMaps("/data/app/base.apk", 0, 9, a) + gappedMaps("/data/app/base.apk", 0x9000, 9, a+0x14000), nil},
		{"two libraries of one name without ids", dumptest.OSLinux, gapped("a.so", "", a), gappedMaps("a.so", 0, 1, a), nil},
		{"ids of zeros are no ids", dumptest.OSLinux, gapped("a.so", "\x00", a), gappedMaps("a.so", 0, 1, a), nil},
		{"two libraries of one name", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", "a"}, {a + 0x4000, 0x4000, "a.so", "b"}}, "", nil},
		{"two names of one library", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", "a"}, {a + 0x4000, 0x4000, "b.so", "a"}}, "", nil},
		{"a library and the one that replaced it", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", "a"}, {b, 0x2000, "a.so", "a"}},
			fmt.Sprintf("%x-%x r-xp 0 0:1 7 a.so (deleted)\n%x-%x r-xp 0 0:1 8 a.so\n", a, a+0x2000, b, b+0x2000), nil},
		{"a program that was deleted", dumptest.OSLinux, gapped("a (deleted)", "a", a), gappedMaps("a (deleted)", 0, 1, a), twice[:2]},
		{"two libraries in one Android package, one behind the other", dumptest.OSAndroid, packages,
			gappedMaps("/data/app/base.apk", 0x41000, 9, a) + gappedMaps("/data/app/base.apk", 0x90000, 9, a+0x14000), []core.ModuleMapping{
				{a, 0x2000, 0, 0}, {a + 0x10000, 0x4000, 0x10000, 0}, {a + 0x14000, 0x2000, 0, 2}, {a + 0x24000, 0x4000, 0x10000, 2}}},
		{"without ids", dumptest.OSAndroid, gapped("/data/app/base.apk", "", a), gappedMaps("/data/app/base.apk", 0x41000, 9, a), nil},
		{"an entry that spans a hole", dumptest.OSLinux, []entry{{a, 0x14000, "a.so", "a"}}, gappedMaps("a.so", 0, 1, a), nil},
		{"listed twice", dumptest.OSLinux, []entry{{a, 0x2000, "a.so", "a"}, {a, 0x2000, "a.so", "a"}}, "", nil},
		{"the kernel's page", dumptest.OSLinux, []entry{{0x7fffb000, 0x2000, "linux-gate.so", "v"}}, "7fffb000-7fffd000 r-xp 0 0:0 0 [vdso]\n", nil},
		{"Windows", dumptest.OSWindows, gapped("a.dll", "a", a), "", nil},
		{"macOS", dumptest.OSMac, gapped("a.dylib", "a", a), "", nil},
	} {
		d := withEntries(t, c.platform, c.entries, c.maps)
		if c.want == nil {
			c.want = apart(c.entries)
		}
		if got := d.ModuleMappings(true); fmt.Sprintf("%x", got) != fmt.Sprintf("%x", c.want) {
			t.Errorf("%s:\n%x\nwant\n%x", c.name, got, c.want)
		}
		if got := d.ModuleMappings(false); fmt.Sprintf("%x", got) != fmt.Sprintf("%x", apart(c.entries)) {
			t.Errorf("%s, as stored: %x", c.name, got)
		}
	}
}

// Addresses are found in every mapping of a module, and what the writer counted to it after a copy
// is in none.
func TestModuleAt(t *testing.T) {
	d := withEntries(t, dumptest.OSLinux, nodeEntries, nodeMaps)
	for _, c := range []struct {
		addr   uint64
		module int
		rva    uint64
	}{{0x400000, 0, 0}, {0xb71000, -1, 0}, {0xb72010, 0, 0x772010}, {0x2600001, 0, 0x2200001}, {0x7f4fd3e40010, 0, 0x14c4010}, {0x7f4fd3fd1fff, 0, 0x1655fff},
		{0x7f4fd3fd2000, -1, 0}, {0x7f4fdb000100, 4, 0x100}, {0x10, -1, 0}} {
		if module, rva := d.ModuleAt(c.addr); module != c.module || rva != c.rva {
			t.Errorf("0x%x is in module %d at 0x%x, not in %d at 0x%x", c.addr, module, rva, c.module, c.rva)
		}
	}
}

// FuzzModuleMappings: whatever the maps say, every entry has a mapping, and the modules that
// mappings belong to are entries of their own.
func FuzzModuleMappings(f *testing.F) {
	f.Add(nodeMaps)
	f.Add(gappedMaps("/usr/bin/node", 0, 1, 0x400000, 0x2600000))
	f.Add("400000-ffffffffffffffff r-xp ffffffffffffffff 0:0 1 /usr/bin/node\nb72000-b72001 r-xp 0 0:0 1 /usr/bin/node\n2600000-0 r 0 0 0 x\n")
	f.Fuzz(func(t *testing.T, maps string) {
		d := withEntries(t, dumptest.OSLinux, nodeEntries, maps)
		all := d.ModuleMappings(true)
		n := len(nodeEntries)
		if len(all) < n {
			t.Fatalf("%d mappings", len(all))
		}
		for i, m := range all {
			if m.Module < 0 || m.Module >= n || all[m.Module].Module != m.Module ||
				i < n && (m.Start != nodeEntries[i].base || m.Size > uint64(nodeEntries[i].size)) {
				t.Errorf("%d: %x", i, m)
			}
		}
	})
}

// Maps of a hostile size do not hold anybody up.
func TestModuleMappingsAreBounded(t *testing.T) {
	var entries []entry
	var maps strings.Builder
	for i := range uint64(4000) {
		entries = append(entries, entry{0x10000 * (i + 1), 0x1000, "a", string(rune('a' + i%20))})
	}
	for i := range uint64(100000) {
		fmt.Fprintf(&maps, "%x-%x r-xp %x 0:0 1 a\n", 0x10000+i*0x1000, 0x11000+i*0x1000, 0x100000-i)
	}
	if n := len(withEntries(t, dumptest.OSLinux, entries, maps.String()).ModuleMappings(true)); n < len(entries) {
		t.Errorf("%d mappings", n)
	}
}
