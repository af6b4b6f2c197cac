# Writes hand.S for a target: hand.py FORMAT, which is elf, thumb, coff, coff32 or gas. The last is without the inner function,
# since GNU as makes entries of both. COFF's is a label.
import re, sys
text = open("hand.S").read()
kind = sys.argv[1]
coff = kind.startswith("coff")
if kind == "gas":
    text = re.sub(r"\w+\(inner\):?\n", "", text)
text = re.sub(r"TYPE\((\w+)\)\n", "" if coff else r"\t.type \1,%function\n" + ("\t.thumb_func\n" if kind == "thumb" else ""), text)
text = re.sub(r"SIZE\((\w+)\)\n", "" if coff else r"\t.size \1,.-\1\n", text)
text = re.sub(r"NAME\((\w+)\)", r"_\1" if kind == "coff32" else r"\1", text)
print(("\t.syntax unified\n\t.thumb\n" if kind == "thumb" else "") + text, end="")
