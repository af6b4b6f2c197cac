package main

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/xitongsys/parquet-go/writer"
)

var rowType = reflect.TypeFor[Row]()

func init() {
	register.DoFn1x2[Row, int, Row](&shardFn{})
	register.DoFn1x2[int, int, Row](&emptyFn{})
	register.DoFn3x1[context.Context, int, func(*Row) bool, error](&writeFn{})
	register.Iter1[Row]()
}

// write writes rows to the files out/name-00000-of-00008.format. There is a file for each number, so that no file of
// an earlier run stays.
func write(s beam.Scope, rows beam.PCollection, out, name, format string, shards int) {
	rows = beam.WindowInto(s, window.NewGlobalWindows(), rows)
	numbers := make([]int, shards)
	for i := range numbers {
		numbers[i] = i
	}
	keyed := beam.Flatten(s, beam.ParDo(s, &shardFn{shards}, rows), beam.ParDo(s, &emptyFn{}, beam.CreateList(s, numbers)))
	beam.ParDo0(s, &writeFn{out, name, format, shards}, beam.GroupByKey(s, keyed))
}

// shardFn gives a row the number of its file, which follows from its name.
type shardFn struct{ Shards int }

func (f *shardFn) ProcessElement(r Row) (int, Row) {
	h := fnv.New32a()
	io.WriteString(h, r.File)
	return int(h.Sum32() % uint32(f.Shards)), r
}

// emptyFn makes a row that is not written, for each file.
type emptyFn struct{}

func (f *emptyFn) ProcessElement(n int) (int, Row) { return n, Row{} }

// writeFn writes a file.
type writeFn struct {
	Out, Name, Format string
	Shards            int
}

// writers write rows in a format.
var writers = map[string]func(w io.Writer, rows []Row) error{"jsonl": writeLines, "parquet": writeParquet}

func (f *writeFn) ProcessElement(ctx context.Context, n int, next func(*Row) bool) error {
	var rows []Row
	for r := (Row{}); next(&r); {
		if r.Record != "" {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.File, b.File) })
	return put(ctx, fmt.Sprintf("%s/%s-%05d-of-%05d.%s", strings.TrimSuffix(f.Out, "/"), f.Name, n, f.Shards, f.Format), func(w io.Writer) error { return writers[f.Format](w, rows) })
}

// put writes a file that appears as a whole: on the local file system by renaming, elsewhere an object is there when
// it is closed.
func put(ctx context.Context, name string, write func(io.Writer) error) (err error) {
	system, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer system.Close()
	to := name
	_, isLocal := system.(interface {
		Rename(context.Context, string, string) error
	})
	if isLocal = isLocal && !strings.Contains(name, "://"); isLocal {
		to = path.Join(path.Dir(name), "."+path.Base(name)+".part")
	}
	file, err := system.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	if err = write(file); err != nil {
		file.Close()
		return err
	}
	if err = file.Close(); err != nil || !isLocal {
		return err
	}
	return filesystem.Rename(ctx, system, to, name)
}

func writeLines(w io.Writer, rows []Row) error {
	b := bufio.NewWriterSize(w, 1<<20)
	for i := range rows {
		b.WriteString(rows[i].Record)
		b.WriteByte('\n')
	}
	return b.Flush()
}

func writeParquet(w io.Writer, rows []Row) error {
	p, err := writer.NewParquetWriterFromWriter(w, new(Row), 1)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := p.Write(rows[i]); err != nil {
			return err
		}
	}
	return p.WriteStop()
}
