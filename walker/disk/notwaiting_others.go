//go:build !unix

package disk

// notWaiting is 0 where there are no FIFOs among the files.
const notWaiting = 0
