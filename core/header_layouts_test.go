package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// headerField is a field of a structure in a header: how many bytes each of its elements has, and
// what the layout calls these, in order. "x0-28" are x0 to x28. A name that begins with _ is one of
// padding or of what the format reserves.
type headerField struct {
	width int
	names string
}

// headers are the context records as the headers declare them: fields in order, each aligned to its
// width (one of 16 bytes, which is a structure of two numbers, to 8), but to no more than pack
// bytes. They are the headers' words and not the layouts', so that a layout which is wrong does not
// agree with them.
var headers = []struct {
	name   string
	arch   *cpu.Arch
	flag   uint32
	pack   int
	fields []headerField
}{
	{"winnt.h CONTEXT of x86, minidump_cpu_x86.h MDRawContextX86", cpu.X86, 0x00010000, 4, slices.Concat([]headerField{
		{4, "context_flags"}, {4, "dr0 dr1 dr2 dr3 dr6 dr7"},
		{4, "fctrl fstat ftag fioff fiseg fooff foseg"}, {10, "st0-7"}, {4, "cr0_npx"}, // its registers are 80 bytes
		{4, "gs fs es ds"}, {4, "edi esi ebx edx ecx eax"}, {4, "ebp eip cs efl esp ss"}},
		fxsave("fx_", 8), []headerField{{1, "_:224"}})}, // the 512 bytes of extended_registers
	{"winnt.h CONTEXT of amd64, minidump_cpu_amd64.h MDRawContextAMD64", cpu.AMD64, 0x00100000, 8, slices.Concat([]headerField{
		{8, "p1_home p2_home p3_home p4_home p5_home p6_home"}, {4, "context_flags mx_csr"}, {2, "cs ds es fs gs ss"}, {4, "eflags"},
		{8, "dr0 dr1 dr2 dr3 dr6 dr7"}, {8, "rax rcx rdx rbx rsp rbp rsi rdi r8-15 rip"}},
		fxsave("", 16), []headerField{{1, "_:96"}, {16, "v0-25"}, {8, "vector_control"},
			{8, "debug_control last_branch_to_rip last_branch_from_rip last_exception_to_rip last_exception_from_rip"}})},
	{"minidump_cpu_arm.h MDRawContextARM", cpu.ARM, 0x40000000, 8, []headerField{
		{4, "context_flags"}, {4, "r0-10 fp r12 sp lr pc"}, {4, "cpsr"}, {8, "fpscr"}, {8, "d0-31"}, {4, "fpextra0-7"}}},
	{"winnt.h CONTEXT of arm", cpu.ARM, 0x00200000, 8, []headerField{
		{4, "context_flags"}, {4, "r0-10 fp r12 sp lr pc"}, {4, "cpsr fpscr _"}, {8, "d0-31"}, {4, "bvr0-7"}, {4, "bcr0-7"}, {4, "wvr0 wcr0"}, {4, "_ _"}}},
	{"winnt.h ARM64_NT_CONTEXT, minidump_cpu_arm64.h MDRawContextARM64", cpu.ARM64, 0x00400000, 8, []headerField{
		{4, "context_flags cpsr"}, {8, "x0-28 fp lr sp pc"}, {16, "v0-31"}, {4, "fpcr fpsr"}, {4, "bcr0-7"}, {8, "bvr0-7"}, {4, "wcr0-1"}, {8, "wvr0-1"}}},
	{"minidump_cpu_arm64.h MDRawContextARM64_Old", cpu.ARM64, 0x80000000, 4, []headerField{
		{8, "context_flags"}, {8, "x0-28 fp lr sp pc"}, {4, "cpsr"}, {4, "fpsr fpcr"}, {16, "v0-31"}}},
	{"minidump_cpu_mips.h MDRawContextMIPS", cpu.MIPS, 0x00040000, 8, mipsFields},
	{"minidump_cpu_mips.h MDRawContextMIPS, of 64 bits", cpu.MIPS64, 0x00080000, 8, mipsFields},
	{"minidump_cpu_ppc.h MDRawContextPPC", cpu.PPC, 0x20000000, 4, slices.Concat([]headerField{
		{4, "context_flags srr0 srr1"}, {4, "r0-31"}, {4, "cr xer lr ctr mq vrsave"}}, ppcFields)},
	{"minidump_cpu_ppc64.h MDRawContextPPC64", cpu.PPC64, 0x01000000, 8, slices.Concat([]headerField{
		{8, "context_flags srr0 srr1"}, {8, "r0-31"}, {8, "cr xer lr ctr vrsave"}}, ppcFields)},
	{"minidump_cpu_sparc.h MDRawContextSPARC", cpu.SPARC, 0x10000000, 8, []headerField{
		{4, "context_flags _"}, {8, "g0-7 o0-5 sp o7 l0-7 i0-5 fp i7"}, {8, "ccr pc npc y asi fprs"},
		{8, "d0 d2 d4 d6 d8 d10 d12 d14 d16 d18 d20 d22 d24 d26 d28 d30"}, {8, "d32 d34 d36 d38 d40 d42 d44 d46 d48 d50 d52 d54 d56 d58 d60 d62"},
		{8, "_ fsr"}}},
	{"minidump_cpu_loongarch64.h MDRawContextLOONGARCH64", cpu.LoongArch64, 0x00800000, 8, slices.Concat(loongArchFields, []headerField{{8, "fcc"}, {4, "fcsr"}})},
	{"minidump_cpu_loongarch64.h of the first patch MDRawContextLOONGARCH64", cpu.LoongArch64, 0x00800000, 8, loongArchFields},
	{"minidump_cpu_riscv.h MDRawContextRISCV", cpu.RISCV, 0x00800000, 8, riscvFields(true, 4, 4)},
	{"minidump_cpu_riscv.h MDRawContextRISCV64", cpu.RISCV64, 0x08000000, 8, riscvFields(true, 8, 8)},
	{"minidump_cpu_riscv.h of 2022 MDRawContextRISCV, flen 32", cpu.RISCV, 0x00800000, 8, riscvFields(false, 4, 4)},
	{"minidump_cpu_riscv.h of 2022 MDRawContextRISCV, flen 64", cpu.RISCV, 0x00800000, 8, riscvFields(false, 4, 8)},
	{"minidump_cpu_riscv.h of 2022 MDRawContextRISCV, flen 128", cpu.RISCV, 0x00800000, 8, riscvFields(false, 4, 16)},
	{"minidump_cpu_riscv.h of 2022 MDRawContextRISCV64, flen 32", cpu.RISCV64, 0x08000000, 8, riscvFields(false, 8, 4)},
	{"minidump_cpu_riscv.h of 2022 MDRawContextRISCV64, flen 128", cpu.RISCV64, 0x08000000, 8, riscvFields(false, 8, 16)},
}

var mipsFields = []headerField{
	{4, "context_flags _"}, {8, "zero at v0-1 a0-3 t0-7 s0-7 t8-9 k0-1 gp sp fp ra"}, {8, "mdhi mdlo"}, {4, "hi0-2"}, {4, "lo0-2"}, {4, "dsp_control _"},
	{8, "pc badvaddr"}, {4, "status cause"}, {8, "f0-31"}, {4, "fpcsr fir"}}

var loongArchFields = []headerField{
	{4, "context_flags _"}, {8, "zero ra tp sp a0-7 t0-8 x fp s0-8"}, {8, "pc"}, {8, "f0-31"}}

var ppcFields = []headerField{{8, "f0-31"}, {4, "_ fpscr"}, {16, "v0-31"}, {16, "vscr"}, {4, "_ _ _ _"}, {4, "vrvalid"}, {4, "_ _ _ _ _ _ _"}}

// fxsave is XMM_SAVE_AREA32, the FXSAVE area, up to its last xmm register. Of the 16 bytes of an
// x87 register, 10 are used.
func fxsave(prefix string, xmm int) []headerField {
	p := func(names string) string { return prefix + strings.ReplaceAll(names, " ", " "+prefix) }
	f := []headerField{{2, p("fctrl fstat")}, {1, p("ftag") + " _"}, {2, p("fop")}, {4, p("fioff")}, {2, p("fiseg") + " _"},
		{4, p("fooff")}, {2, p("foseg") + " _"}, {4, "mxcsr mxcsr_mask"}}
	for i := range 8 {
		f = append(f, headerField{10, fmt.Sprintf("%sst%d", prefix, i)}, headerField{1, "_:6"})
	}
	return append(f, headerField{16, fmt.Sprintf("xmm0-%d", xmm-1)})
}

func riscvFields(version bool, word, fpr int) []headerField {
	f := []headerField{{4, "context_flags"}}
	if version {
		f = append(f, headerField{4, "_"})
	}
	return append(f, headerField{word, "pc ra sp gp tp t0-2 s0-1 a0-7 s2-11 t3-6"}, headerField{fpr, "f0-31"}, headerField{4, "fcsr"})
}

// TestLayoutsAreTheHeaders: each field of the headers' records is read where C puts it, as wide as
// it is, and nothing else is read; the record has the header's size and flag.
func TestLayoutsAreTheHeaders(t *testing.T) {
	seen := map[*cpu.ContextLayout]bool{}
	for _, h := range headers {
		want, size := placed(h.fields, h.pack)
		at := slices.IndexFunc(contexts(), func(l *cpu.ContextLayout) bool { return l.Arch == h.arch && l.Flag == h.flag && l.Size == size })
		if at < 0 {
			t.Errorf("%s: no layout of %d bytes with flag %#x", h.name, size, h.flag)
			continue
		}
		l := contexts()[at]
		seen[l] = true
		got := sortedFields(l)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: the layout reads %v, the header has %v", h.name, got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
				break
			}
		}
	}
	for _, l := range contexts() {
		if l.Short { // the beginning of a record that a header has
			whole := l.Arch.Contexts[slices.IndexFunc(l.Arch.Contexts, func(w *cpu.ContextLayout) bool { return !w.Short && w.Flag == l.Flag })]
			got := sortedFields(l)
			if whole.Size <= l.Size || !slices.Equal(got, sortedFields(whole)[:len(got)]) {
				t.Errorf("%s of %d bytes is not how one of %d begins", l.What, l.Size, whole.Size)
			}
		} else if !seen[l] {
			t.Errorf("%s with flag %#x and %d bytes is in no header", l.What, l.Flag, l.Size)
		}
	}
}

// sortedFields are the fields that a layout reads, in the order of the record, without the numbers
// of their registers.
func sortedFields(l *cpu.ContextLayout) []cpu.Field {
	f := []cpu.Field{{Name: "context_flags", Off: l.FlagsAt, Size: l.FlagsSize()}}
	for _, field := range l.Fields() {
		if field.Name != "_" {
			f = append(f, field)
		}
	}
	for i := range f {
		f[i].Reg = 0
	}
	slices.SortFunc(f, func(a, b cpu.Field) int { return a.Off - b.Off })
	return f
}

// placed puts fields where a C compiler does, and says how long the record is up to its last field.
func placed(fields []headerField, pack int) (out []cpu.Field, size int) {
	for _, f := range fields {
		for _, name := range strings.Fields(f.names) {
			first, last, n := 0, 0, 1
			base, count, many := strings.Cut(name, ":")
			if many { // an array that is of no interest
				fmt.Sscan(count, &n)
			} else if at := strings.IndexByte(name, '-'); at >= 0 {
				digits := strings.LastIndexFunc(name[:at], func(r rune) bool { return r < '0' || r > '9' }) + 1
				base = name[:digits]
				fmt.Sscan(name[digits:at], &first)
				fmt.Sscan(name[at+1:], &last)
				n = last - first + 1
			}
			for i := range n {
				align := min(f.width, pack, 8)
				if f.width == 10 { // an x87 register is an array of bytes
					align = 1
				}
				size = (size + align - 1) / align * align
				one := base
				if n > 1 && !many {
					one = fmt.Sprintf("%s%d", base, first+i)
				}
				if !strings.HasPrefix(base, "_") {
					out = append(out, cpu.Field{Name: one, Off: size, Size: f.width})
				}
				size += f.width
			}
		}
	}
	return out, size
}
