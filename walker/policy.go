// Package walker finds out what the stack was: one loop that asks sources for rules (Rows), applies them with the one
// evaluator of package unwind, checks the result, and keeps why.
package walker

// Policy is how to walk, as data: which sources in which order, how far to scan, and which checks hold. The two peers are
// policies, and so is the best that we know.
type Policy struct {
	// Name: "best", "breakpad", "rust-minidump", "cfi", "fp", "scan".
	Name string
}
