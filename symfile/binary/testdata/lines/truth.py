# Prints what llvm-symbolizer says about the code of files: "file first-last frames", the innermost frame first.
import json, re, subprocess, sys


def run(*args, **more):
    return subprocess.run(args, check=True, capture_output=True, text=True, **more).stdout


for path in sys.argv[1:]:
    debug = "stripped.debug" if path == "stripped.elf" else path
    sections = []
    for line in run("llvm-objdump", "-h", path).split("\n"):
        w = line.split()
        if len(w) > 4 and w[0].isdigit() and "TEXT" in w[4:]:
            sections.append((int(w[3], 16), int(w[2], 16)))
    last = None
    for start, size in sections:
        asked = "\n".join("0x%x" % a for a in range(start, start + size))
        for line in run("llvm-symbolizer", "--no-demangle", "--output-style=JSON", "-e", debug, input=asked).strip().split("\n"):
            answer = json.loads(line)
            frames = [f for f in answer.get("Symbol", []) if f["Line"] and f["FunctionName"]]
            at = int(answer["Address"], 16)
            if path == "mingw32.exe" and frames:  # names of C have an underscore there
                frames[-1]["FunctionName"] = frames[-1]["FunctionName"][1:]
            text = " < ".join("%s %s:%d" % (f["FunctionName"], re.split(r"[/\\]", f["FileName"])[-1], f["Line"]) for f in frames)
            if last and last[0] == text and last[2] == at - 1:
                last[2] = at
                continue
            if last and last[0]:
                print("%s %x-%x %s" % (path, last[1], last[2], last[0]))
            last = [text, at, at]
    if last and last[0]:
        print("%s %x-%x %s" % (path, last[1], last[2], last[0]))
