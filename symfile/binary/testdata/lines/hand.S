// Functions with a size, without one, with another name, and one in another.
	.text
	.globl NAME(no_size)
NAME(no_size):
	nop
	nop
	.globl NAME(by_hand)
TYPE(by_hand)
NAME(by_hand):
	nop
	nop
SIZE(by_hand)
	.globl NAME(outer)
TYPE(outer)
NAME(outer):
	nop
	nop
TYPE(inner)
NAME(inner):
	nop
	nop
SIZE(inner)
	nop
	nop
SIZE(outer)
	.globl NAME(last)
NAME(last):
	nop
	nop
