//go:build !unix

package store

import "io/fs"

// links is how many names a file has: not known here, so that no content is removed.
func links(fs.FileInfo) uint64 { return 2 }
