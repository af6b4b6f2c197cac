// Package database is empty here: SQLite cannot be compiled for js/wasm.
package database
