#![no_std]
#![no_main]
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};
static G: AtomicI32 = AtomicI32::new(0);

#[inline(always)]
fn add(x: i32) -> i32 {
    x + G.load(Relaxed)
}

mod net {
    pub struct Socket<T>(pub T);
    impl<T: Copy + Into<i32>> Socket<T> {
        #[inline(never)]
        pub fn send(&self, n: i32) -> i32 {
            crate::G.store(self.0.into(), core::sync::atomic::Ordering::Relaxed);
            crate::add(n) * 2
        }
        #[inline(never)]
        pub fn close(&self) {
            crate::G.store(self.0.into(), core::sync::atomic::Ordering::Relaxed);
        }
    }
    impl<T> Drop for Socket<T> {
        #[inline(never)]
        fn drop(&mut self) {
            crate::G.store(7, core::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[inline(never)]
fn apply<T>(f: &dyn Fn(T) -> i32, x: T) -> i32 {
    f(x) + add(1)
}

#[no_mangle]
pub extern "C" fn _start() {
    let s = net::Socket(3u8);
    let n = s.send(4);
    s.close();
    let f = |x: i32| {
        G.store(x, Relaxed);
        add(x) * n
    };
    G.store(apply(&f, 5), Relaxed);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
