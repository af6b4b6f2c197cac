package dumpsyms

import "github.com/crashpane/crashpane/core/cpu"

// Arch returns a MODULE record's name of a processor: "x86_64"; "unknown" for nil.
func Arch(a *cpu.Arch) string {
	if a == nil {
		return "unknown"
	}
	return a.ModuleWord()
}
