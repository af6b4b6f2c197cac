// What C++ has that is seen in decorated names. names.txt are the names that it gets, with what llvm-undname says of them:
//   for t in x86_64 i686; do clang++-19 --target=$t-pc-windows-msvc -std=c++23 -w -fms-extensions -fexceptions -fcxx-exceptions
//   -c names.cc -o $t.o; done llvm-nm-19 -j x86_64.o i686.o | grep '^?' | sort -u | llvm-undname-19 > names.txt   # and leave out
//   those that it refuses
typedef decltype(sizeof(0)) size_t;
namespace std {
using nullptr_t = decltype(nullptr);
struct strong_ordering {
    int v;
};
} // namespace std
void* operator new(size_t, void* p) noexcept;
template <class T> struct RemRef {
    using type = T;
};
template <class T> struct vec {
    T* p;
    vec();
    ~vec();
    vec(const vec&);
    vec(vec&&) noexcept;
    template <class U> vec(U&&);
    T& operator[](size_t);
    const T& operator[](size_t) const;
    operator bool() const;
    template <class U> operator vec<U>() const;
    vec& operator=(const vec&) &;
    vec& operator=(vec&&) &&;
    T* begin() const;
    struct iter {
        T* q;
        iter& operator++();
        iter operator++(int);
    };
    iter it() volatile;
    static int count;
    static const vec* const instance;
};
template <class T> vec<T>::vec() {}
template <class T> vec<T>::~vec() {}
template <class T> vec<T>::vec(const vec&) {}
template <class T> vec<T>::vec(vec&&) noexcept {}
template <class T> template <class U> vec<T>::vec(U&&) {}
template <class T> T& vec<T>::operator[](size_t i) { return p[i]; }
template <class T> const T& vec<T>::operator[](size_t i) const { return p[i]; }
template <class T> vec<T>::operator bool() const { return p; }
template <class T> template <class U> vec<T>::operator vec<U>() const { return vec<U>(); }
template <class T> vec<T>& vec<T>::operator=(const vec&) & { return *this; }
template <class T> vec<T>& vec<T>::operator=(vec&&) && { return *this; }
template <class T> T* vec<T>::begin() const { return p; }
template <class T> auto vec<T>::iter::operator++() -> iter& { return *this; }
template <class T> auto vec<T>::iter::operator++(int) -> iter { return *this; }
template <class T> auto vec<T>::it() volatile -> iter { return {}; }
template <class T> int vec<T>::count;
template <class T> const vec<T>* const vec<T>::instance = nullptr;
template struct vec<int>;
template struct vec<const char*>;
template struct vec<vec<int>>;
template struct vec<void (*)(int, ...)>;
void use() {
    vec<int> a(3.0f);
    vec<const char*> b = (vec<const char*>)a;
    int x;
    vec<int> c(x);
}
enum E1 : char { e1a };
enum class E2 : unsigned long long { a, b };
enum E3 { z };
struct Base1 {
    virtual ~Base1();
    virtual void f(int);
    virtual Base1* clone() = 0;
    int b1;
};
struct Base2 {
    virtual ~Base2() {}
    virtual int g() const;
    int b2;
};
struct VB : virtual Base1 {
    void f(int) override;
    int v;
};
struct VB2 : virtual Base1, virtual Base2 {
    int v2;
    VB2* clone() override;
    ~VB2();
    int g() const override;
};
struct D : Base1, Base2 {
    D* clone() override;
    int g() const override;
    ~D();
    void h(int) &;
    void h(int) &&;
    void h(int) const&;
    void k() const volatile noexcept;
    static void s(D*, D*, const D&, E1, E2, E3);
    int data;
    int D::* md;

  private:
    virtual void priv();

  protected:
    virtual void prot(E2);
    static int sp();
    int np(D&);
};
void Base1::f(int) {}
Base1::~Base1() {}
int Base2::g() const { return 0; }
void VB::f(int) {}
VB2* VB2::clone() { return this; }
VB2::~VB2() {}
int VB2::g() const { return 1; }
D* D::clone() { return this; }
int D::g() const { return 1; }
D::~D() {}
void D::h(int) & {}
void D::h(int) && {}
void D::h(int) const& {}
void D::k() const volatile noexcept {}
void D::s(D*, D*, const D&, E1, E2, E3) {}
void D::priv() {}
void D::prot(E2) {}
int D::sp() { return 0; }
int D::np(D&) { return 0; }
template <int D::* P> int getm(D* d) { return d->*P; }
template <void (D::*F)(int) &> void callm(D* d) { (d->*F)(1); }
template <int (Base2::*F)() const> int callb(Base2* b) { return (b->*F)(); }
template <int (VB2::*F)() const> int callv(VB2* b) { return (b->*F)(); }
template <int VB2::* F> int getv(VB2* b) { return b->*F; }
template <void (*F)(D*, D*, const D&, E1, E2, E3)> void calls() {}
template <auto... V> struct au {
    static void f();
};
template <auto... V> void au<V...>::f() {}
int gx;
int garr[4];
const char gs[] = "abc";
void gf(int);
template <class T> void gt(T) {}
template <int* P> void gp() {}
template <int& R> void gr() {}
template <void (&F)(int)> void gfr() {}
template <const char* S> void gcs() {}
template <class... T> void pack(T...) {}
template <class... T, class... U> void two(vec<T>*..., U...) {}
template <template <class> class T, int N> void tt(T<int> (&)[N]) {}
template <template <class> class T> struct ttt {
    void f();
};
template <template <class> class T> void ttt<T>::f() {}
template <class T> using alias = vec<T>;
template <bool B, char C, short S, long long L, unsigned long long U, E2 e, std::nullptr_t N> void nt() {}
template <class T> void one(T) {}
template <class T> void rv(T&&) {}
template <class T> T ret() { return T(); }
struct S {
    int a;
};
union Un {
    int i;
    float f;
};
struct B16;
struct alignas(16) Al {};
void f0(int (*)(int, int (*)(int)), int (&)[3], int (&&)[3][4], const int (*)[2], int D::*, const int D::*,
        void (D::*)(int) const, void (D::* const)(), int (D::**)(), int* D::*, int (*D::*)[3], int (*(*)(int))(char),
        void (*const volatile)(), Un, S, S&, S&&, const S*, S* const, volatile S* const volatile*, ...) {}
void f1(signed char, unsigned char, char, short, unsigned short, int, unsigned, long, unsigned long, long long,
        unsigned long long, float, double, long double, bool, wchar_t, char16_t, char32_t, std::nullptr_t, E1) {}
void f2(S* __restrict, S* __restrict, int* __restrict*, __unaligned int*, int* __ptr32) {}
void f3(S, S, S*, S*, const S*, const S*, vec<S>, vec<S>, vec<S*>, vec<S*>, vec<vec<S>>, vec<vec<S>>, D, D, Un, Un, S (*)(S, S),
        S (*)(S, S)) {}
extern "C" void ec(int) {
    static int s;
    struct L {
        static int q() {
            static int z = ec2();
            return z;
        }
        static int ec2() { return 1; }
    };
    L::q();
    auto l = [](int a) {
        static int k;
        return a + k++;
    };
    l(1);
}
inline int& inl() {
    static int v;
    static S s2;
    struct Loc {
        int m() {
            static int w;
            enum { qq };
            one(qq);
            return w++;
        }
    };
    Loc x;
    x.m();
    return v;
}
namespace {
int anon;
struct AS {
    void m(AS, AS*);
    vec<AS> v();
};
void AS::m(AS a, AS* b) {}
vec<AS> AS::v() { return vec<AS>(); }
void af(AS&, AS*) {}
template <class T> void at(T) {}
namespace inner {
struct Q {};
void qf(Q, Q*, AS) {}
} // namespace inner
} // namespace
namespace n1 {
inline namespace v2 {
namespace {}
struct S2 {
    S2(int);
    explicit operator int*() const;
    using FP = void (*)(int);
    operator FP() const;
    template <class T> bool operator()(T) const;
};
} // namespace v2
} // namespace n1
S operator""_lit(unsigned long long) { return S(); }
S operator""_x(const char*) { return S(); }
template <char... c> int operator""_t() { return sizeof...(c); }
n1::S2::S2(int) {}
n1::v2::S2::operator int*() const { return 0; }
template <class T> bool n1::S2::operator()(T) const { return true; }
#define OP(o)                                                                                                                    \
    S operator o(S, const S&) { return S(); }
OP(+)
OP(-) OP(*) OP(/) OP(%) OP(^) OP(&) OP(|) OP(<) OP(>) OP(<<) OP(>>) OP(==) OP(!=) OP(<=) OP(>=) OP(&&) OP(||) OP(+=) OP(-=) OP(*=) OP(/=) OP(%=) OP(^=) OP(&=) OP(|=) OP(<<=) OP(>>=) void operator,(
    S, D&) {}
S operator!(S) { return S(); }
S operator~(S) { return S(); }
S operator++(S&) { return S(); }
S operator++(S&, int) { return S(); }
S operator--(S&) { return S(); }
S operator->*(S, int) { return S(); }
std::strong_ordering operator<=>(S, D&) { return {}; }
struct NS {
    void* operator new(size_t);
    void operator delete(void*);
    void* operator new[](size_t);
    void operator delete[](void*);
    S* operator->() const;
    S operator()(int, ...);
    S operator[](int);
    NS(int = 0);
    ~NS();
};
void* NS::operator new(size_t) { return 0; }
void NS::operator delete(void*) {}
void* NS::operator new[](size_t) { return 0; }
void NS::operator delete[](void*) {}
S* NS::operator->() const { return 0; }
S NS::operator()(int, ...) { return S(); }
S NS::operator[](int) { return S(); }
NS::NS(int) {}
NS::~NS() {}
NS gns(1);
NS gnsa[3];
static NS sns;
vec<NS> gv;
thread_local NS tls;
NS& gtls() { return tls; }
struct HasStat {
    static NS st;
    inline static NS ist{4};
};
NS HasStat::st;
template <class T> struct TS {
    static NS st;
};
template <class T> NS TS<T>::st;
template struct TS<int>;
void* mk() {
    new NS[3];
    new D;
    new VB2;
    throw S();
}
void v0() {
    auto l = [&](auto x, auto... y) { return [=] { return x; }(); };
    l(1, 2.0);
    l("s");
    [](int) noexcept {}(1);
    int (*fp)(int) = [](int q) { return q; };
    fp(1);
    one([] {});
    one(l);
    rv(l);
    auto g = []<class T>(T t) -> decltype(auto) { return t; };
    g(3);
}
int vi = [] {
    static int q;
    return ++q;
}();
struct DM {
    int m = [] { return 3; }();
    int n = [](int a) { return a; }(2);
    DM();
};
DM::DM() {}
void da(int = [] { return 1; }()) {}
void da2() { da(); }
constexpr auto clam = [](int a) { return a; };
template <auto F> int callF() { return F(1); }
void (D::*pmf)(int) & = &D::h;
void (*gfp)(int) = gf;
int (Base2::*vmf)() const = &Base2::g;
void (Base1::*vmf1)(int) = &Base1::f;
extern const int ci = 3;
extern const int* const cip = &ci;
volatile int vint;
int* volatile pv;
int (*afp[3])(int);
const S cs{};
extern const S& crs = cs;
int (&rarr)[4] = garr;
int D::* mdp = &D::data;
const int D::* cmdp = &D::data;
const char* const strs[] = {"a", "b"};
wchar_t const* ws = L"wide";
char16_t const* u16 = u"u16";
char32_t const* u32 = U"u32";
char const* lng = "this is a rather long string with 'quotes' \"and\" tabs\t\n and \x01\xff bytes which is cut";
wchar_t const* wl = L"this is a rather long wide string which is cut \x1234 somewhere";
const char* emb = "a\0b\0c";
const char8_t* u8s = u8"\u00e9";
template <class T> auto deduced(T t) { return t; }
template <class T> decltype(auto) deduced2(T t) { return (t); }
auto autof() { return 1; }
decltype(auto) autof2() { return 2; }
template <class T> auto adv(T*) -> T (*)[3] { return 0; }
auto* autop() { return &gx; }
const auto& autor() { return gx; }
typedef float v4 __attribute__((vector_size(16)));
void vecf(v4, v4*) {}
void cplx(_Complex float, _Complex double) {}
void atom(_Atomic int*) {}
void __vectorcall vc(int) {}
void __stdcall sc(int) {}
void __fastcall fc(int) {}
__attribute__((swiftcall)) void swf() {}
__attribute__((regcall)) void rcf(int, S) {}
__attribute__((preserve_most)) void pmf2() {}
void fpc(void(__vectorcall*)(int), void(__attribute__((swiftcall)) *)(), void (*)() noexcept, void (D::*)() noexcept,
         void (D::*)() const&) {}
template <class T> struct Fn;
template <class R, class... A> struct Fn<R(A...)> {
    void call(A...);
};
template <class R, class... A> void Fn<R(A...)>::call(A...) {}
template <class R, class... A> struct Fn<R(A..., ...)> {
    void call(A...);
    using X = R;
};
template <class R, class... A> void Fn<R(A..., ...)>::call(A...) {}
template struct Fn<int(int, ...)>;
template struct Fn<void()>;
template struct Fn<S(S, S&, vec<S>)>;
template struct Fn<void(int)>;
template <class T> struct Ty {
    static void f();
};
template <class T> void Ty<T>::f() {}
template struct Ty<int const>;
template struct Ty<int volatile* const>;
template struct Ty<int[3]>;
template struct Ty<const int[3][4]>;
template struct Ty<int[]>;
template struct Ty<int&>;
template struct Ty<int&&>;
template struct Ty<void()>;
template struct Ty<void() const>;
template struct Ty<void() const & noexcept>;
template struct Ty<void(int) volatile&&>;
template struct Ty<int (*)[3]>;
template struct Ty<int D::*>;
template struct Ty<void (D::*)(int) const>;
template struct Ty<const S>;
template struct Ty<E2>;
template struct Ty<vec<Ty<int>>>;
template struct Ty<int (&)[2]>;
template struct Ty<void (&)(int)>;
template struct Ty<void (*&&)(int)>;
template struct Ty<std::nullptr_t>;
template struct Ty<const vec<int>*>;
template struct Ty<char8_t>;
template struct Ty<Ty<Ty<Ty<S>>>>;
template struct Ty<__fp16*>;
template struct Ty<void>;
template struct Ty<const void*>;
template struct Ty<int* __restrict>;
struct CN {
    int a;
    float b;
    constexpr bool operator==(const CN&) const = default;
};
struct CP {
    const int* p;
    int D::* m;
    const CN c;
    int arr[2];
};
template <CN c> void cnf() {}
template <CP c> void cpf() {}
template <double d> void dblf() {}
template <float d> void fltf() {}
constexpr int cgx = 1;
template <auto& R> void autr() {}
template <const int* P> void subp() {}
constexpr int carr[4] = {};
union CU {
    int i;
    float f;
};
template <CU u> void cuf() {}
template void cnf<CN{1, 2.5f}>();
template void cnf<CN{-1, 0}>();
template void cpf<CP{&cgx, nullptr, {1, 2}, {3, 4}}>();
template void cpf<CP{nullptr, &D::data, {0, 0}, {0, 0}}>();
template void dblf<1.5>();
template void dblf<-0.0>();
template void fltf<3.25f>();
template void autr<gx>();
template void autr<garr>();
template void subp<&carr[2]>();
template void cuf<CU{3}>();
template int getm<&D::data>(D*);
template void callm<&D::h>(D*);
template int callb<&Base2::g>(Base2*);
template int callv<&VB2::g>(VB2*);
template int getv<&VB2::v2>(VB2*);
template int getv<nullptr>(VB2*);
template int getm<nullptr>(D*);
template int callb<nullptr>(Base2*);
template void calls<&D::s>();
template void gp<&gx>();
template void gp<nullptr>();
template void gr<gx>();
template void gfr<gf>();
template void gcs<gs>();
template void gp<garr>();
template struct au<>;
template struct au<1, 2, 'c', true, nullptr, &gx, &gf, &gt<int>, &D::data, &D::k, E2::b, -5ll>;
template struct au<&D::s, &Base2::g, &VB2::g, &VB2::v2, 1.5, CN{1, 2}>;
template struct au<&gt<S>, &gt<D>, &gt<S>>;
template void pack<>();
template void pack<int>(int);
template void pack<S, S*, int, S, S*>(S, S*, int, S, S*);
template void two<int, S>(vec<int>*, vec<S>*);
template void tt<vec, 3>(vec<int> (&)[3]);
template struct ttt<vec>;
template struct ttt<alias>;
template void nt<true, 'x', -1, -1, ~0ull, E2::b, nullptr>();
template void nt<false, 0, 32767, (-9223372036854775807ll - 1), 1, E2::a, nullptr>();
template vec<int> ret<vec<int>>();
template const S* const ret<const S* const>();
void un() {
    struct {
        int q;
    } u;
    one(u);
    enum { aa } e;
    one(e);
    union {
        int z;
    } w;
    one(w);
    af(*(AS*)0, 0);
    at(AS());
    inner::qf(inner::Q(), 0, AS());
    AS().m(AS(), 0);
    AS().v();
    callF<clam>();
    operator""_t < 'a', 'b'>();
    deduced(1);
    deduced2(1);
    adv((int*)0);
    n1::S2(1)(3);
    ec(1);
    inl();
    da();
}
typedef struct {
    int td;
    void m() {}
} TD;
void tdf(TD, TD*) { TD().m(); }
extern struct {
    int x;
} unn;
struct HasUn {
    struct {
        int y;
    } mem;
    enum { zz };
    union {
        int i;
        struct {
            int j;
        };
    };
};
void hu(decltype(HasUn::mem)*, decltype(HasUn::zz)) {}
struct S6 {
    void f(this S6 s, int);
    void g(this S6&, S6&);
    template <class T> void h(this T&& t) {}
    void operator()(this const S6&) {}
    static void operator[](int) {}
};
void S6::f(this S6 s, int) {}
void S6::g(this S6&, S6&) {}
void use6() {
    S6 s;
    s.h();
    s();
    s[1];
    auto l = [](this auto&& self, int n) -> int { return n; };
    l(1);
    auto sl = [](int) static {};
    sl(1);
}
struct Big {
    template <class... A>
        requires(sizeof...(A) > 1)
    void c(A...) {}
};
void use7(Big& b) { b.c(1, 2); }
template <class T>
concept C = true;
template <C T> void cf(T) {}
void use8() { cf(1); }
template <class T>
    requires C<T>
struct RS {
    void m()
        requires true
    {}
};
template struct RS<int>;
template <class T> constexpr T vt = T(3);
const int& q = vt<int>;
template <class T> T vt2;
int* vv() { return &vt2<int>; }
alignas(16) thread_local int tl1 = *vv();
namespace a::b::inline c {
enum class E : unsigned char {};
void ef(E) {}
} // namespace a::b::inline c
struct Fr {
    friend void frf(Fr) {}
    static void k();
};
int sw(int x) {
    static thread_local int z = *vv();
    return z;
}
struct V1 {
    virtual void a(int) = 0;
};
struct V2 {
    virtual void b();
};
struct V3 : virtual V1, virtual V2 {
    void a(int);
    void b();
    int x;
};
struct V4 : V3 {
    void a(int);
    void b();
    ~V4();
    int y;
};
struct V5 : virtual V4 {
    void b();
    V5();
};
void V3::a(int) {}
void V3::b() {}
void V4::a(int) {}
void V4::b() {}
V4::~V4() {}
void V5::b() {}
V5::V5() {}
void* nv() { return new V5[2]; }
struct Cl {
    Cl(int = 3);
    Cl(const Cl&, int = 2);
    ~Cl();
};
struct __declspec(dllexport) Ex {
    Ex(int = 3);
    Ex(const Ex&, int = 4);
    virtual ~Ex();
    static int s;
    int m();
    template <class T> void t(T) {}
    Cl c[3];
};
Ex::Ex(int) {}
Ex::Ex(const Ex&, int) {}
Ex::~Ex() {}
int Ex::s;
void thr() { throw Ex(); }
struct S7 {
    void operator()(S7);
    operator int();
    template <class T> void tm(T);
    virtual void v(S7);
    template <class T> struct In {
        static void sf(T);
    };
};
struct A7;
struct B7;
template <auto V, class T, class U, class W, class X> struct X5 {
    static void f();
};
template <auto V, class T, class U, class W, class X> void X5<V, T, U, W, X>::f() {}
template <void (*V)(S7), class T, class U, class W, class X> struct X6 {
    static void f();
};
template <void (*V)(S7), class T, class U, class W, class X> void X6<V, T, U, W, X>::f() {}
template <void (S7::*V)(S7), class T, class U, class W, class X> struct X7 {
    static void f();
};
template <void (S7::*V)(S7), class T, class U, class W, class X> void X7<V, T, U, W, X>::f() {}
template struct X6<&gt<S7>, A7, A7*, B7, B7*>;
template struct X7<&S7::operator(), A7, A7*, B7, B7*>;
template struct X7<&S7::tm<S7>, A7, A7*, B7, B7*>;
template struct X7<&S7::v, A7, A7*, B7, B7*>;
template struct X6<&S7::In<S7>::sf, A7, A7*, B7, B7*>;
template <int (S7::*V)(), class T, class U, class W, class X> struct X8 {
    static void f();
};
template <int (S7::*V)(), class T, class U, class W, class X> void X8<V, T, U, W, X>::f() {}
template struct X8<&S7::operator int, A7, A7*, B7, B7*>;
