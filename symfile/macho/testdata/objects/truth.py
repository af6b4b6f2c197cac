#!/usr/bin/env python3
"""Prints what llvm-symbolizer says about each address of a Mach-O file's __text: truth.py FILE BINARY.

A line is "ADDRESS NAME FILE:LINE < NAME FILE:LINE …", innermost call first, for each address where that
changes.
"""
import json, re, subprocess, sys

dwarf, binary = sys.argv[1:]
headers = subprocess.run(["llvm-objdump-22", "-h", binary], capture_output=True, text=True, check=True).stdout
size, start = (int(x, 16) for x in re.search(r"__text\s+([0-9a-f]+)\s+([0-9a-f]+)", headers).groups())
asked = "\n".join(hex(a) for a in range(start, start + size))
out = subprocess.run(["llvm-symbolizer-22", "--no-demangle", "--output-style=JSON", "--obj=" + dwarf], input=asked, capture_output=True, text=True, check=True).stdout
last = None
for line in out.splitlines():
    answer = json.loads(line)
    frames = " < ".join(f"{s['FunctionName'] if s['FileName'] else ''} {s['FileName']}:{s['Line']}" for s in answer["Symbol"])
    if frames != last:
        print(f"{int(answer['Address'], 16):x} {frames}")
    last = frames
