"""How Python ends itself."""
import sys

way = sys.argv[1]
if way == "abort":
    import os
    os.abort()
elif way == "fatal":
    import ctypes
    ctypes.pythonapi.Py_FatalError(b"why it ends")
elif way == "raise":
    import signal
    signal.raise_signal(signal.SIGSEGV)
