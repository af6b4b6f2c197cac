"""Writes what trace.py writes without gdb, which does not understand qemu's stub for loongarch64: it speaks the stub's protocol
itself, and keeps the callers by the calls and returns that it steps over.

	stub.py PORT NAME.elf OUT
"""
import gzip, json, socket, struct, subprocess, sys, time

port, elf, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
NAMES = "zero ra tp sp a0 a1 a2 a3 a4 a5 a6 a7 t0 t1 t2 t3 t4 t5 t6 t7 t8 x fp s0 s1 s2 s3 s4 s5 s6 s7 s8".split()
symbols = []
for line in subprocess.run(["nm", "-S", elf], capture_output=True, text=True).stdout.split("\n"):
    part = line.split()
    if len(part) == 4 and part[2] in "tT":
        symbols.append((int(part[0], 16), int(part[1], 16), part[3]))


def name(pc):
    return next((n for at, size, n in symbols if at <= pc < at + size), "")


for attempt in range(50):
    try:
        stub = socket.create_connection(("127.0.0.1", port))
        break
    except OSError:
        time.sleep(0.1)


def ask(text):
    stub.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
    got = b""
    while b"#" not in got or len(got.split(b"#", 1)[1]) < 2:
        got += stub.recv(65536)
    stub.sendall(b"+")
    return got.split(b"$", 1)[1].split(b"#")[0].decode()


def memory(at, size):
    return bytes.fromhex(ask("m%x,%x" % (at, size)))


done = next(at for at, size, n in symbols if n == "done")
steps, callers, top = {}, [], None
while True:
    regs = bytes.fromhex(ask("g"))
    values = struct.unpack("<32Q", regs[:256])
    # pc follows the first argument of a system call, which gdb calls orig_a0.
    pc, sp = struct.unpack("<Q", regs[264:272])[0], values[3]
    top = top or sp
    frames = [{"pc": pc, "sp": sp, "name": name(pc)}] + [{"pc": a, "sp": s, "name": name(a)} for a, s in reversed(callers)]
    if name(pc) != "_start" and (pc not in steps or len(steps[pc]["frames"]) < len(frames)):
        steps[pc] = {"pc": pc, "sp": sp, "regs": dict(zip(NAMES, values)), "at": sp, "stack": memory(sp, top + 64 - sp).hex(), "frames": frames}
    if pc == done:
        break
    word = struct.unpack("<I", memory(pc, 4))[0]
    if word >> 26 == 0x15 or word >> 26 == 0x13 and word & 31 == 1:
        callers.append((pc + 4, sp))
    elif word == 0x4C000020:
        callers.pop()
    ask("s")
steps = [steps[pc] for pc in sorted(steps)]
with gzip.GzipFile(out, "wb", 9, mtime=0) as z:
    z.write(json.dumps({"steps": steps}, separators=(",", ":")).encode())
print(out, len(steps), "steps, deepest", max(len(s["frames"]) for s in steps))
