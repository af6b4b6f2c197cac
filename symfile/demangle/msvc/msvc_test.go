package msvc

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/crashpane/crashpane/symfile/demangle"
)

// names are decorated names by the part of the grammar that they test, with the complete form, if
// it is checked, and the short one.
var names = []struct{ about, raw, full, short string }{
	{"function", "?foo@Bar@@QEAAXH@Z", "public: void __cdecl Bar::foo(int)", "Bar::foo(int)"},
	{"function without parameters", "?f@@YAXXZ", "void __cdecl f(void)", "f()"},
	{"function with any parameters", "?x@@YAXMHZZ", "void __cdecl x(float, int, ...)", "x(float, int, ...)"},
	{"static", "?g@Foo@@SGHXZ", "public: static int __stdcall Foo::g(void)", "Foo::g()"},
	{"virtual, protected", "?g@Foo@@MBEHXZ", "protected: virtual int __thiscall Foo::g(void) const", "Foo::g() const"},
	{"far functions", "?f@@ZAXXZ", "void __cdecl f(void)", "f()"},
	{"references to this", "?h@D@@QEGBAXH@Z", "public: void __cdecl D::h(int) const &", "D::h(int) const &"},
	{"const in a pointer's place", "?f@@YAXQAHPBHRCHSDH@Z",
		"void __cdecl f(int *const, int const *, int volatile *volatile, int const volatile *const volatile)",
		"f(int *const, int const *, int volatile *volatile, int const volatile *const volatile)"},
	{"noexcept of a pointer", "?f@@YAXP6AXX_E@Z", "void __cdecl f(void (__cdecl *)(void) noexcept)", "f(void (*)() noexcept)"},
	{"all types", "?f@@YAXCDEFGHIJKMNO_J_K_N_Q_S_U_W$$T@Z",
		"void __cdecl f(signed char, char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long, float, double, " +
			"long double, __int64, unsigned __int64, bool, char8_t, char16_t, char32_t, wchar_t, std::nullptr_t)",
		"f(signed char, char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned long, float, double, " +
			"long double, __int64, unsigned __int64, bool, char8_t, char16_t, char32_t, wchar_t, std::nullptr_t)"},
	{"integers of 128 bits", "?f@@YAX_L_M@Z", "void __cdecl f(__int128, unsigned __int128)", "f(__int128, unsigned __int128)"},
	{"tags", "?gamma@@YAXVfoo@@Ubar@@Tbaz@@W4quux@@@Z", "void __cdecl gamma(class foo, struct bar, union baz, enum quux)",
		"gamma(foo, bar, baz, quux)"},
	{"enum of char", "?f@@YAXW0E@@@Z", "void __cdecl f(enum E)", "f(E)"},
	{"auto", "?f@@YA?A_PXZ", "auto __cdecl f(void)", "f()"},
	{"a type with a name only", "?f@@YA?A?<auto>@@XZ", "<auto> __cdecl f(void)", "f()"},

	{"variable", "?x@ns@@3HA", "int ns::x", "ns::x"},
	{"member", "?d@foo@@0FB", "private: static short const foo::d", "foo::d"},
	{"pointer", "?x@@3PEBHEB", "int const *x", "x"},
	{"array", "?foo@@3Y123KA", "unsigned long foo[3][4]", "foo"},
	{"pointer to array", "?x@@3PEAY02$$CBHEA", "int const (*x)[3]", "x"},
	{"type that ends in no letter", "?x@@3Vfoo_@@A", "class foo_ x", "x"},
	{"pointer to such a type", "?f@@YAXPAUHINSTANCE__@@@Z", "void __cdecl f(struct HINSTANCE__*)", "f(HINSTANCE__ *)"},
	{"function pointer", "?x@@3P6AHP6AHM@Z0@ZEA", "int (__cdecl *x)(int (__cdecl *)(float), int (__cdecl *)(float))", "x"},
	{"function that returns one", "?f@@YAP6AHM@ZXZ", "int (__cdecl * __cdecl f(void))(float)", "f()"},
	{"member pointer", "?m@@3PTB@@HES1@", "", "m"},
	{"pointer to data member", "?x@@3PEQB@@HEQ1@", "int B::*x", "x"},
	{"pointer to member function", "?x@@3P8B@@EAAHH@ZEQ1@", "int (__cdecl B::*x)(int)", "x"},
	{"rvalue reference", "?f@@YAX$$QEAVS@@@Z", "void __cdecl f(class S &&)", "f(S &&)"},
	{"restrict and unaligned", "?f@@YAXPEIAHPEFAH@Z", "void __cdecl f(int *__restrict, int __unaligned *)",
		"f(int *__restrict, int __unaligned *)"},

	{"names again", "?f@N@@YAXVA@1@V21@0@Z", "void __cdecl N::f(class N::A, class N::A, class N::A)", "N::f(N::A, N::A, N::A)"},
	{"types again", "?f@@YAXPAHPBH010@Z", "void __cdecl f(int *, int const *, int *, int const *, int *)",
		"f(int *, int const *, int *, int const *, int *)"},
	{"a template's name in its own brackets", "?f@@YAXV?$A@U0n@@@@@Z", "void __cdecl f(class A<struct n::A>)", "f(A<n::A>)"},
	{"brackets count for themselves", "?f@x@@YAXV?$B@Vy@@V1@@@Vy@@@Z",
		"void __cdecl x::f(class B<class y, class y>, class y)", "x::f(B<y, y>, y)"},

	{"template", "??$f@H$0BAA@$$V@@YAXXZ", "void __cdecl f<int, 256>(void)", "f<int, 256>()"},
	{"numbers", "??0?$I@$0?0$0A@$09$0PPPPPPPP@@@QEAA@XZ",
		"public: __cdecl I<-1, 0, 10, 4294967295>::I<-1, 0, 10, 4294967295>(void)", "I<-1, 0, 10, 4294967295>::I<-1, 0, 10, 4294967295>()"},
	{"functions and variables", "??$f@$1?g@@YAXH@Z$1?x@@3HA$E?y@@3HA@@YAXXZ", "void __cdecl f<&void __cdecl g(int), &int x, int y>(void)",
		"f<&g(int), &x, y>()"},
	{"member pointers", "??$f@$H?m@C@@QAEXXZ3$I?m@C@@QAEXXZ34$J?m@C@@QAEXXZ345$F34$G345@@YAXXZ",
		"void __cdecl f<{public: void __thiscall C::m(void), 4}, {public: void __thiscall C::m(void), 4, 5}, " +
			"{public: void __thiscall C::m(void), 4, 5, 6}, {4, 5}, {4, 5, 6}>(void)",
		"f<{C::m(), 4}, {C::m(), 4, 5}, {C::m(), 4, 5, 6}, {4, 5}, {4, 5, 6}>()"},
	{"functions are no names for digits", "?f@?$X@$1??$gt@US@@@@YAXUS@@@ZUA@@PEAU2@UB@@PEAU3@@@SAXXZ",
		"", "X<&gt<S>(S), A, A *, B, B *>::f()"},
	{"packs", "??$f@$$V$$ZH$S@@YAXXZ", "void __cdecl f<int>(void)", "f<int>()"},
	{"deduced values", "?f@?$au@$MH00$MPEAH1?x@@3HA@@SAXXZ", "public: static void __cdecl au<1, &int x>::f(void)", "au<1, &x>::f()"},
	{"function types", "??$f@$$A6AHH@Z$$A8@@BAHXZ@@YAXXZ", "void __cdecl f<int __cdecl(int), int __cdecl(void) const>(void)",
		"f<int (int), int () const>()"},
	{"arrays and const", "??$f@$$BY04$$CBH$$CBVS@@@@YAXXZ", "void __cdecl f<int const[5], class S const>(void)", "f<int const[5], S const>()"},
	{"aliases", "??$f@$$YAlias@n@@@@YAXXZ", "void __cdecl f<n::Alias>(void)", "f<n::Alias>()"},
	{"class values", "??$f@$2UCN@@H0?0MAEACAAAAA@@@@YAXXZ", "void __cdecl f<struct CN{-1, 2.5}>(void)", "f<CN{-1, 2.5}>()"},
	{"numbers with a point", "??$f@$BDPPIAAAAAAAAAAAA@@@YAXXZ", "void __cdecl f<1.5>(void)", "f<1.5>()"},
	{"addresses in class values", "??$f@$2UCP@@PEBH0A@PEQD@@H82@data@@3H00@01@@@@@YAXXZ",
		"void __cdecl f<struct CP{0, &D::data, int{1, 2}}>(void)", "f<CP{0, &D::data, int{1, 2}}>()"},

	{"constructor", "??0Bar@Foo@@QEAA@XZ", "public: __cdecl Foo::Bar::Bar(void)", "Foo::Bar::Bar()"},
	{"destructor", "??1?$A@H@@UEAA@XZ", "public: virtual __cdecl A<int>::~A<int>(void)", "A<int>::~A<int>()"},
	{"constructor that is a template", "??$?0H@Foo@@QEAA@H@Z", "public: __cdecl Foo::Foo<int>(int)", "Foo::Foo<int>(int)"},
	{"operator", "??4klass@@QEAAAEBV0@AEBV0@@Z", "public: class klass const & __cdecl klass::operator=(class klass const &)",
		"klass::operator=(klass const &)"},
	{"operator of templates", "??$?6U?$char_traits@D@std@@@std@@YAXPBD@Z",
		"void __cdecl std::operator<<<struct std::char_traits<char>>(char const *)", "std::operator<<<std::char_traits<char>>(char const *)"},
	{"new operators", "??__MS@@QEAAHXZ", "public: int __cdecl S::operator<=>(void)", "S::operator<=>()"},
	{"conversion", "??BFoo@@QEBAHXZ", "public: int __cdecl Foo::operator int(void) const", "Foo::operator int() const"},
	{"literal operator", "??__K_lit@@YAHPEBD@Z", "int __cdecl operator \"\"_lit(char const *)", "operator \"\"_lit(char const *)"},
	{"deleting destructor", "??_GBase@@UEAAPEAXI@Z", "public: virtual void * __cdecl Base::`scalar deleting dtor'(unsigned int)",
		"Base::`scalar deleting dtor'(unsigned int)"},

	{"vftable", "??_7D@@6BB@@C@@@", "const D::`vftable'{for `B's `C'}", "D::`vftable'{for `B's `C'}"},
	{"vbtable", "??_8D@@7B@", "const D::`vbtable'", "D::`vbtable'"},
	{"vcall", "??_9B@@$BA@AE", "[thunk]: __thiscall B::`vcall'{0, {flat}}", "[thunk]: B::`vcall'{0, {flat}}"},
	{"adjustor", "?f@C@@WBA@EAAHXZ", "[thunk]: public: virtual int __cdecl C::f`adjustor{16}'(void)", "[thunk]: C::f`adjustor{16}'()"},
	{"private adjustor", "?f@C@@GBA@EAAHXZ", "[thunk]: private: virtual int __cdecl C::f`adjustor{16}'(void)", "[thunk]: C::f`adjustor{16}'()"},
	{"vtordisp", "?f@C@@$4PPPPPPPM@A@EAAHXZ", "[thunk]: public: virtual int __cdecl C::f`vtordisp{-4, 0}'(void)",
		"[thunk]: C::f`vtordisp{-4, 0}'()"},
	{"vtordispex", "?f@A@@$R477PPPPPPPM@7AEXXZ", "[thunk]: public: virtual void __thiscall A::f`vtordispex{8, 8, -4, 8}'(void)",
		"[thunk]: A::f`vtordispex{8, 8, -4, 8}'()"},
	{"type descriptor", "??_R0?AVB@@@8", "class B `RTTI Type Descriptor'", "B `RTTI Type Descriptor'"},
	{"base class descriptor", "??_R1A@?0A@EA@B@@8", "B::`RTTI Base Class Descriptor at (0, -1, 0, 64)'",
		"B::`RTTI Base Class Descriptor at (0, -1, 0, 64)'"},
	{"base class array", "??_R2B@@8", "B::`RTTI Base Class Array'", "B::`RTTI Base Class Array'"},
	{"class hierarchy", "??_R3B@@8", "B::`RTTI Class Hierarchy Descriptor'", "B::`RTTI Class Hierarchy Descriptor'"},
	{"complete object", "??_R4B@@6B@", "const B::`RTTI Complete Object Locator'", "B::`RTTI Complete Object Locator'"},
	{"type name", ".?AVB@@", "class B `RTTI Type Descriptor Name'", ".?AVB@@"},
	{"static guard", "??_B?1??f@@YAXXZ@51", "`void __cdecl f(void)'::`2'::`local static guard'{2}", "`f()'::`2'::`local static guard'{2}"},
	{"thread guard", "??__J?1??f@@YAXXZ@51", "`void __cdecl f(void)'::`2'::`local static thread guard'{2}",
		"`f()'::`2'::`local static thread guard'{2}"},
	{"initializer", "??__E?x@C@@2HA@@YAXXZ", "void __cdecl `dynamic initializer for `public: static int C::x''(void)",
		"`dynamic initializer for `C::x''()"},
	{"initializer by name", "??__Ex@@YAXXZ", "void __cdecl `dynamic initializer for 'x''(void)", "`dynamic initializer for 'x''()"},
	{"destructor at exit", "??__Fx@?1??f@@YAXXZ@YAXXZ", "void __cdecl `dynamic atexit destructor for '`void __cdecl f(void)'::`2'::x''(void)",
		"`dynamic atexit destructor for '`f()'::`2'::x''()"},
	{"string", "??_C@_0N@NFMBPMKA@Invalid?5pid?4?$AA@", `"Invalid pid."`, `"Invalid pid."`},
	{"wide string", "??_C@_15IJBHMCFL@?$AAa?$AAb?$AA?$AA@", `L"ab"`, `L"ab"`},
	{"string of other characters", "??_C@_05KIIPHCHM@a?$AAb?$AA?$AA?$AA@", `u"ab"`, `u"ab"`},
	{"string that was cut", "??_C@_0CF@LABBIIMO@012345678901234567890123456789AB@", `"012345678901234567890123456789AB"...`,
		`"012345678901234567890123456789AB"...`},
	{"hash of a name", "??@a6a285da2eea70dba6b578022be61d81@", "??@a6a285da2eea70dba6b578022be61d81@", "??@a6a285da2eea70dba6b578022be61d81@"},
	{"object of a template argument", "??__N2US@@H00@@", "template parameter object for struct S{1}", "template parameter object for S{1}"},

	{"local scope", "?x@?BA@??f@C@@QEAAXXZ@4HA", "int `public: void __cdecl C::f(void)'::`16'::x", "`C::f()'::`16'::x"},
	{"scope of extern C", "?x@?1??f@@9@4HA", "int `extern \"C\" f'::`2'::x", "`f'::`2'::x"},
	{"lambda", "??R<lambda_1f2e>@?0??f@@YAXXZ@QEBA@H@Z", "public: __cdecl `void __cdecl f(void)'::`1'::<lambda_1f2e>::operator()(int) const",
		"`f()'::`1'::<lambda_1f2e>::operator()(int) const"},
	{"anonymous namespace", "?f@?A0x1a2b3c4d@@YAXXZ", "void __cdecl `anonymous namespace'::f(void)", "`anonymous namespace'::f()"},
	{"digits for it, by Microsoft", "?f@?A0x1a2b3c4d@@YAXUS@1@U21@@Z",
		"void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S, struct `anonymous namespace'::S)",
		"`anonymous namespace'::f(`anonymous namespace'::S, `anonymous namespace'::S)"},
	{"none, by Clang", "?f@?A0x810DDB78@@YAXUS@?A0x810DDB78@@PEAU1?A0x810DDB78@@@Z",
		"void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S, struct `anonymous namespace'::S *)",
		"`anonymous namespace'::f(`anonymous namespace'::S, `anonymous namespace'::S *)"},
	{"none, by Clang, of digits", "?f@?A0x81011178@@YAXUS@?A0x81011178@@PEAU1?A0x81011178@@@Z", "",
		"`anonymous namespace'::f(`anonymous namespace'::S, `anonymous namespace'::S *)"},
	{"funclet", "?catch$6@?0??eh@@YAXXZ@4HA", "int `void __cdecl eh(void)'::`1'::catch$6", "`eh()'::`1'::catch$6"},
	{"Clang's funclet", "?fin$0@0@m@SEH@@", "SEH::m::fin$0", "SEH::m::fin$0"},

	{"conventions", "?f@@YQXXZ", "void __vectorcall f(void)", "f()"},
	{"Swift's", "?f@@YSXXZ", "void __attribute__((__swiftcall__)) f(void)", "f()"},
	{"regcall", "?f@@YwXXZ", "void __regcall f(void)", "f()"},
	{"ARM64EC", "?eh@@$$hYAXXZ", "void __cdecl eh(void)", "eh()"},
	{"managed code", "?f@@$$FYAXXZ", "void __cdecl f(void)", "f()"},
	{"extern C", "?f@@$$J0YAXXZ", `extern "C" void __cdecl f(void)`, "f()"},
	{"handles", "??0COMException@Platform@@QE$AAA@HPE$AAVString@1@@Z",
		"public: __cdecl Platform::COMException::COMException(int, class Platform::String ^)",
		"Platform::COMException::COMException(int, Platform::String ^)"},
	{"managed arrays", "?main@@YAHP$01AP$AAVString@System@@@Z", "int __cdecl main(cli::array<class System::String ^> ^)",
		"main(cli::array<System::String ^> ^)"},
	{"blocks", "?takes@@YAXP_EAXH@Z@Z", "void __cdecl takes(void (__cdecl ^)(int))", "takes(void (^)(int))"},
	{"this as a parameter", "?f@S@@SAX_VU1@H@Z", "public: static void __cdecl S::f(this struct S, int)", "S::f(this S, int)"},
	{"pointer authentication", "?p@@3PEA__ptrauth0A@0BAA@HEA", "", "p"},

	{"suffix", "?f@@YAXXZ.cold", "void __cdecl f(void)", "f() [clone .cold]"},
	{"module", "?f@@YAXXZ::<!M>", "void __cdecl f(void)", "f()::<!M>"},
	{"a type that is not understood", "?f@C@@QEAAX#@Z", "", "C::f"},
	{"a name that is not one", "?f", "", "?f"},
	{"not one either", "?", "", "?"},
	{"nothing", "", "", ""},
	{"import", "__imp_?f@@YAXXZ", "", "__declspec(dllimport) f()"},
	{"import of C", "__imp_CloseHandle", "", "__declspec(dllimport) CloseHandle"},
	{"stdcall", "_DllMain@12", "", "DllMain"},
	{"fastcall", "@f@8", "", "f"},
	{"vectorcall", "f@@16", "", "f"},
	{"cdecl", "_main", "", "_main"},
	{"no C", "memcpy@GLIBC_2.14", "", "memcpy@GLIBC_2.14"},
	{"no C either", "f@16", "", "f@16"},
	{"code of a block", "___?blk@@YAXXZ_block_invoke_2", "", "invocation function for block in blk()"},
	{"code of a variable's block", "?gb@@3P_EAXH@ZA_block_invoke", "void (__cdecl ^gb)(int)", "invocation function for block in gb"},
	{"Itanium", "_ZN3Foo3barEi", "", "Foo::bar(int)"},
	{"Rust", "_ZN4core3fmt5write17h0123456789abcdefE", "", "core::fmt::write"},
	{"what needs nothing", "core::fmt::write", "", "core::fmt::write"},
	{"Clang's own", "__clang_call_terminate", "", "__clang_call_terminate"},
	{"Objective-C", "-[NSView drawRect:]", "", "-[NSView drawRect:]"},
}

func TestNames(t *testing.T) {
	for _, n := range names {
		if full, ok := Full(n.raw); n.full != "" && (!ok || full != n.full) {
			t.Errorf("%s: %s:\nhave %s\nwant %s", n.about, n.raw, full, n.full)
		}
		if short := Name(n.raw); short != n.short {
			t.Errorf("%s: %s, short:\nhave %s\nwant %s", n.about, n.raw, short, n.short)
		}
	}
}

// TestTruncated: a truncated name does not panic and gives a result.
func TestTruncated(t *testing.T) {
	for _, n := range names {
		for end := range n.raw {
			part := n.raw[:end]
			Full(part)
			if have := Name(part); have == "" && part != "" {
				t.Errorf("%s: nothing is shown", part)
			}
		}
	}
}

// hostile are names that are long, deep, or whose readable form is many times as long.
func hostile() map[string]string {
	double := "U?$A@Ux@@@@"
	for range 60 {
		double = "U?$A@" + double + "2@@" // not more than syntax: digits may refer to nothing
	}
	params := "?f@@YAXP6AXPAH0@Z"
	for i := range 8 {
		d := string(rune('1' + i))
		params += "P6AX" + strings.Repeat(d, 40) + "@Z"
	}
	nested := "P6AXPAH@Z"
	for range 9 {
		nested = "P6AX" + nested + "000@Z"
	}
	return map[string]string{
		"pointers":         "?x@@3" + strings.Repeat("PA", 4000) + "HA",
		"arrays":           "?x@@3" + strings.Repeat("PAY0A@", 1300) + "HA",
		"templates":        "?x@@3" + strings.Repeat("U?$A@", 1200) + "H" + strings.Repeat("@@@@", 400) + "A",
		"scopes":           strings.Repeat("?a@?1?", 1300) + "?f@@YAXXZ",
		"namespaces":       "?f@" + strings.Repeat("n@", 4000) + "@YAXXZ",
		"function types":   "?f@@YAX" + strings.Repeat("P6AX", 1600) + "X" + strings.Repeat("Z", 1600) + "@Z",
		"member functions": "?f@@YAX" + strings.Repeat("P8A@@AEX", 1000),
		"symbols":          "?f@?$A@" + strings.Repeat("$1?f@?$A@", 900),
		"values":           "??$f@$" + strings.Repeat("2UA@@", 1600) + "@@YAXXZ",
		"digits":           params + "@Z",
		"digits of types":  "?f@@YAX" + nested + "@Z",
		"digits of names":  "?f@@YAX" + double + "@Z",
		"own name":         "?f@@YAXV?$A@" + strings.Repeat("U0@", 2500) + "@@@Z",
		"dimensions":       "?x@@3Y" + "PPPP@" + strings.Repeat("0", 8000),
		"string":           "??_C@_0PPPP@ABCDEFGH@" + strings.Repeat("?$AA", 2000) + "@",
		"wide string":      "??_C@_1PPPPP@ABCDEFGH@" + strings.Repeat("?$AAa", 1600) + "@",
		"numbers":          "??$f@$0" + strings.Repeat("P", 8000) + "@@@YAXXZ",
		"questions":        "?f@" + strings.Repeat("?", 8000),
		"anonymous":        "?f@" + strings.Repeat("?A0xAB@", 1100) + "@YAXXZ",
		"longer":           "?f@@YAX" + strings.Repeat("PAH", 1<<20) + "@Z",
		"imports":          strings.Repeat("__imp_", 1<<16),
		"imports of names": strings.Repeat("__imp_", 1000) + "?f@@YAXXZ",
		"blocks":           strings.Repeat("__", 4000) + "?f@@YAXXZ_block_invoke",
		"suffix":           "?f@@YAXXZ" + strings.Repeat("x", 5000),
		"characters":       "?" + strings.Repeat("字", 2600) + "@@YAXXZ",
		"not UTF-8":        "?" + strings.Repeat("\x80", 8000) + "@@YAXXZ",
	}
}

// TestBounds: the result and the time are limited for every name.
func TestBounds(t *testing.T) {
	for about, raw := range hostile() {
		full, _ := Full(raw)
		if len(full) > maxOut {
			t.Errorf("%s: %d bytes", about, len(full))
		}
		short := Name(raw)
		if len(short) > demangle.MaxLen {
			t.Errorf("%s, short: %d bytes", about, len(short))
		}
		if utf8.ValidString(raw) && !utf8.ValidString(short) {
			t.Errorf("%s: cut inside a character", about)
		}
	}
}

// TestExponential: the printer stops at the limit, instead of cutting an exponential result
// afterwards.
func TestExponential(t *testing.T) {
	var b strings.Builder
	b.WriteString("?f@@YAXPAH")
	for i := range 9 {
		b.WriteString("P6AX" + strings.Repeat(string(rune('0'+i)), 100) + "@Z")
	}
	b.WriteString("@Z")
	// All of it would be 100 to the power of 9 times "int *".
	full, ok := Full(b.String())
	if !ok || len(full) < maxOut/2 || len(full) > maxOut || !strings.HasSuffix(full, cutMark) {
		t.Errorf("%d bytes, %v", len(full), ok)
	}
}

func FuzzName(f *testing.F) {
	for _, n := range names {
		f.Add(n.raw)
	}
	for _, raw := range hostile() {
		if len(raw) < 1000 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if full, ok := Full(raw); len(full) > maxOut || ok && full == "" {
			t.Errorf("%d bytes from %d", len(full), len(raw))
		}
		if short := Name(raw); len(short) > demangle.MaxLen || short == "" && raw != "" {
			t.Errorf("%d bytes from %d, short", len(short), len(raw))
		}
	})
}

func BenchmarkName(b *testing.B) {
	for about, raw := range map[string]string{
		"function":  "?foo@Bar@@QEAAXH@Z",
		"templates": "?_Init@?$basic_filebuf@DU?$char_traits@D@std@@@std@@IEAAXPEAU_iobuf@@W4_Initfl@12@@Z",
	} {
		b.Run(about, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Name(raw)
			}
		})
	}
}
