//go:build !js

// Package database keeps the records of dumps in a file of SQLite. It is not part of the page, for
// which SQLite cannot be compiled.
package database

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/crashpane/crashpane/walker/batch"
)

// Version is the version of the schema, in the table meta. A file of another version is refused.
const Version = 1

// schema is documented in docs/COMMAND.md.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
	path     TEXT PRIMARY KEY, -- of the file on disk: a dump, or an archive of dumps
	size     INTEGER NOT NULL,
	modified INTEGER NOT NULL  -- seconds since 1970, UTC
) WITHOUT ROWID;
CREATE TABLE dumps (
	id                TEXT PRIMARY KEY, -- equal for equal dumps
	file              TEXT NOT NULL,    -- the first with these bytes, in an archive after its name
	size              INTEGER NOT NULL,
	time              INTEGER,          -- seconds since 1970, UTC
	uptime            INTEGER,          -- seconds
	process           TEXT, product TEXT, version TEXT, os TEXT, cpu TEXT,
	reason            TEXT,
	verdict           TEXT NOT NULL,
	address_signature TEXT,
	signature         TEXT,
	record            TEXT NOT NULL     -- the line of crashpane batch
) WITHOUT ROWID;
CREATE INDEX dumps_signature ON dumps (signature);
CREATE INDEX dumps_address_signature ON dumps (address_signature);
CREATE TABLE frames (
	dump     TEXT NOT NULL REFERENCES dumps (id),
	thread   INTEGER NOT NULL, -- 0 is the one that crashed
	position INTEGER NOT NULL, -- 0 is the innermost
	function TEXT, module TEXT, file TEXT,
	line     INTEGER,
	offset   INTEGER NOT NULL, -- from the module's start
	inline   INTEGER NOT NULL,
	trust    TEXT NOT NULL,
	PRIMARY KEY (dump, thread, position)
) WITHOUT ROWID;
CREATE INDEX frames_function ON frames (function);
CREATE TABLE errors (file TEXT PRIMARY KEY, error TEXT NOT NULL) WITHOUT ROWID;
CREATE VIEW groups AS
	SELECT signature, count(*) AS dumps, min(time) AS first, max(time) AS last, count(DISTINCT version) AS versions, min(reason) AS reason, min(process) AS process
	FROM dumps WHERE signature IS NOT NULL GROUP BY signature;
`

// DB is a file with records. Several goroutines may use it.
type DB struct{ db *sql.DB }

// Open opens a file, or makes it.
func Open(path string) (*DB, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &DB{db}
	if err := d.prepare(); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// prepare makes the tables of a new file, and checks the version of another.
func (d *DB) prepare() error {
	// With a write-ahead log a transaction that was cut off is undone by the next one who opens the file.
	for _, pragma := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA busy_timeout = 10000"} {
		if _, err := d.db.Exec(pragma); err != nil {
			return err
		}
	}
	tx, err := d.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	tables := 0
	if err := tx.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		if _, err := tx.Exec(schema+"INSERT INTO meta VALUES ('schema', ?)", Version); err != nil {
			return err
		}
		return tx.Commit()
	}
	version := ""
	if err := tx.QueryRow("SELECT value FROM meta WHERE key = 'schema'").Scan(&version); err != nil {
		return fmt.Errorf("not a file of crashpane batch: %w", err)
	}
	if version != fmt.Sprint(Version) {
		return fmt.Errorf("its schema has version %s, this command writes version %d; write to another file", version, Version)
	}
	return nil
}

// Close closes the file.
func (d *DB) Close() error { return d.db.Close() }

// File is a file on disk, as it was when it was read.
type File struct {
	Path           string
	Size, Modified int64
}

// Has reports whether a file was added as it is now.
func (d *DB) Has(f File) (bool, error) {
	n := 0
	err := d.db.QueryRow("SELECT count(*) FROM files WHERE path = ? AND size = ? AND modified = ?", f.Path, f.Size, f.Modified).Scan(&n)
	return n > 0, err
}

// Added is a file and its records.
type Added struct {
	File    File
	Records []batch.Record
}

// Add adds files, all or none of them. A dump that is there, by its id, stays as it is.
func (d *DB) Add(files []Added) error {
	tx, err := d.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range files {
		f := &files[i].File
		if _, err := tx.Exec("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", f.Path, f.Size, f.Modified); err != nil {
			return err
		}
		for k := range files[i].Records {
			if err := add(tx, &files[i].Records[k]); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func add(tx *sql.Tx, r *batch.Record) error {
	if r.Error != "" {
		_, err := tx.Exec("INSERT OR REPLACE INTO errors VALUES (?, ?)", r.Name, r.Error)
		return err
	}
	var line bytes.Buffer
	if err := batch.WriteJSON(&line, r); err != nil {
		return err
	}
	var time any
	if r.Time != 0 {
		time = r.Time
	}
	done, err := tx.Exec("INSERT OR IGNORE INTO dumps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", r.ID, text(r.Name), r.Size, time, r.Uptime, null(r.Process), null(r.Product),
		null(r.Version), null(r.OS), null(r.CPU), null(r.Reason), text(r.Verdict), null(r.AddressSignature), null(r.Signature), strings.TrimSuffix(line.String(), "\n"))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return err
	}
	for t := range r.Threads {
		for i := range r.Threads[t].Frames {
			f := &r.Threads[t].Frames[i]
			var line any
			if f.Line != 0 {
				line = f.Line
			}
			if _, err := tx.Exec("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", r.ID, t, i, null(f.Function), null(f.Module), null(f.File), line, int64(f.Offset), f.Inline, f.Trust); err != nil {
				return err
			}
		}
	}
	return nil
}

// text is a text of a dump, which may not be UTF-8.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// null is a text, or NULL for "".
func null(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}

// Groups calls fn for each signature, those with the most dumps first, and returns how many dumps
// there are, how many without a crash, and how many files are not dumps.
func (d *DB) Groups(fn func(g *batch.Group) error) (dumps, without, errors int, err error) {
	for _, count := range []struct {
		of string
		to *int
	}{{"dumps", &dumps}, {"dumps WHERE signature IS NULL", &without}, {"errors", &errors}} {
		if err := d.db.QueryRow("SELECT count(*) FROM " + count.of).Scan(count.to); err != nil {
			return 0, 0, 0, err
		}
	}
	rows, err := d.db.Query("SELECT signature, dumps, first, last, versions, coalesce(reason, ''), coalesce(process, '') FROM groups ORDER BY dumps DESC, last DESC, signature")
	if err != nil {
		return 0, 0, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var g batch.Group
		var first, last sql.NullInt64
		if err := rows.Scan(&g.Signature, &g.Dumps, &first, &last, &g.Versions, &g.Reason, &g.Process); err != nil {
			return 0, 0, 0, err
		}
		g.First, g.Last = uint32(first.Int64), uint32(last.Int64)
		if err := fn(&g); err != nil {
			return 0, 0, 0, err
		}
	}
	return dumps, without, errors, rows.Err()
}
