"""Reduces rust-minidump's JSON to the lines of golden.txt: one a thread, one a frame."""
import json
import sys

report = json.load(open(sys.argv[1]))
crash = report["crash_info"]
print("reason", crash["type"])
print("address", crash["address"])
print("crashed", crash["crashing_thread"])
for number, thread in enumerate(report["threads"]):
    print("thread", number, thread["thread_name"])
    for frame in thread["frames"]:
        for inline in frame["inlines"] or []:
            print("  inline", frame["module"] or "?", inline["function"], inline["file"] or "?", inline["line"] or 0, sep="\t")
        print(
            "  " + frame["trust"],
            frame["module"] or "?",
            frame["function"] or "?",
            frame["file"] or "?",
            frame["line"] or 0,
            sep="\t",
        )
