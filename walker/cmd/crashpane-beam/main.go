// Command crashpane-beam describes any number of crash dumps on an engine that Apache Beam knows: Prism, which is in
// this program and the default, Flink, Spark or Dataflow. It makes the records that crashpane batch makes, by the same
// function, and counts how many dumps of each signature there are a day.
//
// It is a module of its own, since Beam's libraries make a program of 110 MB. docs/FLEET.md says how to run it and
// what a day of dumps costs.
//
// Start at pipeline in this file. describe.go makes records, store.go asks for symbols, output.go writes files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	// The file systems besides the local one and Google's, which beamx has.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
)

// options are what the command line says.
type options struct {
	dumps, symbols, out string
	format              string
	shards, frames      int
	parallel            int
	private             bool
}

var flags options

func init() {
	flag.StringVar(&flags.dumps, "dumps", "", "`glob` of the dumps: /srv/dumps/**, gs://bucket/2026-11-28/*.dmp, s3://…")
	flag.StringVar(&flags.symbols, "symbols", "", "`store` of symbol files in Breakpad's layout: a folder, or https://host/path, where only the needed parts are requested")
	flag.StringVar(&flags.out, "out", "", "`folder` for the results, on any file system that Beam knows")
	flag.StringVar(&flags.format, "format", "jsonl", "`form` of the records: jsonl, parquet, or both with a comma")
	flag.IntVar(&flags.shards, "shards", 8, "`number` of files of records")
	flag.IntVar(&flags.frames, "frames", 10, "`number` of frames per stack in a record")
	flag.IntVar(&flags.parallel, "parallel", runtime.GOMAXPROCS(0), "`number` of dumps that a worker describes at once; 1 where the runner starts a worker for each processor")
	flag.BoolVar(&flags.private, "private", false, "also record annotations and names of users, which may be private")
}

func main() {
	flag.Parse()
	beam.Init() // a worker of another runner stays in here
	if err := run(context.Background(), flags); err != nil {
		fmt.Fprintln(os.Stderr, "crashpane-beam:", err)
		os.Exit(1)
	}
}

// run runs the pipeline to its end.
func run(ctx context.Context, opt options) error {
	formats := strings.Split(opt.format, ",")
	switch {
	case opt.dumps == "" || opt.out == "":
		return errors.New("--dumps GLOB and --out FOLDER are needed; --help says more")
	case opt.shards < 1 || opt.parallel < 1 || opt.frames < 0:
		return errors.New("--shards and --parallel are at least 1, --frames at least 0")
	}
	for _, f := range formats {
		if writers[f] == nil {
			return fmt.Errorf("there is no format %q; there are jsonl and parquet", f)
		}
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline(s, opt, formats)
	if err := beamx.Run(ctx, p); err != nil {
		return err
	}
	if opt.symbols != "" {
		fmt.Fprintln(os.Stderr, stores.spent()) // of this process: workers elsewhere have their own
	}
	return nil
}

// pipeline is what is done. Each file that it writes has a name that follows from the options alone, and appears as a
// whole: who runs it again after a failure gets the same files, and nothing twice.
//
//	dumps ─► files, spread over workers ─► records ─► records-….jsonl, .parquet
//	                                          ├─────► windows of a day by the dumps' time ─► count by signature ─► days-….jsonl
//	                                          └─────► what is not a dump or failed ─► dead-….jsonl
func pipeline(s beam.Scope, opt options, formats []string) {
	files := fileio.MatchFiles(s.Scope("Files"), opt.dumps, fileio.MatchEmptyDisallow())
	files = beam.Reshuffle(s, files)
	rows, dead := beam.ParDo2(s.Scope("Describe"), &describeFn{Symbols: opt.symbols, Frames: opt.frames, Private: opt.private, Parallel: opt.parallel}, files)
	for _, format := range formats {
		write(s.Scope("Write "+format), rows, opt.out, "records", format, opt.shards)
	}
	write(s.Scope("Write dead letters"), dead, opt.out, "dead", "jsonl", 1)

	days := beam.WindowInto(s, window.NewFixedWindows(day), rows)
	counts := stats.Count(s.Scope("Count"), beam.ParDo(s, signatureOf, days))
	counted := beam.WindowInto(s, window.NewGlobalWindows(), beam.ParDo(s, dayRow, counts))
	write(s.Scope("Write days"), counted, opt.out, "days", "jsonl", 1)
}
