package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
)

// appleNames are Apple's names of processors where they are not those of archive members.
var appleNames = map[string]string{"amd64": "x86_64", "x86": "i386"}

// forCPU returns the part of a Mach-O file for several processors that has that name,
// and other files as they are. Without a name there must be one part.
func forCPU(src *input.Source, arch string) (*input.Source, error) {
	if intake.Sniff(src).Kind != intake.Fat {
		return src, nil
	}
	parts, err := intake.Expand(src, intake.Limits{Spool: src.Spool}, nil)
	var names []string
	for _, part := range parts {
		name, _, _ := strings.Cut(strings.TrimPrefix(part.Name, src.Name+"/"), "/")
		if name == arch || appleNames[name] == arch && arch != "" || arch == "" && len(parts) == 1 {
			return part, nil
		}
		names = append(names, cmp.Or(appleNames[name], name))
	}
	switch {
	case len(parts) == 0:
		return nil, err
	case arch == "":
		return nil, fmt.Errorf("%s is for several processors (%s): --arch says for which to read it", src.Name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s is for %s, and not for %s", src.Name, strings.Join(names, ", "), arch)
}
