// A Go program without C code whose threads are in the runtime's signal handler, which can't write its traceback: standard error is
// a pipe that is full. Go's own code returns from a signal. The program starts itself again and has the second process captured.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

var sink int

//go:noinline
func spin(n int) {
	if n > 0 {
		spin(n - 1)
	}
	for i := 0; n == 0; i++ {
		sink += i
	}
	sink++
}

//go:noinline
func block(n int) {
	if n > 0 {
		block(n - 1)
	} else {
		var p [2]int
		syscall.Pipe(p[:])
		var b [1]byte
		syscall.Read(p[0], b[:])
	}
	sink++
}

func main() {
	if len(os.Args) > 1 {
		go spin(20)
		go block(20)
		time.Sleep(100 * time.Millisecond)
		fmt.Println("running")
		block(10)
	}
	full, err := fullPipe()
	if err != nil {
		panic(err)
	}
	child := exec.Command(os.Args[0], "child")
	child.Env = []string{"GOTRACEBACK=crash", "GOMAXPROCS=4"}
	child.Stderr = full
	out, err := child.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := child.Start(); err != nil {
		panic(err)
	}
	io.ReadAtLeast(out, make([]byte, 8), 8)
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", child.Process.Pid))
	for _, t := range threads {
		id, _ := strconv.Atoi(t.Name())
		syscall.Syscall(syscall.SYS_TGKILL, uintptr(child.Process.Pid), uintptr(id), uintptr(syscall.SIGQUIT))
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready", child.Process.Pid)
	child.Wait()
}

// fullPipe returns the end for writing of a pipe that has no room left.
func fullPipe() (*os.File, error) {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return nil, err
	}
	syscall.SetNonblock(p[1], true)
	for block := make([]byte, 4096); ; {
		if _, err := syscall.Write(p[1], block); err != nil {
			break
		}
	}
	syscall.SetNonblock(p[1], false)
	return os.NewFile(uintptr(p[1]), "full"), nil
}
