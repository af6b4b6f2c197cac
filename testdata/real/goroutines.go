// Goroutines that hold a thread each: in a system call below many calls, in a callback of sort, after a panic in a deferred call, in a signal's
// turn of a loop that never yields.
package main

import (
	"fmt"
	"os"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
)

var waiting atomic.Int32
var sink int

//go:noinline
func waitHere() {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		panic(err)
	}
	waiting.Add(1)
	var b [1]byte
	syscall.Read(p[0], b[:])
}

//go:noinline
func recursion(n int) int {
	var local [10]int
	local[n%10] = n
	if n == 0 {
		waitHere()
	} else {
		sink = recursion(n - 1)
	}
	return local[n%10] + sink
}

//go:noinline
func panics(n int) {
	defer func() {
		waitHere()
		recover()
	}()
	var list []int
	sink = list[n]
}

//go:noinline
func sorting() {
	list := []int{5, 3, 8, 1, 9, 2}
	calls := 0
	sort.Slice(list, func(i, j int) bool {
		if calls++; calls == 3 {
			waitHere()
		}
		return list[i] < list[j]
	})
}

func main() {
	go recursion(50)
	go panics(3)
	go sorting()
	go func() { // the runtime interrupts it by a signal, now and then
		for i := 0; ; i++ {
			sink += i
		}
	}()
	go func() { <-make(chan int) }() // holds no thread
	for waiting.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	os.Stdout.Sync()
	waitHere()
}
