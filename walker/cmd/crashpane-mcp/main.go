// Command crashpane-mcp lets an assistant ask about crash dumps, by the Model Context Protocol over its standard
// input and output. It reads dumps under the folders that its arguments name, and symbols under those of --symbols.
// It writes nothing but temporary files of what it unpacks, and uses no network. It is a program of its own because
// the protocol's library would make the command a tenth larger; "crashpane mcp" starts it.
//
// Start at the table of tools in tools.go. folders.go has what may be read, cache.go the dumps that are open, answer.go
// the form of every answer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/crashpane/crashpane/core/visible"
)

// version may be set by the linker; otherwise it is read from the build information.
var version string

const usage = `usage: crashpane-mcp [--symbols FOLDER]… [--private] FOLDER…

Answers an assistant's questions about the crash dumps in the folders and below them, by the Model Context Protocol
over standard input and output. An assistant's program starts it; docs/COMMAND.md says how to configure one.

It reads no file outside of the folders, changes none, and uses no network. Private texts, the contents of memory and
names of users in paths are left out of answers, unless --private is given.

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], &mcp.StdioTransport{}, os.Stderr)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	default:
		fmt.Fprintln(os.Stderr, "crashpane-mcp:", visible.Text(err.Error()))
		var wrong usageError
		if errors.As(err, &wrong) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// usageError is a command line that is not understood.
type usageError string

func (e usageError) Error() string { return string(e) }

// run serves one client over the transport, until it goes or the context is done.
func run(ctx context.Context, args []string, transport mcp.Transport, stderr io.Writer) error {
	fs := flag.NewFlagSet("crashpane-mcp", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var opt options
	fs.Func("symbols", "a `folder` with symbol files, programs or PDBs, of any layout; may be given several times", func(path string) error {
		opt.symbols = append(opt.symbols, path)
		return nil
	})
	fs.BoolVar(&opt.private, "private", false, "also answer with private texts, contents of memory and names of users")
	says := fs.Bool("version", false, "print which build this is")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		fs.SetOutput(stderr)
		fs.PrintDefaults()
		return err
	case err != nil:
		return usageError(err.Error() + "; crashpane-mcp --help says more")
	case *says:
		fmt.Fprintln(stderr, "crashpane-mcp", versionText())
		return nil
	}
	opt.folders = fs.Args()
	s, err := newServer(opt)
	if err != nil {
		return err
	}
	defer s.close()
	debug.SetMemoryLimit(processMemory)
	return s.protocol().Run(ctx, transport)
}

// processMemory is how many bytes the process may take before it collects garbage more often: a few dumps are open.
const processMemory = 512 << 20

// options are what the command line says.
type options struct {
	folders, symbols []string
	private          bool
}

// newServer opens the folders. The caller closes the server.
func newServer(opt options) (*server, error) {
	if len(opt.folders) == 0 {
		return nil, usageError("name a folder with dumps; crashpane-mcp --help says more")
	}
	s := &server{private: opt.private}
	for _, path := range opt.folders {
		if err := s.addFolder(path); err != nil {
			s.close()
			return nil, err
		}
	}
	for _, path := range opt.symbols {
		root, err := openRoot(path)
		if err != nil {
			s.close()
			return nil, err
		}
		s.symbols = append(s.symbols, root)
	}
	s.cache = newCache(s.open)
	s.grouped = grouped{turn: make(chan bool, 1), known: map[string]known{}}
	s.grouped.turn <- true
	return s, nil
}

// openRoot opens a folder that answers may be read from.
func openRoot(path string) (*os.Root, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, usageError(path + " is not a folder; name the folder that it is in")
	}
	return os.OpenRoot(path)
}

// versionText is the version that the linker set, else that of the module in the build information.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
