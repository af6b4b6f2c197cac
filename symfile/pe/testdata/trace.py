# Runs the function run of a PE file, or one at an address, in an emulator and writes, for every instruction that is met (in its deepest stack), the registers, the
# words of the stack, and the callers as the calls made them: the return address, the stack pointer after the return, and the registers
# that calls preserve as they were at the call.
import gzip, json, struct, sys
from program import CPU, Program
from unicorn import UC_HOOK_CODE

program = Program(sys.argv[1])
machine, base = program.machine, program.base
export = program.directory(0)[0]
names = [bytes(program.image[program.u32(program.u32(export + 32) + 4 * i) :]).split(b"\0")[0] for i in range(program.u32(export + 24))]
which = program.u16(program.u32(export + 36) + 2 * names.index(b"run"))
start = base + program.u32(program.u32(export + 28) + 4 * which)
if len(sys.argv) > 3:  # code of another processor than the header's, and where it begins
    machine = program.machine = int(sys.argv[3], 0)
    start = base + int(sys.argv[4], 0)
cpu = CPU(machine)
word, pc, sp, regs, saved, lr = cpu.word, cpu.pc, cpu.sp, cpu.regs, cpu.saved, cpu.lr

top, room, end = 0x70100000, 0x100000, 0x60000000
m = program.emulator(cpu, top, room)
m.mem_map(end, 0x1000)
for i, n in enumerate(saved):
    m.reg_write(regs[n], 0x1110000 + 16 * i)
if machine == 0x14c:
    m.mem_write(top, struct.pack("<I", 3))
    m.reg_write(sp, top - 4)
    m.mem_write(top - 4, struct.pack("<I", end))
else:
    m.reg_write(regs[{0x8664: "rcx", 0xaa64: "x0", 0x1c4: "r0"}[machine]], 3)
if machine == 0x14c:
    pass
elif lr:
    m.reg_write(sp, top)
    m.reg_write(regs[lr], end)
else:
    m.reg_write(sp, top - 8)
    m.mem_write(top - 8, struct.pack("<Q", end))
preserved = lambda: {n: m.reg_read(regs[n]) for n in saved}
stack = [{"pc": end, "sp": top, "regs": preserved()}]
steps, last = {}, None


def is_call(code):
    if machine == 0xaa64:
        w = struct.unpack("<I", code)[0]
        return w & 0xfc000000 == 0x94000000 or w & 0xfffffc1f == 0xd63f0000
    if machine == 0x1c4:
        h = struct.unpack("<%dH" % (len(code) // 2), code)
        return len(h) == 2 and h[0] & 0xf800 == 0xf000 and h[1] & 0xd000 == 0xd000 or h[0] & 0xff87 == 0x4780
    return code[0] == 0xe8 or code[0] == 0xff and code[1] >> 3 & 7 == 2 or machine == 0x8664 and 0x40 <= code[0] < 0x50 and code[1] == 0xff and code[2] >> 3 & 7 == 2


def step(_, address, n, __):
    global last
    now = m.reg_read(sp)
    if last:
        at, length, was, kept = last
        code = bytes(m.mem_read(at, length))
        if is_call(code) and address != at + length:
            stack.append({"pc": at + length, "sp": was, "regs": kept})
        elif stack and address == stack[-1]["pc"] and (now == stack[-1]["sp"] or machine == 0x14c and code[0] == 0xff):  # _chkstk of x86 jumps back
            stack.pop()
    if address not in steps or len(steps[address]["callers"]) < len(stack):
        bytes_ = m.mem_read(now, top - now)
        words = struct.unpack_from("<%d%s" % (len(bytes_) // word, "Q" if word == 8 else "I"), bytes_)
        steps[address] = {"pc": address, "sp": now, "regs": {k: m.reg_read(r) for k, r in regs.items()}, "callers": stack[::-1],
                          "words": {"%x" % (now + word * i): w for i, w in enumerate(words) if w}}
    last = address, n, now, preserved()


m.hook_add(UC_HOOK_CODE, step)
m.emu_start(start | (machine == 0x1c4), end, count=100000)
if m.reg_read(pc) != end:
    sys.exit("the program did not come to its end")
with gzip.GzipFile(sys.argv[2], "wb", 9, mtime=0) as z:
    z.write(json.dumps({"base": base, "top": top, "steps": [steps[a] for a in sorted(steps)]}, separators=(",", ":")).encode())
print(sys.argv[2], len(steps), "instructions, deepest", max(len(s["callers"]) for s in steps.values()))
