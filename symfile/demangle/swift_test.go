package demangle

import (
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// swiftNames are names that a compiler would write for declarations of a module "app".
var swiftNames = [][2]string{
	{"$s3app3runyyF", "app.run() -> ()"},
	{"_$s3app3runyyF", "app.run() -> ()"},
	{"$S3app3runyyF", "app.run() -> ()"},
	{"_T03app3runyyF", "app.run() -> ()"},
	{"$s3app3addyS2i_SitF", "app.add(Swift.Int, Swift.Int) -> Swift.Int"},
	{"$s3app4load4from5limitySS_SiSgtYaKF", "app.load(from: Swift.String, limit: Swift.Int?) async throws -> ()"},
	{"$s3app5StoreC3get3keySSSgSS_tF", "app.Store.get(key: Swift.String) -> Swift.String?"},
	{"$s3app5StoreC5countSivg", "app.Store.count.getter : Swift.Int"},
	{"$s3app5StoreC5countSivs", "app.Store.count.setter : Swift.Int"},
	{"$s3app5StoreC5countSivM", "app.Store.count.modify : Swift.Int"},
	{"$s3app5StoreC5countSivr", "app.Store.count.read : Swift.Int"},
	{"$s3app5StoreC5countSivw", "app.Store.count.willset : Swift.Int"},
	{"$s3app5StoreC5countSivW", "app.Store.count.didset : Swift.Int"},
	{"$s3app5StoreC5countSivpfi", "variable initialization expression of app.Store.count : Swift.Int"},
	{"$s3app5StoreC5countSivpfP", "property wrapper backing initializer of app.Store.count : Swift.Int"},
	{"$s3app5StoreC5countSivpWvd", "direct field offset for app.Store.count : Swift.Int"},
	{"$s3app5StoreCySSSicig", "app.Store.subscript.getter : (Swift.Int) -> Swift.String"},
	{"$s3app5StoreCySSSicipMV", "property descriptor for app.Store.subscript(Swift.Int) -> Swift.String"},
	{"$s3app5StoreCACycfC", "app.Store.__allocating_init() -> app.Store"},
	{"$s3app5StoreCACycfc", "app.Store.init() -> app.Store"},
	{"$s3app5StoreCfD", "app.Store.__deallocating_deinit"},
	{"$s3app5StoreCfd", "app.Store.deinit"},
	{"$s3app5StoreC4nameACSS_tcfC", "app.Store.__allocating_init(name: Swift.String) -> app.Store"},
	{"$s3app5PointV1xACSi_tcfC", "app.Point.init(x: Swift.Int) -> app.Point"},
	{"$s3app5StoreC6sharedACvgZ", "static app.Store.shared.getter : app.Store"},
	{"$s3app5StoreC6shared_WZ", "one-time initialization function for shared"},
	{"$s3app5StoreC6sharedACvau", "app.Store.shared.unsafeMutableAddressor : app.Store"},
	{"$s3app3runyyFyycfU_", "closure #1 () -> () in app.run() -> ()"},
	{"$s3app3runyyFySSYbcfU0_", "closure #2 @Sendable (Swift.String) -> () in app.run() -> ()"},
	{"$s3app3runyyFSSycfu_", "implicit closure #1 () -> Swift.String in app.run() -> ()"},
	{"$s3app3runyyFyycfU_TA", "partial apply forwarder for closure #1 () -> () in app.run() -> ()"},
	{"$s3app3runyyFyycfU_TA.4", `partial apply forwarder for closure #1 () -> () in app.run() -> () with unmangled suffix ".4"`},
	{"$s3app3runyyFTm", "merged app.run() -> ()"},
	{"$s3app3runyyFTo", "@objc app.run() -> ()"},
	{"$s3app3runyyYaFTY0_", "(1) suspend resume partial function for app.run() async -> ()"},
	{"$s3app3runyyYaFTQ1_", "(2) await resume partial function for app.run() async -> ()"},
	{"$s3app3runyyYaFTu", "async function pointer to app.run() async -> ()"},
	{"$s3app3sumyS2i_SitFTf4nd_n", "function signature specialization <Arg[1] = Dead> of app.sum(Swift.Int, Swift.Int) -> Swift.Int"},
	{"$s3app3sumyS2i_SitFTf4ndxpi7_n", "function signature specialization <Arg[1] = Dead, Arg[2] = Exploded, Arg[3] = [Constant Propagated Integer : 7]> of app.sum(Swift.Int, Swift.Int) -> Swift.Int"},
	{"$s3app5StoreC1poiyA2C_ACtFZ", "static app.Store.+ infix(app.Store, app.Store) -> app.Store"},
	{"$s3app5PointV2eeoiySbAC_ACtFZ", "static app.Point.== infix(app.Point, app.Point) -> Swift.Bool"},
	{"$s3app5PointVSQAASQ2eeoiySbx_xtFZTW", "protocol witness for static Swift.Equatable.== infix(A, A) -> Swift.Bool in conformance app.Point : Swift.Equatable in app"},
	{"$s3app5PointVSQAAMc", "protocol conformance descriptor for app.Point : Swift.Equatable in app"},
	{"$s3app5PointVSQAAWP", "protocol witness table for app.Point : Swift.Equatable in app"},
	{"$s3app5PointVMa", "type metadata accessor for app.Point"},
	{"$s3app5StoreCMn", "nominal type descriptor for app.Store"},
	{"$s3app5StoreCN", "type metadata for app.Store"},
	{"$s3app5PointVWOe", "outlined consume of app.Point"},
	{"$s3app5PointVSgWOh", "outlined destroy of app.Point?"},
	{"$sSS3appE7shoutedSSyF", "(extension in app):Swift.String.shouted() -> Swift.String"},
	{"$sSa3appSHRzlE6digestSiyF", "(extension in app):Swift.Array<A where A: Swift.Hashable>.digest() -> Swift.Int"},
	{"$sSiIegy_SiIegn_TR", "reabstraction thunk helper from @escaping @callee_guaranteed (@unowned Swift.Int) -> () to @escaping @callee_guaranteed (@in_guaranteed Swift.Int) -> ()"},
	{"$sSo8NSStringC3appE4sizeSivg", "(extension in app):__C.NSString.size.getter : Swift.Int"},
	{"$s3app5OuterV5InnerO4makeAEyFZ", "static app.Outer.Inner.make() -> app.Outer.Inner"},
	{"$s3app3runyyF6HelperL_V4workyyF", "work() -> () in Helper #1 in app.run() -> ()"},
	{"$s3app3runyyyyXEF", "app.run(() -> ()) -> ()"},
	{"$s3app3runyySi_Sit_SSmtF", "app.run((Swift.Int, Swift.Int), Swift.String.Type) -> ()"},
	{"$s3app5ActorC3runyyYaF", "app.Actor.run() async -> ()"},
	{"$s3app1fyyxz_q_ntr0_lF", "app.f<A, B>(inout A, __owned B) -> ()"},
	{"$s3app5StoreCMXX", "anonymous descriptor app.Store"},
	{"$s3app1PP4nameSSvgTj", "dispatch thunk of app.P.name.getter : Swift.String"},
	{"$s3app1PP4nameSSvgTq", "method descriptor for app.P.name.getter : Swift.String"},
	{"$s3app1PPAAE3runyyF", "(extension in app):app.P.run() -> ()"},
	{"$s3app1fyyFfA_", "default argument 0 of app.f() -> ()"},
	{"$s3app1f1aySi_tFfA_", "default argument 0 of app.f(a: Swift.Int) -> ()"},
	{"$s3app5StoreCWV", "value witness table for app.Store"},
	{"$sSi3app1PA2aBP4nameSSvgTW", "protocol witness for app.P.name.getter : Swift.String in conformance Swift.Int : app.P in app"},
	{"$s3app1fQryF", "app.f() -> some"},
	{"$s3app1fQryFQOMQ", "opaque type descriptor for <<opaque return type of app.f() -> some>>"},
	{"$s3app4TreeO4leafyACSicACmFWC", "enum case for app.Tree.leaf(app.Tree.Type) -> (Swift.Int) -> app.Tree"},
	{"$s3app5StoreC5items33_0123456789ABCDEF0123456789ABCDEFLLSaySSGvg", "app.Store.(items in _0123456789ABCDEF0123456789ABCDEF).getter : [Swift.String]"},
	{"$s3app1fyySo6CGRectVF", "app.f(__C.CGRect) -> ()"},
}

// TestSwift: each is as swift-demangle writes it.
func TestSwift(t *testing.T) {
	for _, n := range swiftNames {
		if have := Name(n[0]); have != n[1] {
			t.Errorf("%s: have %q, want %q", n[0], have, n[1])
		}
	}
}

// TestSwiftRefused: what is not understood as a whole stays mangled. So does each name that is cut
// off, unless what is left is a name too.
func TestSwiftRefused(t *testing.T) {
	for _, n := range []string{"$s", "$s3app", "_$S", "$s3appy", "$sSi", "$s3app3runyyFZZ!", "$s9app", "$s3app3runyyF3run", "$s0a", "$sAB_", "$s3app3run0e_yyF",
		"$s\x01\x00\x00\x00\x00Mn", "$s3app1fyyx_q_tF\x00", "$sxRzl", "_T03app", "@__swiftmacro_", "$s99999999999999999999a",
		"$s3app4sortySayxGABSLRzlF",
		"$s3app4sortySayxGABSLRzlFSi_Tg5",
		"$s3app4sortySayxGABSLRzlFSi_Tgq5",
		"$s3app4sortySayxGABSLRzlFSi_Tp5",
		"$s3app7privateyy33_0123456789ABCDEF0123456789ABCDEFLLF",
		"$s3app3runyyyyYbYacF",
		"$s3app3runyySayShySiGGSDySSypGFtF",
		"$s3app5optyyAA5StoreCSgXwF",
		"$s3app1fyyxSH_s5ErrorpF",
		"$s3app003Jrb_gyyF",
		"$s3app1f_1gSi_SitvpZ",
	} {
		if have := Name(n); have != n && strings.Count(have, " ") > 0 {
			t.Errorf("%s: %q", n, have)
		}
	}
	for _, n := range swiftNames {
		for end := range n[0] {
			if have := Name(n[0][:end]); strings.Contains(have, "%!") || strings.ContainsAny(have, "$%") && have != n[0][:end] {
				t.Errorf("%s: %q", n[0][:end], have)
			}
		}
	}
}

// TestSwiftBounds: names that double with every few letters, and deep ones, are refused or cut.
func TestSwiftBounds(t *testing.T) {
	for _, n := range []string{
		"$s3app1fyySi_SitF" + strings.Repeat("AA_AAt", 1000),
		"$sSi" + strings.Repeat("_AAt", 50) + "D",
		"$s" + strings.Repeat("Si_Sit", 1) + strings.Repeat("_A@t", 40) + "D",
		"$s1a" + strings.Repeat("0aaaaaaaaaaaaaaaaA0", 50),
		"$sSi" + strings.Repeat("m", 7000) + "D",
		"$sSi" + strings.Repeat("Sg", 3500) + "D",
		"$s3app1fyyF" + strings.Repeat("yycfU_", 1300),
		"$s" + strings.Repeat("y", 8000),
	} {
		if have := Name(n); len(have) > MaxLen {
			t.Errorf("%s…: %d bytes", n[:20], len(have))
		}
	}
}

// TestSwiftGrowth: a name costs in proportion to its length.
func TestSwiftGrowth(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"nested closures":      func(n int) string { return "$s3app1fyyF" + strings.Repeat("yycfU_", n/6) },
		"many parameters":      func(n int) string { return "$s3app1fyySi" + strings.Repeat("_Si", n/3) + "tF" },
		"many type arguments":  func(n int) string { return "$s3app1SVy" + strings.Repeat("Si", n/2) + "GD" },
		"many requirements":    func(n int) string { return "$s3app1fyyx" + strings.Repeat("SHRz", n/4) + "lF" },
		"many specializations": func(n int) string { return "$s3app1fyyF" + strings.Repeat("Tf4d_n", n/6) },
		"a type many times":    func(n int) string { return "$sS" + strconv.Itoa(2*n) + "iTH" },
		"words":                func(n int) string { return "$s3app8HelloYou" + strings.Repeat("0BB0", n/4) },
	} {
		t.Run(name, func(t *testing.T) {
			testfile.Growth(t, 2000, func(n int) func() {
				name := text(n)
				return func() {
					for range 100 {
						Name(name)
					}
				}
			})
		})
	}
}
