package report

import (
	"strings"

	"github.com/crashpane/crashpane/core"
)

// State says what a thread was doing when the dump was made. Guess: it follows from the names of its
// first functions; otherwise from its code. Frame is the frame that shows it.
type State struct {
	Word  string
	Frame int
	Guess bool
	// Lock: it waits for a lock.
	Lock bool
}

// Words of states.
const (
	waitsLock      = "waits for a lock"
	waitsCondition = "waits for a condition"
	waitsEvents    = "waits for events"
	waitsObject    = "waits for an object"
	waitsThread    = "waits for a thread to end"
	waitsProcess   = "waits for a process to end"
	waitsSignal    = "waits for a signal"
	waitsWake      = "waits to be woken"
	sleeps         = "sleeps"
	idles          = "is idle in a pool"
	transfers      = "reads or writes"
	inSystemCall   = "in a system call"
)

// stateOf has the states of threads in functions of the systems, by their names without leading "_",
// "GI_" and without what follows "@". Sources: the C libraries' and the systems' documentation of these
// functions. weak: a function that others use for waiting, which say more.
var stateOf = map[string]struct {
	state string
	weak  bool
}{
	"pthread_mutex_lock": {waitsLock, false}, "pthread_mutex_lock_full": {waitsLock, false}, "pthread_mutex_timedlock": {waitsLock, false}, "pthread_mutex_clocklock": {waitsLock, false},
	"lll_lock_wait": {waitsLock, false}, "lll_lock_wait_private": {waitsLock, false},
	"pthread_rwlock_rdlock": {waitsLock, false}, "pthread_rwlock_wrlock": {waitsLock, false}, "pthread_rwlock_timedrdlock": {waitsLock, false}, "pthread_rwlock_timedwrlock": {waitsLock, false},
	"pthread_rwlock_clockrdlock": {waitsLock, false}, "pthread_rwlock_clockwrlock": {waitsLock, false}, "pthread_spin_lock": {waitsLock, false},
	"RtlEnterCriticalSection": {waitsLock, false}, "RtlpEnterCriticalSectionContended": {waitsLock, false}, "RtlpWaitOnCriticalSection": {waitsLock, false},
	"RtlAcquireSRWLockExclusive": {waitsLock, false}, "RtlAcquireSRWLockShared": {waitsLock, false},
	"psynch_mutexwait": {waitsLock, false}, "psynch_rw_rdlock": {waitsLock, false}, "psynch_rw_wrlock": {waitsLock, false}, "os_unfair_lock_lock_slow": {waitsLock, false},

	"pthread_cond_wait": {waitsCondition, false}, "pthread_cond_timedwait": {waitsCondition, false}, "pthread_cond_clockwait": {waitsCondition, false},
	"psynch_cvwait": {waitsCondition, false}, "SleepConditionVariableSRW": {waitsCondition, false}, "SleepConditionVariableCS": {waitsCondition, false},
	"RtlSleepConditionVariableSRW": {waitsCondition, false}, "RtlSleepConditionVariableCS": {waitsCondition, false},

	"epoll_wait": {waitsEvents, false}, "epoll_pwait": {waitsEvents, false}, "epoll_pwait2": {waitsEvents, false}, "poll": {waitsEvents, false}, "ppoll": {waitsEvents, false},
	"select": {waitsEvents, false}, "pselect": {waitsEvents, false}, "kevent": {waitsEvents, false}, "kevent64": {waitsEvents, false}, "kevent_qos": {waitsEvents, false},
	"NtRemoveIoCompletion": {waitsEvents, false}, "NtRemoveIoCompletionEx": {waitsEvents, false}, "GetQueuedCompletionStatus": {waitsEvents, false},
	"GetQueuedCompletionStatusEx": {waitsEvents, false}, "NtUserGetMessage": {waitsEvents, false}, "NtUserMsgWaitForMultipleObjectsEx": {waitsEvents, false},
	"mach_msg": {waitsEvents, false}, "mach_msg_trap": {waitsEvents, false}, "mach_msg2_trap": {waitsEvents, false},

	"NtWaitForSingleObject": {waitsObject, false}, "ZwWaitForSingleObject": {waitsObject, false}, "WaitForSingleObject": {waitsObject, false}, "WaitForSingleObjectEx": {waitsObject, false},
	"NtWaitForMultipleObjects": {waitsObject, false}, "ZwWaitForMultipleObjects": {waitsObject, false}, "WaitForMultipleObjects": {waitsObject, false}, "WaitForMultipleObjectsEx": {waitsObject, false},
	"sem_wait": {waitsObject, false}, "sem_timedwait": {waitsObject, false}, "sem_clockwait": {waitsObject, false}, "semaphore_wait_trap": {waitsObject, false}, "semaphore_timedwait_trap": {waitsObject, false},

	"pthread_join": {waitsThread, false}, "pthread_timedjoin_np": {waitsThread, false}, "pthread_clockjoin_ex": {waitsThread, false},
	"wait4": {waitsProcess, false}, "waitpid": {waitsProcess, false}, "waitid": {waitsProcess, false},
	"sigwait": {waitsSignal, false}, "sigwaitinfo": {waitsSignal, false}, "sigtimedwait": {waitsSignal, false}, "sigsuspend": {waitsSignal, false}, "pause": {waitsSignal, false},

	"nanosleep": {sleeps, false}, "clock_nanosleep": {sleeps, false}, "usleep": {sleeps, false}, "sleep": {sleeps, false}, "NtDelayExecution": {sleeps, false}, "ZwDelayExecution": {sleeps, false},
	"Sleep": {sleeps, false}, "SleepEx": {sleeps, false}, "semwait_signal": {sleeps, false},

	"NtWaitForWorkViaWorkerFactory": {idles, false}, "ZwWaitForWorkViaWorkerFactory": {idles, false}, "workq_kernreturn": {idles, false},

	"read": {transfers, true}, "write": {transfers, true}, "pread64": {transfers, true}, "pwrite64": {transfers, true}, "readv": {transfers, true}, "writev": {transfers, true},
	"recv": {transfers, true}, "recvfrom": {transfers, true}, "recvmsg": {transfers, true}, "send": {transfers, true}, "sendto": {transfers, true}, "sendmsg": {transfers, true},
	"accept": {transfers, true}, "accept4": {transfers, true}, "connect": {transfers, true}, "NtReadFile": {transfers, true}, "NtWriteFile": {transfers, true}, "NtDeviceIoControlFile": {transfers, true},

	"futex_wait": {waitsWake, true}, "futex_wait_cancelable": {waitsWake, true}, "futex_abstimed_wait_common": {waitsWake, true}, "futex_abstimed_wait_common64": {waitsWake, true},
	"futex_abstimed_wait_cancelable64": {waitsWake, true}, "NtWaitForAlertByThreadId": {waitsWake, true}, "ulock_wait": {waitsWake, true}, "ulock_wait2": {waitsWake, true},
}

// stateFrames is how many of a thread's first frames can say what it does: the C libraries wait at most
// so deep.
const stateFrames = 8

// systemName returns a function's name as stateOf has it: "poll" for "__GI___poll", "_poll@12".
func systemName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	for {
		short := strings.TrimPrefix(strings.TrimLeft(name, "_"), "GI_")
		if short == name {
			return name
		}
		name = short
	}
}

// StateOf says what a thread was doing, or returns a State without a word. d may be nil.
func (r *Report) StateOf(d *core.Dump, t *Thread) State {
	var out State
	for i := range t.Frames[:min(len(t.Frames), stateFrames)] {
		f := &t.Frames[i]
		s, ok := stateOf[systemName(f.Function.Raw)]
		if ok && f.Named() {
			if out.Word == "" || !s.weak {
				out = State{Word: s.state, Frame: i, Guess: true, Lock: s.state == waitsLock}
			}
			if !s.weak {
				return out
			}
		} else if f.Module < 0 || !r.IsSystems(f.Module) {
			break
		}
	}
	if out.Word != "" || d == nil || len(t.Frames) == 0 {
		return out
	}
	if s, ok := stateOf[appleCall(d, r, &t.Frames[0])]; ok {
		return State{Word: s.state, Guess: true, Lock: s.state == waitsLock}
	}
	// Without names the words of a lock may show that the thread waits for it.
	if _, ok := linuxHolder(d, r, t, -1); ok {
		return State{Word: waitsLock, Guess: true, Lock: true}
	}
	if in, repeats := inSystemCallOf(d, &t.Frames[0]); in {
		out.Word, out.Guess = inSystemCall, repeats // it may not have entered the system yet
	}
	return out
}
