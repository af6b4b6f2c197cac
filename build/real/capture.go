//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed frames.py
var gdbScript []byte

// capture is what captureProcess saves of a process: gdb's frames, a dump, and the files that the
// process had mapped.
type capture struct {
	gdb   map[uint32]*gdbThread
	maps  []mapping
	dump  string
	files []string
}

// running is a started program.
type running struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	pid    int // the process to capture
}

// start runs the program without the caller's environment and waits until it is ready to be
// captured.
func start(p *program, dir string) (*running, error) {
	argv := fill(p.run, dir)
	path, err := find(argv[0])
	if err != nil {
		return nil, err
	}
	r := &running{cmd: exec.Command(path, argv[1:]...)}
	r.cmd.Dir = dir
	r.cmd.Env = append([]string{"PATH=" + minimalPath, "HOME=" + dir, "LANG=C.UTF-8"}, p.env...)
	r.cmd.Stderr = &r.stderr
	r.cmd.WaitDelay = time.Second
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	r.pid = r.cmd.Process.Pid
	if p.marker {
		limit := time.AfterFunc(time.Minute, func() { r.cmd.Process.Kill() })
		r.pid, err = waitForMarker(bufio.NewScanner(stdout), r.pid)
		limit.Stop()
		if err != nil {
			r.kill()
			return nil, fmt.Errorf("%w: %s", err, lastLine(r.stderr.String()))
		}
	}
	calm, limit := 200*time.Millisecond, 5*time.Second
	if !p.marker {
		calm, limit = 3*time.Second, 30*time.Second
	}
	if err := settle(r.pid, calm, limit); err != nil {
		r.kill()
		return nil, fmt.Errorf("%w: %s", err, lastLine(r.stderr.String()))
	}
	return r, nil
}

// kill ends the program and the processes that it started.
func (r *running) kill() {
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// captureProcess stops a process and runs gdb and the dump's writer on it. It leaves the process
// stopped; the caller kills it.
func captureProcess(pid int, p *program, dir, writer string) (*capture, error) {
	if err := stop(pid); err != nil {
		return nil, err
	}
	c := &capture{dump: filepath.Join(dir, p.name+".dmp")}
	var err error
	if c.maps, err = readMaps(pid); err != nil {
		return nil, err
	}
	c.files = symbolFiles(c.maps, dir)
	if vdso, err := saveVDSO(pid, c.maps, dir); err != nil {
		return nil, err
	} else if vdso != "" {
		c.files = append(c.files, vdso)
	}
	frames := filepath.Join(dir, p.name+".frames.json")
	script := filepath.Join(dir, "frames.py")
	if err := os.WriteFile(script, gdbScript, 0o600); err != nil {
		return nil, err
	}
	args := []string{"-batch", "-nx", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
		"-iex", "set backtrace past-main on", "-iex", "set backtrace past-entry on"}
	switch {
	case p.unlink != "":
		args = append(args, kept(dir)) // gdb cannot find a file that was unlinked
	case p.symbols != "":
		args = append(args, fill(p.symbols, dir)[0])
	}
	args = append(args, "-p", strconv.Itoa(pid), "-x", script)
	said, err := runTool(5*time.Minute, dir, []string{"CRASHPANE_FRAMES=" + frames, "CRASHPANE_FRAME_POINTERS=" + p.framePointers}, "gdb", args...)
	if err != nil {
		return nil, fmt.Errorf("gdb: %w: %s", err, lastLine(said))
	}
	text, err := os.ReadFile(frames)
	if err == nil {
		err = json.Unmarshal(text, &c.gdb)
	}
	if err != nil { // gdb succeeds when its script fails
		return nil, fmt.Errorf("gdb's frames: %w: %s", err, lastLine(said))
	}
	// gdb resumes the process when it detaches.
	if err := stop(pid); err != nil {
		return nil, err
	}
	args = []string{strconv.Itoa(pid), c.dump}
	if p.memory || p.allMemory {
		ranges := stackRanges(c.gdb, c.maps)
		if p.allMemory {
			ranges = writable(c.maps)
		}
		for _, r := range ranges {
			args = append(args, fmt.Sprintf("0x%x", r.start), fmt.Sprintf("0x%x", r.end-r.start))
		}
	}
	if text, err := runTool(2*time.Minute, dir, nil, writer, args...); err != nil {
		return nil, fmt.Errorf("the dump's writer: %w: %s", err, lastLine(text))
	}
	return c, nil
}

// symbolFiles returns the files with code that a process has mapped. An unlinked file is in the
// folder under the name of kept.
func symbolFiles(maps []mapping, dir string) []string {
	var files []string
	seen := map[string]bool{}
	for _, m := range maps {
		if !strings.HasPrefix(m.path, "/") || seen[m.path] {
			continue
		}
		seen[m.path] = true
		path := m.path
		if m.deleted {
			path = kept(dir)
		}
		head := make([]byte, 4)
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		n, _ := f.Read(head)
		st, err := f.Stat()
		f.Close()
		if n == 4 && string(head) == "\x7fELF" && err == nil && st.Mode().IsRegular() {
			files = append(files, path)
			// A debug file in the program's folder, which objcopy --only-keep-debug wrote.
			if _, err := os.Stat(path + ".debug"); err == nil {
				files = append(files, path+".debug")
			}
		}
	}
	return files
}

// saveVDSO writes the vDSO, the library that the kernel maps into every process and that is not in
// any file, from the process' memory to a file for the walker. gdb also reads it from memory.
func saveVDSO(pid int, maps []mapping, dir string) (string, error) {
	for _, m := range maps {
		if m.path != "[vdso]" {
			continue
		}
		memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		if err != nil {
			return "", err
		}
		defer memory.Close()
		image := make([]byte, m.end-m.start)
		if _, err := memory.ReadAt(image, int64(m.start)); err != nil {
			return "", err
		}
		path := filepath.Join(dir, "linux-gate.so")
		return path, os.WriteFile(path, image, 0o600)
	}
	return "", nil
}

// kept returns the path of the hard link to a program's file that the harness makes before it
// unlinks the file.
func kept(dir string) string { return filepath.Join(dir, "kept") }

// stackRanges returns the mappings that contain gdb's stack pointers, each from one page below the
// lowest stack pointer on.
func stackRanges(gdb map[uint32]*gdbThread, maps []mapping) []mapping {
	var out []mapping
	for _, m := range maps {
		low, high := m.end, m.start
		for _, t := range gdb {
			for _, f := range t.Frames {
				if f.SP >= m.start && f.SP < m.end {
					low, high = min(low, f.SP), max(high, f.SP)
				}
			}
		}
		// The page below the innermost frame's stack pointer may contain its return address, and
		// the memory above the outermost frame's its arguments.
		const page = 4096
		if low < m.end && m.read { // a stack pointer may be in the guard page
			out = append(out, mapping{start: max(low&^(page-1), m.start), end: min(high+page, m.end)})
		}
	}
	return out
}

// writable returns the mappings that a process can write.
func writable(maps []mapping) (out []mapping) {
	for _, m := range maps {
		if m.read && m.write {
			out = append(out, m)
		}
	}
	return out
}

// runTool runs a command to its end and returns its output and its error output.
func runTool(limit time.Duration, dir string, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end in %v", limit)
	}
	return string(text), err
}

// lastLine returns the last line of a tool's output that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
