//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// links is how many names a file has.
func links(st fs.FileInfo) uint64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 2
}
