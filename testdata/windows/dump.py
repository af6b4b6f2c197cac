# Runs app.exe in an emulator until it crashes, and writes a minidump of that moment: python3 dump.py app.exe app.dmp app-full.dmp. The first has
# the stack's memory, the second all of the process's, the program as the loader laid it out among it. Prints the return addresses that calls left
# on the stack, the youngest first, with the stack pointer of each caller.
import struct, sys
import unicorn as u
from unicorn import x86_const as x86

exe, small, full = sys.argv[1:]
data = open(exe, "rb").read()
u16 = lambda o: struct.unpack_from("<H", data, o)[0]
u32 = lambda o: struct.unpack_from("<I", data, o)[0]
u64 = lambda o: struct.unpack_from("<Q", data, o)[0]
pe = u32(60)
opt = pe + 24
base, size, stamp = u64(opt + 24), u32(opt + 56), u32(pe + 8)
image = bytearray(size)
image[: u32(opt + 60)] = data[: u32(opt + 60)]
for i in range(u16(pe + 6)):
    s = opt + u16(pe + 20) + 40 * i
    n = min(u32(s + 8), u32(s + 16))
    image[u32(s + 12) : u32(s + 12) + n] = data[u32(s + 20) : u32(s + 20) + n]
# The CodeView record, by the debug directory (the seventh).
debug, length = u32(opt + 112 + 48), u32(opt + 112 + 52)
for o in range(debug, debug + length, 28):
    if struct.unpack_from("<I", image, o + 12)[0] == 2:
        at, n = struct.unpack_from("<I", image, o + 20)[0], struct.unpack_from("<I", image, o + 16)[0]
        codeview = bytes(image[at : at + n])

# A system library calls the program; only its place is known here.
kernel, kernel_size = 0x7FF8_1234_0000, 0xB0000
back = kernel + 0x17344
top, room = 0x14_0010_0000, 0x10000
m = u.Uc(u.UC_ARCH_X86, u.UC_MODE_64)
m.mem_map(base, (size + 0xFFFF) & ~0xFFFF)
m.mem_write(base, bytes(image))
m.mem_map(top - room, room)
sp = top - 0x88
m.mem_write(sp, struct.pack("<Q", back))
m.reg_write(x86.UC_X86_REG_RSP, sp)
names = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
reg = {n: getattr(x86, "UC_X86_REG_" + n.upper()) for n in names}
for i, n in enumerate("rbx rbp rsi rdi r12 r13 r14 r15".split()):
    m.reg_write(reg[n], 0x1110000 + 16 * i)
fault, calls, last = [], [(back, sp + 8)], None


def step(_, address, n, __):
    global last
    now = m.reg_read(reg["rsp"])
    if last:
        at, length, was = last
        if bytes(m.mem_read(at, 1)) == b"\xe8" and address != at + length:
            calls.append((at + length, was))
        elif address == calls[-1][0] and now == calls[-1][1]:
            calls.pop()
    last = address, n, now


def unmapped(_, access, address, n, value, __):
    fault.append(address)
    return False


m.hook_add(u.UC_HOOK_CODE, step)
m.hook_add(u.UC_HOOK_MEM_READ_UNMAPPED, unmapped)
try:
    m.emu_start(base + u32(opt + 16), back, count=100000)
    sys.exit("the program did not crash")
except u.UcError:
    regs = {n: m.reg_read(reg[n]) for n in names}
regs["rip"] = last[0]
for ra, caller in calls[::-1]:
    print("%x %x" % (ra, caller))

context = bytearray(1232)
struct.pack_into("<I", context, 0x30, 0x10001F)
struct.pack_into("<6HI", context, 0x38, 0x33, 0x2B, 0x2B, 0x53, 0x2B, 0x2B, 0x10246)
for i, n in enumerate(names):
    struct.pack_into("<Q", context, 0x78 + 8 * i, regs[n])
low = regs["rsp"] & ~15
stack = bytes(m.mem_read(low, top - low))


def write(path, all_memory):
    out = bytearray()
    streams = []
    put = lambda b: (len(out), out.extend(b))[0]
    text = lambda s: put(struct.pack("<I", 2 * len(s)) + s.encode("utf-16le") + b"\0\0")
    put(bytes(32 + 12 * 6))
    ctx, stk, cv = put(context), put(stack), put(codeview)
    other = put(b"RSDS" + bytes(range(16, 32)) + struct.pack("<I", 1) + b"kernel32.pdb\0")
    csd = text("")
    streams.append((7, struct.pack("<HHHBBIIIIIHH", 9, 6, 0x5E03, 8, 1, 10, 0, 19045, 2, csd, 0x100, 0) + b"GenuineIntel" + bytes(12)))
    streams.append((3, struct.pack("<I", 1) + struct.pack("<IIIIQQIIII", 4711, 0, 0, 0, 0x7FF70000, low, len(stack), stk, len(context), ctx)))
    modules = b""
    for b, n, s, name, where, length in ((base, size, stamp, r"C:\shop\app.exe", cv, len(codeview)), (kernel, kernel_size, 0x5F5E10AB, r"C:\Windows\System32\kernel32.dll", other, 37)):
        modules += struct.pack("<QIIII", b, n, 0, s, text(name)) + bytes(52) + struct.pack("<IIII", length, where, 0, 0) + bytes(16)
    streams.append((4, struct.pack("<I", 2) + modules))
    exception = struct.pack("<IIQQII", 0xC0000005, 0, 0, regs["rip"], 2, 0) + struct.pack("<QQ", 0, fault[0]) + bytes(8 * 13)
    streams.append((6, struct.pack("<II", 4711, 0) + exception + struct.pack("<II", len(context), ctx)))
    # Age, process id and times of the process: the second word says which there are.
    streams.append((15, struct.pack("<IIIIII", 24, 3, 815, 1700000000, 0, 0)))
    if all_memory:
        # The memory comes last, in the order of its list.
        parts = [(low, stack), (base, bytes(m.mem_read(base, size)))]
        streams.append((9, None))
    else:
        streams.append((5, struct.pack("<IQII", 1, low, len(stack), stk)))
    directory = []
    for kind, content in streams:
        if content is None:
            at = len(out)
            content = struct.pack("<QQ", len(parts), at + 16 + 16 * len(parts)) + b"".join(struct.pack("<QQ", a, len(p)) for a, p in parts)
            directory.append((kind, len(content), put(content)))
            for _, p in parts:
                put(p)
            continue
        directory.append((kind, len(content), put(content)))
    out[:32] = struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, len(directory), 32, 0, 1700000100, 2 if all_memory else 0)
    for i, entry in enumerate(directory):
        struct.pack_into("<III", out, 32 + 12 * i, *entry)
    open(path, "wb").write(out)


write(small, False)
write(full, True)
