# Writes hand.S for a target: hand.py FORMAT, which is elf, thumb, coff, coff32 or gas. The latter three are without the
# inner function: COFF's is no function, and GNU as makes entries of both.
import re, sys
text = open("hand.S").read()
kind = sys.argv[1]
coff = kind.startswith("coff")
if coff or kind == "gas":
    text = re.sub(r"\w+\(inner\):?\n", "", text)
text = re.sub(r"TYPE\((\w+)\)\n", "" if coff else r"\t.type \1,%function\n" + ("\t.thumb_func\n" if kind == "thumb" else ""), text)
text = re.sub(r"SIZE\((\w+)\)\n", "" if coff else r"\t.size \1,.-\1\n", text)
text = re.sub(r"NAME\((\w+)\)", r"_\1" if kind == "coff32" else r"\1", text)
print(("\t.syntax unified\n\t.thumb\n" if kind == "thumb" else "") + text, end="")
