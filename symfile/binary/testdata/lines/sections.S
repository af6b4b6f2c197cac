// Several sections, which in clang's DWARF 2 only .debug_aranges lists.
	.section .text.a,"ax",%progbits
	.globl a
	.type a,%function
a:
	nop
	nop
	.size a,.-a
	.section .text.b,"ax",%progbits
	.globl b
b:
	nop
	nop
	.text
	.globl _start
_start:
	.rept 100
	nop
	.endr
