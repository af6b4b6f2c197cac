//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mapping is a line of /proc/PID/maps.
type mapping struct {
	start, end        uint64
	read, write, exec bool
	path              string // "" for anonymous memory; in brackets for the kernel's, as "[vdso]"
	deleted           bool
}

func readMaps(pid int) ([]mapping, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	return parseMaps(string(text)), nil
}

// parseMaps parses lines "START-END PERMISSIONS OFFSET DEVICE INODE PATH" (proc(5)) and ignores
// others.
func parseMaps(text string) []mapping {
	var out []mapping
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		m := mapping{start: start, end: end, read: strings.Contains(fields[1], "r"), write: strings.Contains(fields[1], "w"), exec: strings.Contains(fields[1], "x")}
		m.path, m.deleted = strings.CutSuffix(strings.Join(fields[5:], " "), " (deleted)")
		out = append(out, m)
	}
	return out
}

// codeAt returns the kind of code that the mappings have at an address.
func codeAt(maps []mapping, pc uint64) code {
	for _, m := range maps {
		if pc >= m.start && pc < m.end && m.exec {
			if strings.HasPrefix(m.path, "/") || m.path == "[vdso]" || m.path == "[vsyscall]" {
				return fileCode
			}
			return madeCode
		}
	}
	return noCode
}

// taskStates returns the state letters of a process' threads (the third field of stat, proc(5)),
// one for each thread.
func taskStates(pid int) string {
	var states strings.Builder
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		// The command's name, the second field, is in parentheses and may contain any character,
		// also parentheses and spaces.
		if at := strings.LastIndexByte(string(text), ')'); at >= 0 && len(text) > at+2 {
			states.WriteByte(text[at+2])
		}
	}
	return states.String()
}

// settle waits until the process has had the same threads for the time calm, all of them asleep.
// Some programs never are: after the time limit settle returns without an error, and the harness
// captures them in whatever state they are.
func settle(pid int, calm, limit time.Duration) error {
	const step = 25 * time.Millisecond
	last, since := "", time.Now()
	for start := time.Now(); time.Since(start) < limit; time.Sleep(step) {
		states := taskStates(pid)
		if states == "" || strings.Trim(states, "ZX") == "" {
			return fmt.Errorf("the process ended before it was captured")
		}
		if states != last || strings.ContainsAny(states, "RD") {
			last, since = states, time.Now()
		}
		if time.Since(since) > calm {
			return nil
		}
	}
	return nil
}

// stop sends SIGSTOP and waits until no thread runs.
func stop(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("SIGSTOP: %w", err)
	}
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		if s := taskStates(pid); s != "" && strings.Trim(s, "TtZX") == "" {
			return nil
		}
	}
	return fmt.Errorf("process %d does not stop: its threads are %s", pid, taskStates(pid))
}

// descendant returns a child of a process, or a child's child and so on, whose command line contains
// a text, or 0.
func descendant(pid int, text string) int {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	parents := map[int]int{}
	var found []int
	for _, e := range entries {
		one, err := strconv.Atoi(filepath.Base(e))
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(e, "stat"))
		var state string
		var parent int
		if at := strings.LastIndexByte(string(stat), ')'); at >= 0 {
			fmt.Sscan(string(stat[at+1:]), &state, &parent)
		}
		parents[one] = parent
		line, _ := os.ReadFile(filepath.Join(e, "cmdline"))
		if strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			found = append(found, one)
		}
	}
	for _, one := range found {
		for p := parents[one]; p > 1; p = parents[p] {
			if p == pid {
				return one
			}
		}
	}
	return 0
}

// waitForMarker reads lines until one is "ready", or "ready PID" for the process to capture
// instead.
func waitForMarker(lines *bufio.Scanner, pid int) (int, error) {
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word != "ready" {
			continue
		}
		if rest != "" {
			return strconv.Atoi(strings.TrimSpace(rest))
		}
		return pid, nil
	}
	return 0, fmt.Errorf("the program ended before it said that it is ready")
}
