# A Nim program that waits below a recursion, a closure and an exception's handler.
import os

var sink {.volatile.}: int

proc waitHere() {.noinline.} =
  echo "ready"
  flushFile(stdout)
  sleep(100_000_000)
  inc sink

proc recursion(n: int, last: proc (n: int)): int {.noinline.} =
  var local: array[10, int]
  local[n mod 10] = n
  if n == 0:
    last(n)
    return 0
  result = recursion(n - 1, last) + local[n mod 10]

proc fails(n: int) {.noinline.} =
  try:
    if n > 2:
      raise newException(ValueError, "three")
  except ValueError:
    var seen = n
    sink = recursion(30, proc (n: int) =
      seen += n
      waitHere()
      sink = seen)

fails(3)
inc sink
