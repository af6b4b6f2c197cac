# Run by gdb: steps through the program and writes, for every instruction that is met for the first time (in its deepest stack),
# the registers, the stack, and the callers that gdb finds by the program's .eh_frame.
import gdb, gzip, json, os

out = os.environ["OUT"]
gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set backtrace past-main on")
gdb.execute("target remote :" + os.environ["PORT"])
gdb.execute("break _start")
if "_start" not in (gdb.selected_frame().name() or ""):
    gdb.execute("continue")
# The names of ppc64's code have a dot before them; those without are of descriptors.
name = lambda f: (f.name() or "?").lstrip(".")
num = lambda v: int(v.cast(gdb.lookup_type("unsigned long"))) & (1 << 64) - 1
val = lambda name: num(gdb.parse_and_eval("$" + name))
top = val("sp") + 128
names = [r.name for r in gdb.selected_frame().architecture().registers("general")]
steps = {}
memory = gdb.selected_inferior()
for _ in range(4000):
    f = gdb.newest_frame()
    if name(f) == "done":
        break
    pc, sp = f.pc(), val("sp")
    frames = []
    g = f
    while g is not None and len(frames) < 64:
        frames.append({"pc": g.pc(), "sp": num(g.read_register("sp")), "name": name(g)})
        if name(g) == "_start":
            break
        g = g.older()
    if frames[-1]["name"] == "_start" and name(f) != "_start" and (pc not in steps or len(steps[pc]["frames"]) < len(frames)):
        regs = {}
        for n in names:
            try:
                regs[n] = num(f.read_register(n))
            except Exception:
                pass
        low = sp & ~15
        steps[pc] = {"pc": pc, "sp": sp, "regs": regs, "at": low,
                     "stack": bytes(memory.read_memory(low, top - low)).hex(), "frames": frames}
    gdb.execute("stepi", to_string=True)
steps = [steps[pc] for pc in sorted(steps)]
with gzip.GzipFile(out, "wb", 9, mtime=0) as z:
    z.write(json.dumps({"steps": steps}, separators=(",", ":")).encode())
print(out, len(steps), "steps, deepest", max(len(s["frames"]) for s in steps))
gdb.execute("kill")
