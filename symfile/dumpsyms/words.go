package dumpsyms

import "github.com/crashpane/crashpane/core/cpu"

// Arch returns a MODULE record's name of a processor: "x86_64"; "unknown" for nil.
func Arch(a *cpu.Arch) string {
	if a == nil {
		return "unknown"
	}
	return a.ModuleWord()
}

// CPU returns the processor that a MODULE record names, or nil if it is not known.
func CPU(word string) *cpu.Arch {
	for _, a := range cpu.All() {
		if Arch(a) == word {
			return a
		}
	}
	return nil
}
