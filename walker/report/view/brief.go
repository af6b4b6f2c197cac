package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Brief returns a dump's crash, time and process in one line. reason is the exception's name, time
// is in seconds since 1970, process is the program's file name; unknown ones are empty.
func Brief(reason string, time uint32, process string, pid *uint32) string {
	var out []string
	if reason != "" {
		out = append(out, rows.Clean(reason))
	}
	if time != 0 {
		out = append(out, Time(time))
	}
	if pid != nil {
		process = strings.TrimSpace(fmt.Sprintf("%s %d", process, *pid))
	}
	if process != "" {
		out = append(out, rows.Clean(process))
	}
	return strings.Join(out, " · ")
}
