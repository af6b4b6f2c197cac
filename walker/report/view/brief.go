package view

import (
	"fmt"
	"strings"
)

// Brief is a dump's crash, time and process in a line, as far as they are known: reason is the exception's name, time is in seconds
// since 1970, process the program's file name.
func Brief(reason string, time uint32, process string, pid *uint32) string {
	var out []string
	if reason != "" {
		out = append(out, Clean(reason))
	}
	if time != 0 {
		out = append(out, Time(time))
	}
	if pid != nil {
		process = strings.TrimSpace(fmt.Sprintf("%s %d", process, *pid))
	}
	if process != "" {
		out = append(out, Clean(process))
	}
	return strings.Join(out, " · ")
}
