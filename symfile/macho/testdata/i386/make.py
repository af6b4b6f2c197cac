# Writes BreakpadTest, right.dwarf and swapped.dwarf from t.o and t.dwarf: see make.sh.
import struct
UUID = bytes.fromhex("11223344556677880102030405060708")
BASE, CAUSE, CRASH, RELEASE = 0x1000, 0x2930, 0x2f00, 0x2ff0


def sections(data):  # of a 32-bit file: name, address, size, offset
    at = 28
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        cmd, size = struct.unpack_from("<II", data, at)
        for i in range(struct.unpack_from("<I", data, at + 48)[0] if cmd == 1 else 0):
            s = at + 56 + 68 * i
            yield data[s : s + 16].rstrip(b"\0"), *struct.unpack_from("<III", data, s + 32)
        at += size


# The program: the two functions at their places, and one that returns. Calls are linked by hand.
data = open("t.o", "rb").read()
_, _, size, off = next(s for s in sections(data) if s[0] == b"__text")
code = bytearray(data[off : off + size])
image = bytearray(0x2000)
image[RELEASE - BASE] = 0xc3
image[CAUSE - BASE : CAUSE - BASE + 0x4f] = code[:0x4f]
image[CRASH - BASE : CRASH - BASE + size - 0x50] = code[0x50:]
for at, to in ((CAUSE + 0x22, RELEASE), (CAUSE + 0x43, RELEASE), (CRASH + 0x51, CAUSE), (CRASH + 0x5f, RELEASE)):
    assert image[at - 1 - BASE] == 0xe8, hex(at)
    struct.pack_into("<i", image, at - BASE, to - at - 4)
text = struct.pack("<II16sIIIIiiII", 1, 56 + 68, b"__TEXT", BASE, 0x2000, 0, 0x2000, 5, 5, 1, 0)
text += struct.pack("<16s16s9I", b"__text", b"__TEXT", CAUSE, RELEASE + 1 - CAUSE, CAUSE - BASE, 4, 0, 0, 0x80000400, 0, 0)
commands = text + struct.pack("<II16s", 0x1b, 24, UUID)
header = struct.pack("<7I", 0xfeedface, 7, 3, 2, 2, len(commands), 0x85)
image[: len(header + commands)] = header + commands
open("BreakpadTest", "wb").write(image)

# The dSYM: without a program dsymutil writes an object file, with neither LC_UUID nor __TEXT.
dsym = bytearray(open("t.dwarf", "rb").read())
count, n = struct.unpack_from("<II", dsym, 16)
assert count == 1
more = struct.pack("<II16sIIIIiiII", 1, 56, b"__TEXT", BASE, 0x2000, 0, 0, 5, 5, 0, 0) + struct.pack("<II16s", 0x1b, 24, UUID)
for at in [28 + 32] + [28 + 56 + 68 * i + 40 for i in range(struct.unpack_from("<I", dsym, 28 + 48)[0])]:  # the segment's and its sections' offsets
    struct.pack_into("<I", dsym, at, struct.unpack_from("<I", dsym, at)[0] + len(more))
struct.pack_into("<16s", dsym, 28 + 8, b"__DWARF")
struct.pack_into("<III", dsym, 12, 10, 3, n + len(more))  # MH_DSYM
dsym[28 + n : 28 + n] = more
open("right.dwarf", "wb").write(dsym)

# DW_CFA_def_cfa: 0c register offset; DW_CFA_def_cfa_register: 0d register; DW_CFA_offset: 80 + register.
_, _, size, off = next(s for s in sections(dsym) if s[0] == b"__debug_frame")
frame, swap = dsym[off : off + size], {4: 5, 5: 4}
at = 0
while at < size:
    length, cie = struct.unpack_from("<Ii", frame, at)
    end, p = at + 4 + length, at + (15 if cie == -1 else 16)  # a CIE of version 4 has "", two sizes, factors, the return address's column
    while p < end:
        op = frame[p]
        if op in (0x0c, 0x0d):
            frame[p + 1] = swap[frame[p + 1]]
        elif op & 0xc0 == 0x80:
            frame[p] = 0x80 + swap.get(op & 63, op & 63)
        p += {0x0c: 3, 0x0d: 2, 0x0e: 2}.get(op, 2 if op & 0xc0 == 0x80 else 1)
    at = end
dsym[off : off + size] = frame
open("swapped.dwarf", "wb").write(dsym)
