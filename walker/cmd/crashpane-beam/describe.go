package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report/signature"
)

func init() {
	register.DoFn4x1[context.Context, fileio.FileMetadata, func(typex.EventTime, Row), func(typex.EventTime, Row), error](&describeFn{})
	register.Emitter2[typex.EventTime, Row]()
	register.Function1x1(signatureOf)
	register.Function3x2(dayRow)
	beam.RegisterType(rowType)
}

const day = 24 * time.Hour

// Row is a line of a result. Its columns are those of Parquet files; Record is the line of JSON that crashpane batch
// prints, or of dead letters an object with file and error.
type Row struct {
	File             string `parquet:"name=file, type=BYTE_ARRAY, convertedtype=UTF8"`
	ID               string `parquet:"name=id, type=BYTE_ARRAY, convertedtype=UTF8"`
	Size             int64  `parquet:"name=size, type=INT64"`
	Time             int64  `parquet:"name=time, type=INT64"`   // seconds since 1970 UTC; 0 if the dump has none
	Uptime           int64  `parquet:"name=uptime, type=INT64"` // seconds; 0 if the dump has none
	Process          string `parquet:"name=process, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Product          string `parquet:"name=product, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Version          string `parquet:"name=version, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	OS               string `parquet:"name=os, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	CPU              string `parquet:"name=cpu, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Reason           string `parquet:"name=reason, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Verdict          string `parquet:"name=verdict, type=BYTE_ARRAY, convertedtype=UTF8"`
	AddressSignature string `parquet:"name=address_signature, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Signature        string `parquet:"name=signature, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	Record           string `parquet:"name=record, type=BYTE_ARRAY, convertedtype=UTF8"`
}

// describeFn makes the records of files, Parallel at a time. Its exported fields are what workers need.
type describeFn struct {
	Symbols  string
	Frames   int
	Private  bool
	Parallel int

	pending []fileio.FileMetadata // of the bundle
}

// StartBundle forgets the files of a bundle that failed: the runner gives them again.
func (f *describeFn) StartBundle(_, _ func(typex.EventTime, Row)) { f.pending = nil }

// ProcessElement makes the records of a file, at the times of its dumps, and of what failed dead letters: at once, or
// with those of the next ones.
func (f *describeFn) ProcessElement(ctx context.Context, file fileio.FileMetadata, emit, dead func(typex.EventTime, Row)) error {
	f.pending = append(f.pending, file)
	if f.Parallel > 1 && len(f.pending) < f.Parallel*together {
		return nil
	}
	return f.FinishBundle(ctx, emit, dead)
}

// together is how many files wait for each processor: they take different times.
const together = 8

// FinishBundle makes the records of the files that wait.
func (f *describeFn) FinishBundle(ctx context.Context, emit, dead func(typex.EventTime, Row)) error {
	files := f.pending
	f.pending = nil
	all := make([][]batch.Record, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(f.Parallel, len(files)) {
		workers.Go(func() {
			for i := range next {
				all[i] = f.recordsOf(ctx, files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err() // the runner gives the files to another worker
	}
	for i, records := range all {
		for k := range records {
			row, err := rowOf(&records[k])
			if err != nil {
				return err
			}
			if records[k].Error != "" {
				dead(mtime.ZeroTimestamp, row)
			} else {
				emit(timeOf(&row, files[i].LastModified), row)
			}
		}
	}
	return nil
}

// timeOf is when a dump was written, or if it does not say so when its file was.
func timeOf(r *Row, modified time.Time) typex.EventTime {
	switch {
	case r.Time != 0:
		return mtime.FromTime(time.Unix(r.Time, 0))
	case !modified.IsZero():
		return mtime.FromTime(modified)
	}
	return mtime.ZeroTimestamp
}

// recordsOf makes the records of a file, or one with the error.
func (f *describeFn) recordsOf(ctx context.Context, file fileio.FileMetadata) []batch.Record {
	records, err := f.describe(ctx, file)
	if err != nil {
		records = append(records, batch.Record{Name: file.Path, Size: file.Size, Error: err.Error()})
	}
	return records
}

// rowOf makes the row of a record.
func rowOf(r *batch.Record) (Row, error) {
	var line bytes.Buffer
	if err := batch.WriteJSON(&line, r); err != nil {
		return Row{}, err
	}
	record := string(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	var uptime uint64
	if r.Uptime != nil {
		uptime = *r.Uptime
	}
	return Row{r.Name, r.ID, r.Size, int64(r.Time), int64(uptime), r.Process, r.Product, r.Version, r.OS, r.CPU, r.Reason, r.Verdict, r.AddressSignature, r.Signature, record}, nil
}

// describe makes the records of a file. A defect in a reader is the error of this file alone.
func (f *describeFn) describe(ctx context.Context, file fileio.FileMetadata) (out []batch.Record, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			out, err = nil, fmt.Errorf("%s: a defect of crashpane: %v\n%s", file.Path, defect, debug.Stack())
		}
	}()
	src, end, err := open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer end()
	store, err := stores.of(f.Symbols)
	if err != nil {
		return nil, err
	}
	spools := &disk.Spools{}
	defer spools.Close()
	opt := batch.Options{Session: store.options(), Frames: f.Frames, Private: f.Private, Lists: signature.Own, Context: ctx}
	opt.Session.Limits = intake.Limits{Spool: spools.Create}
	return store.describe(ctx, src, opt)
}

// open opens a file on any file system. What cannot be read from any place is copied to a temporary file.
func open(ctx context.Context, file fileio.FileMetadata) (src *input.Source, end func(), err error) {
	system, err := filesystem.New(ctx, file.Path)
	if err != nil {
		return nil, nil, err
	}
	in, err := system.OpenRead(ctx, file.Path)
	if err != nil {
		system.Close()
		return nil, nil, err
	}
	end = func() {
		in.Close()
		system.Close()
	}
	if at, ok := in.(io.ReaderAt); ok {
		src = input.New(file.Path, at, file.Size)
		src.Modified = file.LastModified.Unix()
		return src, end, nil
	}
	copied, err := os.CreateTemp("", "crashpane-beam-*")
	if err != nil {
		end()
		return nil, nil, err
	}
	os.Remove(copied.Name())
	size, err := io.Copy(copied, in)
	end()
	end = func() {
		copied.Close()
		os.Remove(copied.Name())
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	src = input.New(file.Path, copied, size)
	src.Modified = file.LastModified.Unix()
	return src, end, nil
}

func signatureOf(r Row) string { return r.Signature }

// dayRow makes the line of a signature's count in a day: {day, dumps, signature}.
func dayRow(w beam.Window, signature string, dumps int) (Row, error) {
	begin := ""
	if in, ok := w.(window.IntervalWindow); ok {
		begin = in.Start.ToTime().UTC().Format(time.DateOnly)
	}
	line, err := json.Marshal(struct {
		Day       string `json:"day"`
		Dumps     int    `json:"dumps"`
		Signature string `json:"signature"`
	}{begin, dumps, signature})
	return Row{File: begin + "\x00" + signature, Record: string(line)}, err
}
