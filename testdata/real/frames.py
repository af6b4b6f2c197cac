# Threads of a Python program: deep in calls, in a callback of C code, in a lock, in a system call.
import ctypes
import functools
import threading
import time

arrived = threading.Semaphore(0)
lock = threading.Lock()


def wait_here():
    arrived.release()
    while True:
        time.sleep(1000)


def recursion(n):
    if n == 0:
        wait_here()
    return recursion(n - 1) + n


def sorting():
    calls = [0]

    def compare(a, b):
        calls[0] += 1
        if calls[0] == 3:
            wait_here()
        return a - b

    sorted([5, 3, 8, 1, 9, 2], key=functools.cmp_to_key(compare))


def native():
    comparison = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

    def compare(a, b):
        wait_here()
        return a[0] - b[0]

    numbers = (ctypes.c_int * 4)(4, 2, 3, 1)
    ctypes.CDLL(None).qsort(numbers, 4, 4, comparison(compare))


def blocked():
    arrived.release()
    lock.acquire()


lock.acquire()
for job in (lambda: recursion(50), sorting, native, blocked):
    threading.Thread(target=job, daemon=True).start()
for _ in range(4):
    arrived.acquire()
print("ready", flush=True)
time.sleep(1000)
