package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func crash(k string, n int) int {
	var m map[string]int
	var p *struct{ a, b int }
	s := []int{1, 2, 3}
	switch k {
	case "panic":
		panic("boom")
	case "err":
		panic(fmt.Errorf("bad %d", n))
	case "index":
		return s[n+7]
	case "nil":
		return p.b
	case "map":
		m["a"] = 1
	case "div":
		return 7 / (n - 2)
	case "deadlock":
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	case "unlock":
		var mu sync.Mutex
		mu.Unlock()
	case "so":
		return so(n)
	case "concurrent":
		mm := map[int]int{}
		for i := 0; i < 4; i++ {
			go func() {
				for {
					mm[1]++
				}
			}()
		}
		time.Sleep(time.Second)
	case "type":
		var i any = "x"
		return i.(int)
	case "close":
		c := make(chan int)
		close(c)
		close(c)
	case "kill":
		syscall.Kill(syscall.Getpid(), syscall.SIGABRT)
		time.Sleep(time.Second)
	case "abrt":
		for i := 0; ; i++ {
			s[i%3] = i
		}
	}
	return 0
}

//go:noinline
func so(n int) int { var a [100]int; a[n%100] = n; return so(n+1) + a[5] }

//go:noinline
func outer(k string, n int) int { return crash(k, n) + 1 }
func main()                     { fmt.Println(outer(os.Args[1], len(os.Args))) }
