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

// functionState is what a thread does in some functions. weak: other functions, which say more, wait in these.
type functionState struct {
	word  string
	weak  bool
	names string // separated by spaces
}

// functionStates are the functions of the systems in which threads wait, by their names without leading "_", "GI_" and
// without what follows "@". Sources: the C libraries' and the systems' documentation of these functions.
var functionStates = []functionState{
	{waitsLock, false, "pthread_mutex_lock pthread_mutex_lock_full pthread_mutex_timedlock pthread_mutex_clocklock lll_lock_wait lll_lock_wait_private " +
		"pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock " +
		"pthread_rwlock_clockwrlock pthread_spin_lock RtlEnterCriticalSection RtlpEnterCriticalSectionContended RtlpWaitOnCriticalSection " +
		"RtlAcquireSRWLockExclusive RtlAcquireSRWLockShared psynch_mutexwait psynch_rw_rdlock psynch_rw_wrlock os_unfair_lock_lock_slow"},
	{waitsCondition, false, "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait psynch_cvwait SleepConditionVariableSRW SleepConditionVariableCS " +
		"RtlSleepConditionVariableSRW RtlSleepConditionVariableCS"},
	{waitsEvents, false, "epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect kevent kevent64 kevent_qos NtRemoveIoCompletion " +
		"NtRemoveIoCompletionEx GetQueuedCompletionStatus GetQueuedCompletionStatusEx NtUserGetMessage NtUserMsgWaitForMultipleObjectsEx " +
		"mach_msg mach_msg_trap mach_msg2_trap"},
	{waitsObject, false, "NtWaitForSingleObject ZwWaitForSingleObject WaitForSingleObject WaitForSingleObjectEx NtWaitForMultipleObjects " +
		"ZwWaitForMultipleObjects WaitForMultipleObjects WaitForMultipleObjectsEx sem_wait sem_timedwait sem_clockwait semaphore_wait_trap " +
		"semaphore_timedwait_trap"},
	{waitsThread, false, "pthread_join pthread_timedjoin_np pthread_clockjoin_ex"},
	{waitsProcess, false, "wait4 waitpid waitid"},
	{waitsSignal, false, "sigwait sigwaitinfo sigtimedwait sigsuspend pause"},
	{sleeps, false, "nanosleep clock_nanosleep usleep sleep NtDelayExecution ZwDelayExecution Sleep SleepEx semwait_signal"},
	{idles, false, "NtWaitForWorkViaWorkerFactory ZwWaitForWorkViaWorkerFactory workq_kernreturn"},
	{transfers, true, "read write pread64 pwrite64 readv writev recv recvfrom recvmsg send sendto sendmsg accept accept4 connect NtReadFile NtWriteFile " +
		"NtDeviceIoControlFile"},
	{waitsWake, true, "futex_wait futex_wait_cancelable futex_abstimed_wait_common futex_abstimed_wait_common64 futex_abstimed_wait_cancelable64 " +
		"NtWaitForAlertByThreadId ulock_wait ulock_wait2"},
}

// stateOf has the row of each function's name.
var stateOf = func() map[string]*functionState {
	out := map[string]*functionState{}
	for i := range functionStates {
		for name := range strings.FieldsSeq(functionStates[i].names) {
			out[name] = &functionStates[i]
		}
	}
	return out
}()

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
				out = State{Word: s.word, Frame: i, Guess: true, Lock: s.word == waitsLock}
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
		return State{Word: s.word, Guess: true, Lock: s.word == waitsLock}
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
