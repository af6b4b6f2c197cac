package signature

import "testing"

// TestSwiftWords: the function of a Swift name, not the type of its result.
func TestSwiftWords(t *testing.T) {
	for name, want := range map[string]string{
		"app.Store.get(key: Swift.String) -> Swift.String?":                             "app.Store.get",
		"app.load(from: Swift.String, limit: Swift.Int?) async throws -> ()":            "app.load",
		"closure #1 () -> () in app.run() -> ()":                                        "closure #1 in app.run",
		"partial apply forwarder for closure #1 () -> () in app.run() -> ()":            "closure #1 in app.run",
		"closure #2 @Sendable (Swift.String) -> () in app.run() -> ()":                  "closure #2 in app.run",
		"(1) suspend resume partial function for app.run() async -> ()":                 "app.run",
		"generic specialization <Swift.Int> of app.sort<A where A: P>(A) -> ()":         "app.sort",
		"function signature specialization <Arg[1] = Dead> of app.sum(Swift.Int) -> ()": "app.sum",
		"merged app.run() -> ()": "app.run",
		"app.Store.(items in _0123456789ABCDEF).getter : [Swift.String]":                  "app.Store.items.getter",
		"app.Store.count.getter : Swift.Int":                                              "app.Store.count.getter",
		"static app.Point.== infix(app.Point, app.Point) -> Swift.Bool":                   "app.Point.== infix",
		"(extension in app):Swift.Array<A where A: Swift.Hashable>.digest() -> Swift.Int": "Swift.Array.digest",
		"app.f(() -> ()) -> () with unmangled suffix \".4\"":                              "app.f",
		"app.Store.init(name: Swift.String) -> app.Store":                                 "app.Store.init",
	} {
		f := Frame{Function: name}
		if have := f.Word(Own); have != want {
			t.Errorf("%s: have %q, want %q", name, have, want)
		}
	}
	f := Frame{Function: "app.Store.deinit", File: "/src/Store.swift"}
	if have := f.Word(Own); have != "app.Store.deinit" {
		t.Error(have)
	}
}
