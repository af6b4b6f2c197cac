// C++ exceptions at the moments when programs crash of them: an uncaught one (std::terminate, abort, and the handler of SIGABRT), one that
// leaves a noexcept function, a destructor during unwinding, and a catch block.
#include <csignal>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "wait.h"

#define KEEP __attribute__((noinline))

struct Slow {
  ~Slow() {
    wait_here();
    sink = 1;
  }
};

struct Quick {
  std::vector<int> list;
  ~Quick() { sink = (int)list.size(); }
};

static KEEP void thrower(int n) {
  Quick quick{std::vector<int>(n)};
  if (n > 0) throw std::runtime_error("thrown");
}

static KEEP void in_destructor() {
  try {
    Slow slow;
    thrower(3);
  } catch (const std::exception &e) {
    sink = 2;
  }
}

static KEEP void in_catch() {
  try {
    thrower(4);
  } catch (const std::exception &e) {
    wait_here();
  }
  sink = 3;
}

static KEEP void no_exceptions() noexcept { thrower(5); }

static KEEP void uncaught(int n) {
  Quick quick{std::vector<int>(n)};
  thrower(n);
}

static void on_abort(int) {
  wait_here();
  sink = 4;
}

static KEEP void leave_noexcept() {
  no_exceptions();
  sink = 5;
}

template <class F>
static void start(F f) {
  std::thread(f).detach();
}

static void on_terminate() {
  static volatile bool first = true;
  if (__sync_bool_compare_and_swap(&first, true, false)) wait_here();
  abort();
}

int main() {
  std::signal(SIGABRT, on_abort);
  std::set_terminate(on_terminate);
  start(in_destructor);
  start(in_catch);
  start([] { leave_noexcept(); }); // the first to come to on_terminate
  ready(3);
  uncaught(6);
}
