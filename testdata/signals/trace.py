# Run by gdb: writes the registers where the signal came, and those, the stack and the code of the
# return address where the handler begins.
import gdb, json, os

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("target remote :" + os.environ["PORT"])
names = [r.name for r in gdb.selected_frame().architecture().registers("general")]
num = lambda v: int(v.cast(gdb.lookup_type("unsigned long"))) & (1 << 64) - 1


def registers():
    out = {}
    for n in names + ["lr"]:
        try:
            out[n] = num(gdb.parse_and_eval("$" + n))
        except Exception:
            pass
    out["pc"], out["sp"] = num(gdb.parse_and_eval("$pc")), num(gdb.parse_and_eval("$sp"))
    return out


memory = gdb.selected_inferior()
read = lambda at, n: bytes(memory.read_memory(at, n)).hex()
gdb.execute("handle SIGSEGV stop print pass")
gdb.execute("break *handler")
gdb.execute("continue")
crash = registers()
try:
    gdb.execute("continue")
except gdb.error as e:  # of gdb's own unwinding of the frame
    print(e)
regs = registers()
order = os.environ["ORDER"]
lr = os.environ["LR"]
if lr:
    back = regs[lr]
else:
    word = int(os.environ["WORD"])
    back = int.from_bytes(bytes(memory.read_memory(regs["sp"], word)), "little")
    regs["return"] = back
out = {"crash": crash, "handler": regs, "at": regs["sp"], "stack": read(regs["sp"], crash["sp"] - regs["sp"] + 64),
       "return": back, "code": read(back & ~1, 16), "big": order == "big"}
with open(os.environ["OUT"], "w") as f:
    json.dump(out, f, separators=(",", ":"))
print(os.environ["OUT"], hex(back), out["code"])
gdb.execute("kill")
