# Runs the functions of any PE file for x64 or arm64 in an emulator, each some times on random paths, and writes, for every instruction
# that is met, the registers, the words of the stack, and the caller, in the form of trace.py. Compilers write unwind information in
# more ways than our own programs have: TestTracesPE reads what is in the folder $CRASHPANE_TRACES.
#
#     python3 functions.py FILE [FUNCTIONS [RUNS]]        writes FILE.json.gz; needs unicorn, capstone
#
# Calls are left out, and conditional jumps go either way at random. A run is used only if it ends in a return, or in a jump to another
# function, with the stack pointer and the preserved registers of its start: then its path was one that the compiler has meant.
import gzip, json, random, struct, sys
import capstone as c, unicorn as u
from program import CPU, Program

path, most, runs = sys.argv[1], int((sys.argv[2:] or [600])[0]), int((sys.argv[3:] or [12])[0])
program = Program(path)
base, image, u32 = program.base, program.image, program.u32
x64 = program.machine == 0x8664
cpu = CPU(program.machine)
pc, sp, regs, saved = cpu.pc, cpu.sp, cpu.regs, cpu.saved
lr = regs[cpu.lr] if cpu.lr else None
decoder = c.Cs(c.CS_ARCH_X86, c.CS_MODE_64) if x64 else c.Cs(c.CS_ARCH_ARM64, c.CS_MODE_ARM)


# A part of a function that was moved away, or that alone stores registers, begins in the middle of a frame.
def is_part(off):
    if x64:
        return bool(image[u32(off + 8)] & 0x20)  # chained
    word = u32(off + 4)
    if word & 3:
        return word & 3 != 1
    head, codes = u32(word), word + 4
    scopes, words = head >> 22 & 31, head >> 27
    if not scopes and not words:
        scopes, codes = u32(codes) & 0xffff, codes + 4
    return image[codes + (0 if head >> 21 & 1 else 4 * scopes)] == 0xe5  # end_c


table, length = program.directory(3)
functions = [u32(off) for off in range(table, table + length, 12 if x64 else 8) if u32(off) and not is_part(off)]
starts = {base + f for f in functions}

room, top, end, args = 0x40000, 0x70100000, 0x60000000, 0x50000000
above = 0x200  # the callers' frames, in which functions of x64 keep their parameters
m = program.emulator(cpu, top, room)
m.mem_map(end, 0x1000)
m.mem_map(args, 0x10000)
entry = top - 8 if x64 else top  # the stack pointer when a function begins
pages, smashed = set(), False


def missing(_, kind, address, n, value, __):  # memory that a function wants to have
    if len(pages) < 4000 and address & ~0xfff not in pages:
        pages.add(address & ~0xfff)
        try:
            m.mem_map(address & ~0xfff, 0x2000)
        except u.UcError:
            return False
        return True
    return False


def wrote(_, kind, address, n, value, __):
    global smashed
    smashed = smashed or x64 and entry - n < address < top


m.hook_add(u.UC_HOOK_MEM_READ_UNMAPPED | u.UC_HOOK_MEM_WRITE_UNMAPPED, missing)
m.hook_add(u.UC_HOOK_MEM_WRITE, wrote)
decoded = {}


def decode(address):
    if address not in decoded:
        off = address - base
        code = bytes(image[off : off + 16]) if 0 <= off < len(image) else b""
        decoded[address] = next(iter(decoder.disasm(code, address, 1)), None)
    return decoded[address]


def target(i):
    try:
        return int(i.op_str.split("#")[-1], 16)
    except ValueError:
        return None


CALL, JUMP, BRANCH, RETURN, STOP, PLAIN = range(6)


def kind(i):
    name = i.mnemonic.removeprefix("bnd ")
    if x64:
        if name == "call":
            return CALL
        if name in ("ret", "int3", "int", "ud2", "hlt", "syscall"):
            return RETURN if name == "ret" else STOP
        return JUMP if name == "jmp" else BRANCH if name.startswith("j") else PLAIN
    if name.startswith("bl"):
        return CALL
    if name.startswith("b.") or name in ("cbz", "cbnz", "tbz", "tbnz"):
        return BRANCH
    if name.startswith("ret") or name in ("brk", "hlt", "udf", "svc"):
        return RETURN if name.startswith("ret") else STOP
    return JUMP if name in ("b", "br", "braa", "brab") else PLAIN


# Runs on from an address until a return, or a jump out of the function. Returns how it ended, and the instructions with their state.
def follow(at, limit):
    trail = []
    for _ in range(limit):
        i, now = decode(at), m.reg_read(sp)
        if i is None or not top - room + 0x1000 < now <= top or smashed:
            break
        trail.append((at, now, {n: m.reg_read(r) for n, r in regs.items()}, bytes(m.mem_read(now, top + above - now))))
        after, what = at + i.size, kind(i)
        if what == RETURN or what == JUMP and (target(i) is None or target(i) in starts):
            return what, trail
        if what == STOP:
            break
        if what == CALL and target(i) is not None and moves_sp(target(i)):
            m.reg_write(lr, after)
            follow(target(i), 16)
            at = after
        elif what == CALL:
            if lr:
                m.reg_write(lr, after)
            at = after
        elif what == JUMP:
            at = target(i)
        elif what == BRANCH:
            at = target(i) if random.random() < 0.5 else after
        else:
            try:
                m.emu_start(at, after, count=1)
                at = m.reg_read(pc)
            except u.UcError:  # it reads what cannot be there: left out
                at = after
    return STOP, trail


# Helpers that push the stack's cookie, or pop it, return with another stack pointer (arm64).
helpers = {}


def moves_sp(address):
    if x64:
        return False
    if address not in helpers:
        helpers[address] = False
        before, kept = m.reg_read(sp), m.context_save()
        m.reg_write(sp, top - 0x1000)
        how, _ = follow(address, 16)
        helpers[address] = how == RETURN and m.reg_read(sp) != top - 0x1000
        m.context_restore(kept)
    return helpers[address]


steps, used = {}, 0
random.seed(1)
start_regs = {n: 0x1110000 + 16 * i for i, n in enumerate(saved)}
for f in random.sample(functions, min(most, len(functions))):
    for _ in range(runs):
        smashed = False
        for n, r in regs.items():
            m.reg_write(r, start_regs.get(n, random.choice((0, 1, 3, args, args + 0x4000))))
        m.reg_write(sp, entry)
        if lr:
            m.reg_write(lr, end)
        else:
            m.mem_write(entry, struct.pack("<Q", end))
        how, trail = follow(base + f, 400)
        back = m.reg_read(lr) if lr else struct.unpack("<Q", m.mem_read(entry, 8))[0]
        if how != STOP and m.reg_read(sp) == entry and back == end and start_regs == {n: m.reg_read(regs[n]) for n in saved}:
            used += 1
            for one in trail:
                steps.setdefault(one[0], one)

caller = {"pc": end, "sp": top, "regs": start_regs}
out = []
for address in sorted(steps):
    _, now, values, stack = steps[address]
    words = struct.unpack("<%dQ" % (len(stack) // 8), stack[: len(stack) & ~7])
    out.append({"pc": address, "sp": now, "regs": values, "callers": [caller], "words": {"%x" % (now + 8 * i): w for i, w in enumerate(words) if w}})
with gzip.GzipFile(path + ".json.gz", "wb", 9, mtime=0) as z:
    z.write(json.dumps({"base": base, "top": top + above, "steps": out}, separators=(",", ":")).encode())
print(path, len(functions), "functions,", used, "runs used,", len(out), "instructions")
