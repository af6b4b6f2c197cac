# Runs the function run of a PE file, or one at an address, in an emulator and writes, for every instruction that is met (in its deepest stack), the registers, the
# words of the stack, and the callers as the calls made them: the return address, the stack pointer after the return, and the registers
# that calls preserve as they were at the call.
import gzip, json, struct, sys
import unicorn as u
from unicorn import arm64_const as a64, arm_const as a32, x86_const as x86

data = open(sys.argv[1], "rb").read()
u16 = lambda o: struct.unpack_from("<H", data, o)[0]
u32 = lambda o: struct.unpack_from("<I", data, o)[0]
pe = u32(60)
machine, opt = u16(pe + 4), pe + 24
wide = u16(opt) == 0x20b
base = struct.unpack_from("<Q", data, opt + 24)[0] if wide else u32(opt + 28)
size, dirs = u32(opt + 56), opt + (112 if wide else 96)
image = bytearray(size)
image[: u32(opt + 60)] = data[: u32(opt + 60)]
for i in range(u16(pe + 6)):
    s = opt + u16(pe + 20) + 40 * i
    n = min(u32(s + 8), u32(s + 16))
    image[u32(s + 12) : u32(s + 12) + n] = data[u32(s + 20) : u32(s + 20) + n]
i32 = lambda o: struct.unpack_from("<I", image, o)[0]
export = u32(dirs)
names = [bytes(image[i32(i32(export + 32) + 4 * i) :]).split(b"\0")[0] for i in range(i32(export + 24))]
which = struct.unpack_from("<H", image, i32(export + 36) + 2 * names.index(b"run"))[0]
start = base + i32(i32(export + 28) + 4 * which)
if len(sys.argv) > 3:  # code of another processor than the header's, and where it begins
    machine, start = int(sys.argv[3], 0), base + int(sys.argv[4], 0)

if machine == 0x8664:
    arch, word, (pc, sp) = (u.UC_ARCH_X86, u.UC_MODE_64), 8, (x86.UC_X86_REG_RIP, x86.UC_X86_REG_RSP)
    regs = {n: getattr(x86, "UC_X86_REG_" + n.upper()) for n in "rax rcx rdx rbx rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()}
    saved = "rbx rbp rsi rdi r12 r13 r14 r15".split()
elif machine == 0x14c:
    arch, word, (pc, sp) = (u.UC_ARCH_X86, u.UC_MODE_32), 4, (x86.UC_X86_REG_EIP, x86.UC_X86_REG_ESP)
    regs = {n: getattr(x86, "UC_X86_REG_" + n.upper()) for n in "eax ecx edx ebx ebp esi edi".split()}
    saved = "ebx ebp esi edi".split()
elif machine == 0xaa64:
    arch, word, (pc, sp) = (u.UC_ARCH_ARM64, u.UC_MODE_ARM), 8, (a64.UC_ARM64_REG_PC, a64.UC_ARM64_REG_SP)
    regs = {"x%d" % i: getattr(a64, "UC_ARM64_REG_X%d" % i) for i in range(31)}
    saved = ["x%d" % i for i in range(19, 30)]
else:
    arch, word, (pc, sp) = (u.UC_ARCH_ARM, u.UC_MODE_THUMB), 4, (a32.UC_ARM_REG_PC, a32.UC_ARM_REG_SP)
    regs = {"r%d" % i: getattr(a32, "UC_ARM_REG_R%d" % i) for i in range(13)}
    regs["lr"] = a32.UC_ARM_REG_LR
    saved = ["r%d" % i for i in range(4, 12)]
lr = {0xaa64: "x30", 0x1c4: "lr"}.get(machine)

m = u.Uc(*arch)
m.mem_map(base, (size + 0xffff) & ~0xffff)
m.mem_write(base, bytes(image))
top, room, end = 0x70100000, 0x100000, 0x60000000
m.mem_map(top - room, room + 0x1000)
m.mem_map(end, 0x1000)
if machine == 0xaa64:
    m.reg_write(a64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
if machine == 0x1c4:
    m.reg_write(a32.UC_ARM_REG_C1_C0_2, m.reg_read(a32.UC_ARM_REG_C1_C0_2) | 0xf << 20)
    m.reg_write(a32.UC_ARM_REG_FPEXC, 0x40000000)
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


m.hook_add(u.UC_HOOK_CODE, step)
m.emu_start(start | (machine == 0x1c4), end, count=100000)
if m.reg_read(pc) != end:
    sys.exit("the program did not come to its end")
with gzip.GzipFile(sys.argv[2], "wb", 9, mtime=0) as z:
    z.write(json.dumps({"base": base, "top": top, "steps": [steps[a] for a in sorted(steps)]}, separators=(",", ":")).encode())
print(sys.argv[2], len(steps), "instructions, deepest", max(len(s["callers"]) for s in steps.values()))
