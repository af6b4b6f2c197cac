#!/usr/bin/env python3
"""Links one 32-bit Mach-O object, for which no free linker exists: link.py OBJECT PROGRAM MAP TRIPLE.

PROGRAM has the object's functions in reverse order, their bytes as they are in the object (calls lead
nowhere), a symbol table and the debug map. MAP is that debug map for `dsymutil -y`.
"""
import struct, sys

path, program, mapfile, triple = sys.argv[1:]
data = open(path, "rb").read()
magic, cputype, cpusubtype, filetype, ncmds, size, flags = struct.unpack_from("<7I", data)
sections, at = [], 28
for _ in range(ncmds):
    cmd, cmdsize = struct.unpack_from("<2I", data, at)
    if cmd == 1:
        for i in range(struct.unpack_from("<I", data, at + 48)[0]):
            name, _, addr, length, off = struct.unpack_from("<16s16s3I", data, at + 56 + 68 * i)
            sections.append((name.rstrip(b"\0"), addr, length, off))
    if cmd == 2:
        symoff, nsyms, stroff, _ = struct.unpack_from("<4I", data, at + 8)
    at += cmdsize
symbols = []
for i in range(nsyms):
    strx, kind, sect, desc, value = struct.unpack_from("<IBBHI", data, symoff + 12 * i)
    if kind & 0x0e == 0x0e and sections[sect - 1][0] == b"__text":
        end = data.index(b"\0", stroff + strx)
        symbols.append((value, data[stroff + strx:end], kind, desc))
symbols.sort()
_, text, length, off = sections[0]
base, code, funcs = 0x4000, b"", []
for i in reversed(range(len(symbols))):
    value, name, kind, desc = symbols[i]
    n = (symbols[i + 1][0] if i + 1 < len(symbols) else text + length) - value
    code += b"\0" * (-len(code) % 16)
    funcs.append((name, value, base + 0x1000 + len(code), n, kind, desc))
    code += data[off + value - text:off + value - text + n]

strings, entries = b"\0", b""
def entry(name, kind, sect, desc, value):
    global strings, entries
    at = len(strings) if name else 0
    if name:
        strings += name + b"\0"
    entries += struct.pack("<IBBHI", at, kind, sect, desc, value)
entry(b"/src/", 0x64, 0, 0, 0)
entry(b"b.cc", 0x64, 0, 0, 0)
entry(path.encode(), 0x66, 0, 1, 0)
for name, _, addr, n, _, _ in funcs:
    entry(name, 0x24, 1, 0, addr)
    entry(b"", 0x24, 0, 0, n)
entry(b"", 0x64, 1, 0, 0)
stabs = len(entries) // 12
for name, _, addr, _, kind, desc in funcs:
    entry(name, kind, 1, desc, addr)
count = len(entries) // 12
symat = 0x1000 + len(code)
segment = struct.pack("<2I16s8I", 1, 56 + 68, b"__TEXT", base, 0x1000 + (len(code) + 0xfff & ~0xfff), 0, 0x1000 + len(code), 5, 5, 1, 0)
segment += struct.pack("<16s16s9I", b"__text", b"__TEXT", base + 0x1000, len(code), 0x1000, 4, 0, 0, 0x80000400, 0, 0)
linkedit = struct.pack("<2I16s8I", 1, 56, b"__LINKEDIT", base + 0x10000, 0x1000, symat, len(entries) + len(strings), 1, 1, 0, 0)
symtab = struct.pack("<6I", 2, 24, symat, count, symat + len(entries), len(strings))
dysymtab = struct.pack("<20I", 0xb, 80, 0, count, *([0] * 16))
uuid = struct.pack("<2I", 0x1b, 24) + bytes(range(16))
commands = segment + linkedit + symtab + dysymtab + uuid
head = struct.pack("<7I", magic, cputype, cpusubtype, 2, 5, len(commands), 0x85) + commands
open(program, "wb").write(head + b"\0" * (0x1000 - len(head)) + code + entries + strings)
with open(mapfile, "w") as f:
    f.write(f"---\ntriple: '{triple}'\nobjects:\n  - filename: {path}\n    symbols:\n")
    for name, value, addr, n, _, _ in funcs:
        f.write(f"      - {{ sym: {name.decode()}, objAddr: 0x{value:x}, binAddr: 0x{addr:x}, size: 0x{n:x} }}\n")
