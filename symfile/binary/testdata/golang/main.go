package main

import (
	"fmt"
	"os"
	"strings"
)

type box struct{ n int }

func (b *box) add(k int) int { return inner(b.n+k) * 3 }

func inner(k int) int {
	if k > 100 {
		panic("too large")
	}
	return k + len(os.Args)
}

//go:noinline
func work(b *box, list []string) string {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("recovered", r)
		}
	}()
	var big [5000]byte
	for i := range big {
		big[i] = byte(b.add(i % 50))
	}
	return strings.Join(list, string(big[:10]))
}

func main() {
	b := &box{4}
	fmt.Println(len(work(b, os.Args)))
	go func() { fmt.Println(b.add(2)) }()
}
