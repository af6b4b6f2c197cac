package dumpsyms

import "github.com/crashpane/crashpane/core/cpu"

// Arch is a MODULE record's word for a processor: "x86_64"; "unknown" for nil.
func Arch(a *cpu.Arch) string {
	if a == nil {
		return "unknown"
	}
	return a.Module
}
