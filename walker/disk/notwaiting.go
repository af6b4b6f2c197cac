//go:build unix

package disk

import "syscall"

// notWaiting is the flag with which a FIFO opens at once.
const notWaiting = syscall.O_NONBLOCK
