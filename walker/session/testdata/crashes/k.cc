#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include <stdexcept>
#include <vector>
#include <string>
#include <thread>
#include <system_error>
#include <signal.h>
#define NI __attribute__((noinline))
static volatile int sink;
struct MyError : std::runtime_error { MyError(): std::runtime_error("my own text, forty-two characters of it...") {} };
struct Plain { int x; };
struct B{ virtual int f()=0; B(){ g(); } NI void g(){ f(); } }; struct D:B{ int f(){return 1;} };
NI void nx() noexcept { throw std::out_of_range("left a noexcept function"); }
NI void smash(int n){ char b[8]; memset(b,'A',n); sink=b[3]; }
NI void stack(int n){ char b[8]; for(volatile int i=0;i<n;i++) ((volatile char*)b)[i]='A'; sink=b[3]; }
NI int waits(){ for(;;) pause(); }
NI int so1(int n){ volatile char a[1000]; a[n%1000]=n; return so1(n+1)+a[5]; }
NI int so3(int n); NI int so2(int n){ volatile char a[500]; a[n%500]=n; return so3(n+1)+a[5]; } NI int so3(int n){ volatile char a[700]; a[n%500]=n; return so2(n+1)+a[5]; }
NI void fort(const char*s){ char b[8]; strcpy(b,s); puts(b); }
static void onab(int){ _exit(3); }
NI int crash(const char*k){
#define K(x) if(!strcmp(k,x))
  K("throw") throw std::runtime_error("boom from here");
  K("throwmy") throw MyError();
  K("throwint") throw 42;
  K("throwstr") throw "a text";
  K("throwstring") throw std::string("a string of some length here");
  K("throwplain") throw Plain();
  K("noexcept") nx();
  K("terminate") std::terminate();
  K("rethrow") { try { throw std::logic_error("again"); } catch(...) { throw; } }
  K("at") { std::vector<int> v(3); return v.at(sink+7); }
  K("thread") { std::thread t([]{ for(;;); }); }
  K("syserr") throw std::system_error(std::make_error_code(std::errc::io_error), "disk");
  K("assert") assert(sink==7);
  K("smash") smash(sink+64);
  K("stack") stack(sink+64);
  K("watchdog") { pthread_t me=pthread_self(); std::thread([me]{ usleep(200000); pthread_kill(me,SIGABRT); }).detach(); return waits(); }
  K("queue") { union sigval v; v.sival_int=7; sigqueue(getpid(),SIGTERM,v); }
  K("dblfree") { char*volatile p=(char*)malloc(2000); char*q=(char*)malloc(10); free(p); free(p); sink=*q; }
  K("badfree") { char*p=(char*)malloc(40); free(p+8); }
  K("tcache") { char*p=(char*)malloc(40); free(p); free(p); }
  K("pure") { D d; sink=d.f(); }
  K("fortify") fort("much longer than eight");
  K("abort") abort();
  K("hlt") asm volatile("hlt"); K("in") asm volatile("inb %dx,%al"); K("rdmsr") asm volatile("rdmsr"); K("int") asm volatile("int $3; ud2");
  K("ud2") __builtin_trap();
  K("nxstack") { char b[64]; memset(b,0x90,64); ((void(*)())b)(); sink=b[3]; }
  K("nxheap") { char*b=(char*)malloc(64); memset(b,0x90,64); ((void(*)())b)(); sink=b[3]; }
  K("nxdata") { static char b[64]={1}; memset(b,0x90,64); ((void(*)())b)(); sink=b[3]; }
  K("so1") return so1(1);
  K("so2") return so2(1);
  K("null") *(volatile int*)0=1;
  K("raise") raise(SIGABRT);
  K("kill") kill(getpid(),SIGSEGV);
  K("ro") *(char*)"const"=1;
  K("div") return 7/(sink+0);
  return 1; }
NI int c2(const char*k){ int r=crash(k); sink++; return r+1; }
NI int c3(const char*k){ int r=c2(k); sink++; return r+1; }
int main(int c,char**v){ if(c>2) signal(SIGABRT,onab); return c3(v[1]); }
