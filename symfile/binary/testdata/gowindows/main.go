// Program main has functions of Go that check whether the stack is large enough.
package main

import (
	"os"
	"strconv"
)

//go:noinline
func leaf(a int) int { return a*3 + len(os.Args) }

//go:noinline
func large(n int) int {
	var q [5000]byte
	q[n&7] = byte(n)
	return int(q[n&3]) + small(n, int(q[n&7]))
}

//go:noinline
func small(a, b int) int { return leaf(a+b) + leaf(b)*a }

//go:noinline
func rec(n int) int {
	if n == 0 {
		return leaf(n)
	}
	defer func() { leaf(n) }()
	return rec(n-1) + 1
}

func main() {
	n, _ := strconv.Atoi("3")
	println(large(n), rec(n), small(n, 1))
}
