//go:build !js

package main

import (
	"os"
	"time"

	"github.com/crashpane/crashpane/walker/batch/database"
)

// keeper is the sink that keeps records in a database. It adds some files at a time, since each
// transaction waits for the disk; what a killed process had not added yet is read again by the next.
type keeper struct {
	db      *database.DB
	pending []database.Added
	since   time.Time
}

const (
	keptTogether = 500
	keptWithin   = 2 * time.Second
)

func openKeeper(path string) (sink, error) {
	db, err := database.Open(path)
	if err != nil {
		return nil, err
	}
	return &keeper{db: db, since: time.Now()}, nil
}

func (k *keeper) has(path string) (bool, error) {
	st, err := os.Stat(path)
	if err != nil {
		return false, nil // reading it says why
	}
	return k.db.Has(database.File{Path: path, Size: st.Size(), Modified: st.ModTime().Unix()})
}

func (k *keeper) put(d fileRecords) error {
	k.pending = append(k.pending, database.Added{File: database.File{Path: d.path, Size: d.size, Modified: d.modified}, Records: d.records})
	if len(k.pending) < keptTogether && time.Since(k.since) < keptWithin {
		return nil
	}
	return k.flush()
}

func (k *keeper) flush() error {
	err := k.db.Add(k.pending)
	k.pending, k.since = k.pending[:0], time.Now()
	return err
}

func (k *keeper) close() error {
	err := k.flush()
	if closeErr := k.db.Close(); err == nil {
		err = closeErr
	}
	return err
}
