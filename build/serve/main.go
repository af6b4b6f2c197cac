// Serve serves the built page on this machine, with the headers that a host should send.
//
//	serve [-addr 127.0.0.1:8080] [-dir dist/site]
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/crashpane/crashpane/build/site"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen; port 0 takes a free one")
	dir := flag.String("dir", "dist/site", "the folder to serve")
	flag.Parse()
	if err := run(*addr, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(addr, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	index, err := root.ReadFile("index.html")
	if err != nil {
		return fmt.Errorf("%s holds no page: %w (make build makes it)", dir, err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w (PORT= chooses another port)", err)
	}
	fmt.Printf("Crashpane is at http://%s\n", listener.Addr())
	server := &http.Server{Handler: &handler{files: root.FS(), bases: site.BasesOf(string(index))}, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}
