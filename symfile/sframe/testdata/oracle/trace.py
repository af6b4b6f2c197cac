# Run by gdb: steps through the program and writes, for every instruction that is met for the first time, the registers, what
# the stack holds, and the callers that gdb finds by the program's .eh_frame.
import gdb, gzip, json, os

out = os.environ["OUT"]
gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set backtrace past-main on")
gdb.execute("target remote :" + os.environ["PORT"])
gdb.execute("break _start")
if "_start" not in (gdb.selected_frame().name() or ""):
    gdb.execute("continue")
ulong = gdb.lookup_type("unsigned long")
num = lambda v: int(v.cast(ulong)) & (1 << 64) - 1
arch = gdb.selected_frame().architecture()
names = [r.name for r in arch.registers("general")]
cpu = {"s390:64-bit": "s390x", "aarch64": "arm64"}.get(arch.name(), "amd64")
pc, sp, fp = {"s390x": ("pswa", "r15", "r11"), "arm64": ("pc", "sp", "x29"), "amd64": ("rip", "rsp", "rbp")}[cpu]
if cpu == "s390x":
    names = ["r%d" % i for i in range(16)] + ["pswa"] + ["f%d" % i for i in range(16)]
elif cpu == "arm64":
    names = ["x%d" % i for i in range(31)] + ["sp", "pc"]


def registers():
    """The registers' bits as the emulator sent them: no frame is needed for that, and no number is made of them."""
    found = {}
    for line in gdb.execute("maint print raw-registers", to_string=True).splitlines():
        words = line.split()
        if words and words[0] in names and words[-1].startswith("0x"):
            found[words[0]] = int(words[-1], 16)
    assert set(found) >= set(names) - {"fs_base", "gs_base", "k0"}, set(names) - set(found)
    return found


def function(address):
    said = gdb.execute("info symbol 0x%x" % address, to_string=True)
    return said.split()[0] if " in section " in said else "?"


def callers():
    """The frames above the newest one."""
    found, g = [], gdb.newest_frame().older()
    while g is not None and len(found) < 64:
        try:
            caller_fp = num(g.read_register(fp))
        except gdb.MemoryError:
            caller_fp = None
        found.append({"pc": g.pc(), "sp": num(g.read_register("sp")), "fp": caller_fp, "name": g.name() or "?"})
        if g.name() == "_start":
            break
        g = g.older()
    return found


top = registers()[sp] + 256
steps, entered = {}, {}
memory = gdb.selected_inferior()
for _ in range(20000):
    regs = registers()
    name = function(regs[pc])
    if name == "done":
        break
    if regs[pc] not in steps:
        frames = [{"pc": regs[pc], "sp": regs[sp], "fp": regs[fp], "name": name}]
        if name != "_start":
            try:
                above = callers()
            except gdb.error:
                # gdb finds no return address in a floating-point register. The callers are those that the leaf was entered with.
                above = entered[name]
            frames += above
            entered.setdefault(name, above)
        assert frames[-1]["name"] == "_start", frames
        # Of the stack the words that are not 0; whatever else lies between low and top is.
        low = (regs[sp] - 256) & ~7
        raw = bytes(memory.read_memory(low, top - low))
        words = {}
        for i in range(0, len(raw), 8):
            if any(raw[i:i + 8]):
                words["%x" % (low + i)] = int.from_bytes(raw[i:i + 8], "big" if cpu == "s390x" else "little")
        steps[regs[pc]] = {"pc": regs[pc], "regs": regs, "low": low, "top": top, "words": words, "frames": frames}
    try:
        gdb.execute("stepi", to_string=True)
    except gdb.error:
        pass  # for the same reason, when the step is done
steps = [steps[at] for at in sorted(steps)]
with gzip.GzipFile(out, "wb", 9, mtime=0) as z:
    z.write(json.dumps({"cpu": cpu, "steps": steps}, separators=(",", ":")).encode())
print(out, len(steps), "steps, deepest", max(len(s["frames"]) for s in steps))
gdb.execute("kill")
