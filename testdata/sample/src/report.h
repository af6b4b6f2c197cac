// Hands a crash over to the process that writes the dump (tools/dumpchild): the signal's facts go out on one
// descriptor, and the thread then waits on the other until it is killed.
#pragma once
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct CrashRecord {
    int tid;
    int signal;
    int code;
    int reserved;
    unsigned long address;
    unsigned long gregs[23];
    unsigned long fpregs[64];  // the 512 bytes of FXSAVE
};

inline int crash_out = -1, crash_wait = -1;

inline void on_crash(int signal, siginfo_t* info, void* context) {
    static CrashRecord record;
    const auto* uc = static_cast<const ucontext_t*>(context);
    record.tid = int(syscall(SYS_gettid));
    record.signal = signal;
    record.code = info->si_code;
    record.address = reinterpret_cast<unsigned long>(info->si_addr);
    memcpy(record.gregs, uc->uc_mcontext.gregs, sizeof record.gregs);
    if (uc->uc_mcontext.fpregs) memcpy(record.fpregs, uc->uc_mcontext.fpregs, sizeof record.fpregs);
    ssize_t done = write(crash_out, &record, sizeof record);
    char byte;
    while (done > 0 && read(crash_wait, &byte, 1) != 0) {
    }
    _exit(1);
}

inline void report_crashes_to(int out, int wait) {
    crash_out = out;
    crash_wait = wait;
    struct sigaction action = {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
}
