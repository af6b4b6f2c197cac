package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// stores are the stores of symbols that this worker asks: one for each --symbols.
var stores storeList

type storeList struct {
	mu  sync.Mutex
	all map[string]*store
}

// of returns the store at a place, "" for none.
func (l *storeList) of(place string) (*store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.all[place]; s != nil {
		return s, nil
	}
	s, err := newStore(place)
	if err != nil {
		return nil, err
	}
	if l.all == nil {
		l.all = map[string]*store{}
	}
	l.all[place] = s
	return s, nil
}

// spent says what the stores were asked for.
func (l *storeList) spent() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for place, s := range l.all {
		if place != "" {
			lines = append(lines, fmt.Sprintf("%s: %d symbol files asked for, %d there; %d requests, %d bytes; %d of %d blocks from the cache",
				place, s.asked.Load(), s.there.Load(), s.requests.Load(), s.bytes.Load(), s.hits.Load(), s.hits.Load()+s.misses.Load()))
		}
	}
	return strings.Join(lines, "\n")
}

// store is a store of symbol files in Breakpad's layout, and what this worker has of it: the files that its dumps'
// stacks needed, and the blocks of them that were read last.
type store struct {
	base string // "" without symbols, a folder, or the address of one
	opt  session.Options
	// adding is held while files get one more.
	adding sync.Mutex
	files  *session.Files

	mu    sync.Mutex
	known map[string]*asking // by path in the store

	blocks *lru.Cache[blockKey, []byte]
	client *http.Client

	asked, there, requests, bytes, hits, misses atomic.Int64
}

// asking is a file that was asked for. done is closed when it is known whether it is there.
type asking struct {
	done  chan bool
	there bool
	count int64 // of the files in the store when it was there
	err   error
}

func newStore(place string) (*store, error) {
	s := &store{base: strings.TrimSuffix(place, "/"), known: map[string]*asking{}, client: &http.Client{Timeout: time.Minute}}
	if u, err := url.Parse(place); err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--symbols %s: neither a folder nor an http address", place)
	}
	s.opt = session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize}
	if s.remote() {
		s.opt.Slice = blockSize
	}
	readers.Add(&s.opt)
	s.files = session.NewFiles(s.opt)
	s.blocks, _ = lru.New[blockKey, []byte](maxBlocks) // an error is one of the number
	return s, nil
}

func (s *store) remote() bool { return strings.Contains(s.base, "://") }

// options are those of a dump's session.
func (s *store) options() session.Options {
	opt := s.opt
	if s.base != "" {
		opt.Store = s.files.Store()
	}
	return opt
}

// rounds is how often a dump is described at most: new symbols may lead to other frames, in modules whose symbols the
// store is then asked for.
const rounds = 6

// describe makes the records of a file as crashpane batch does, and asks for the symbols that its stacks lack, until it
// needs none that the store has and this worker did not have before.
func (s *store) describe(ctx context.Context, src *input.Source, opt batch.Options) (out []batch.Record, err error) {
	for range rounds {
		had := s.there.Load()
		out = batch.Describe(src, opt)
		if s.base == "" || ctx.Err() != nil {
			return out, ctx.Err()
		}
		more := false
		for i := range out {
			for _, m := range out[i].Missing {
				a, err := s.want(ctx, m.DebugFile, m.DebugID)
				if err != nil {
					return nil, err
				}
				// One that was there before does not fit.
				more = more || a != nil && a.there && a.count > had
			}
		}
		if !more {
			break
		}
	}
	return out, nil
}

// want asks for a symbol file, unless another dump did. It returns nil for a module without an id.
func (s *store) want(ctx context.Context, debugFile, debugID string) (*asking, error) {
	path := report.StorePath(debugFile, debugID)
	if path == "" || !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, nil
	}
	s.mu.Lock()
	a := s.known[path]
	mine := a == nil
	if mine {
		a = &asking{done: make(chan bool)}
		s.known[path] = a
	}
	s.mu.Unlock()
	if !mine {
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return a, a.err
	}
	a.err = s.get(ctx, path, a)
	if a.err != nil { // the next dump asks again
		s.mu.Lock()
		delete(s.known, path)
		s.mu.Unlock()
	}
	close(a.done)
	return a, a.err
}

// get adds a symbol file to those of the worker, with its index if the store has one.
func (s *store) get(ctx context.Context, path string, a *asking) error {
	s.asked.Add(1)
	src, err := s.source(ctx, path)
	if src == nil || err != nil {
		return err
	}
	if src.Index, err = s.source(ctx, path+".index"); err != nil {
		return err
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	items := s.files.Add(src)
	a.there = len(items) > 0 && items[0].Usable
	a.count = s.there.Add(1)
	return nil
}

// source returns a file of the store, or nil.
func (s *store) source(ctx context.Context, path string) (*input.Source, error) {
	if !s.remote() {
		name := filepath.Join(s.base, filepath.FromSlash(path))
		st, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return input.New(name, input.ClosedFile(name), st.Size()), nil
	}
	r := &ranged{s: s, address: s.base + "/" + (&url.URL{Path: path}).EscapedPath()}
	first, err := r.load(ctx, 0)
	if err != nil || r.size < 0 {
		return nil, err
	}
	s.blocks.Add(blockKey{r.address, 0}, first)
	return input.New(r.address, r, r.size), nil
}

// blockSize is how much of a file one request asks for: smaller blocks make more requests of fewer bytes (docs/FLEET.md
// has the figures), and requests are what servers and workers wait for. maxBlocks is how many are kept: 256 MB.
const (
	blockSize = 64 << 10
	maxBlocks = 256 << 20 / blockSize
)

// ranged reads a file on a server in blocks.
type ranged struct {
	s       *store
	address string
	size    int64 // -1: the server does not have it
}

// ReadAt implements io.ReaderAt.
func (r *ranged) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		if off+int64(n) >= r.size {
			return n, io.EOF
		}
		at := (off + int64(n)) / blockSize
		block, ok := r.s.blocks.Get(blockKey{r.address, at})
		if ok {
			r.s.hits.Add(1)
		} else {
			r.s.misses.Add(1)
			if block, err = r.load(context.Background(), at); err != nil {
				return n, err
			}
			r.s.blocks.Add(blockKey{r.address, at}, block)
		}
		from := off + int64(n) - at*blockSize
		if from >= int64(len(block)) {
			return n, io.ErrUnexpectedEOF
		}
		n += copy(p[n:], block[from:])
	}
	return n, nil
}

// attempts is how often a server is asked that does not answer.
const attempts = 4

// load asks for a block. The first one tells the size.
func (r *ranged) load(ctx context.Context, at int64) (block []byte, err error) {
	for wait := 100 * time.Millisecond; ; wait *= 4 {
		block, again, err := r.request(ctx, at)
		if err == nil || !again || wait > 100*time.Millisecond<<(2*(attempts-2)) {
			return block, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// request asks for a block once. again: another attempt may succeed.
func (r *ranged) request(ctx context.Context, at int64) (block []byte, again bool, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, nil)
	if err != nil {
		return nil, false, err
	}
	q.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", at*blockSize, (at+1)*blockSize-1))
	q.Header.Set("Accept-Encoding", "identity") // ranges of the file itself
	r.s.requests.Add(1)
	a, err := r.s.client.Do(q)
	if err != nil {
		return nil, true, err
	}
	defer a.Body.Close()
	switch {
	case a.StatusCode == http.StatusPartialContent:
	case a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusGone || a.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		r.size = -1
		return nil, false, nil
	case a.StatusCode == http.StatusOK && a.ContentLength >= 0 && a.ContentLength <= blockSize && at == 0: // a small file
	case a.StatusCode >= 500 || a.StatusCode == http.StatusTooManyRequests:
		return nil, true, fmt.Errorf("%s: %s", r.address, a.Status)
	default:
		return nil, false, fmt.Errorf("%s: %s in place of a part of the file; the server must answer requests for ranges", r.address, a.Status)
	}
	block, err = io.ReadAll(io.LimitReader(a.Body, blockSize+1))
	if err != nil {
		return nil, true, err
	}
	if len(block) > blockSize {
		return nil, false, fmt.Errorf("%s: more bytes than were asked for", r.address)
	}
	r.s.bytes.Add(int64(len(block)))
	if at == 0 {
		r.size = int64(len(block))
		if a.StatusCode == http.StatusPartialContent {
			_, total, _ := strings.Cut(a.Header.Get("Content-Range"), "/")
			if r.size, err = strconv.ParseInt(total, 10, 64); err != nil || r.size < 0 {
				return nil, false, fmt.Errorf("%s: the server does not say how large the file is", r.address)
			}
		}
	}
	return block, false, nil
}

// blockKey is a block of a file.
type blockKey struct {
	address string
	at      int64
}
