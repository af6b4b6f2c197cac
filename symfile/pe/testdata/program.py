# A PE file for the emulator: where it is loaded, its bytes there, and the registers of its processor.
import struct
import unicorn as u
from unicorn import arm64_const as a64, arm_const as a32, x86_const as x86


class Program:
    def __init__(self, path):
        data = open(path, "rb").read()
        at16 = lambda o: struct.unpack_from("<H", data, o)[0]
        at32 = lambda o: struct.unpack_from("<I", data, o)[0]
        pe = at32(60)
        opt = pe + 24
        wide = at16(opt) == 0x20b
        self.machine = at16(pe + 4)
        self.base = struct.unpack_from("<Q", data, opt + 24)[0] if wide else at32(opt + 28)
        self.image = bytearray(at32(opt + 56))
        self.image[: at32(opt + 60)] = data[: at32(opt + 60)]
        for i in range(at16(pe + 6)):
            s = opt + at16(pe + 20) + 40 * i
            n = min(at32(s + 8), at32(s + 16))
            self.image[at32(s + 12) : at32(s + 12) + n] = data[at32(s + 20) : at32(s + 20) + n]
        dirs = opt + (112 if wide else 96)
        # The RVA and the size of a data directory.
        self.directory = lambda i: (at32(dirs + 8 * i), at32(dirs + 8 * i + 4))

    def u32(self, rva):
        return struct.unpack_from("<I", self.image, rva)[0]

    def u16(self, rva):
        return struct.unpack_from("<H", self.image, rva)[0]

    # An emulator that has the file in its memory, and a stack that ends at an address.
    def emulator(self, cpu, top, room):
        m = u.Uc(*cpu.arch)
        m.mem_map(self.base, (len(self.image) + 0xffff) & ~0xffff)
        m.mem_write(self.base, bytes(self.image))
        m.mem_map(top - room, room + 0x2000)
        if self.machine == 0xaa64:  # vector registers are off at first
            m.reg_write(a64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        if self.machine == 0x1c4:
            m.reg_write(a32.UC_ARM_REG_C1_C0_2, m.reg_read(a32.UC_ARM_REG_C1_C0_2) | 0xf << 20)
            m.reg_write(a32.UC_ARM_REG_FPEXC, 0x40000000)
        return m


# CPU has a processor's registers by their names; saved are those that calls preserve, lr is the link register's name.
class CPU:
    def __init__(self, machine):
        self.lr = {0xaa64: "x30", 0x1c4: "lr"}.get(machine)
        if machine in (0x8664, 0x14c):
            wide = machine == 0x8664
            self.arch, self.word = (u.UC_ARCH_X86, u.UC_MODE_64 if wide else u.UC_MODE_32), 8 if wide else 4
            names = "rax rcx rdx rbx rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15" if wide else "eax ecx edx ebx ebp esi edi"
            self.saved = ("rbx rbp rsi rdi r12 r13 r14 r15" if wide else "ebx ebp esi edi").split()
            self.regs = {n: getattr(x86, "UC_X86_REG_" + n.upper()) for n in names.split()}
            self.pc, self.sp = (x86.UC_X86_REG_RIP, x86.UC_X86_REG_RSP) if wide else (x86.UC_X86_REG_EIP, x86.UC_X86_REG_ESP)
        elif machine == 0xaa64:
            self.arch, self.word, self.pc, self.sp = (u.UC_ARCH_ARM64, u.UC_MODE_ARM), 8, a64.UC_ARM64_REG_PC, a64.UC_ARM64_REG_SP
            self.regs = {"x%d" % i: getattr(a64, "UC_ARM64_REG_X%d" % i) for i in range(31)}
            self.saved = ["x%d" % i for i in range(19, 30)]
        else:
            self.arch, self.word, self.pc, self.sp = (u.UC_ARCH_ARM, u.UC_MODE_THUMB), 4, a32.UC_ARM_REG_PC, a32.UC_ARM_REG_SP
            self.regs = {"r%d" % i: getattr(a32, "UC_ARM_REG_R%d" % i) for i in range(13)} | {"lr": a32.UC_ARM_REG_LR}
            self.saved = ["r%d" % i for i in range(4, 12)]
