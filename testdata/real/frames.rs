// Threads of a Rust program: deep in generic calls, in a callback of sort, in a panic's hook, in a destructor while a panic unwinds, and
// blocked in the ways of the standard library.
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

static WAITING: AtomicUsize = AtomicUsize::new(0);

#[inline(never)]
fn wait_here() {
    WAITING.fetch_add(1, Ordering::SeqCst);
    loop {
        thread::park();
    }
}

struct Slow(Vec<u8>);

impl Drop for Slow {
    fn drop(&mut self) {
        wait_here();
    }
}

#[inline(never)]
fn recursion(n: usize, list: &mut Vec<usize>) -> usize {
    list.push(n);
    if n == 0 {
        wait_here();
        return list.len();
    }
    recursion(n - 1, list) + list.len()
}

#[inline(never)]
fn closures(f: &dyn Fn(usize) -> usize) -> usize {
    (0..10).map(|i| f(i)).filter(|i| i % 2 == 0).sum()
}

#[inline(never)]
fn sorting() -> Vec<u32> {
    let mut list: Vec<u32> = (0..40).map(|i| i * 7919 % 41).collect();
    let mut calls = 0;
    list.sort_by(|a, b| {
        calls += 1;
        if calls == 30 {
            wait_here();
        }
        a.cmp(b)
    });
    list
}

#[inline(never)]
fn panics(text: &str) -> usize {
    let slow = Slow(vec![1, 2, 3]);
    if text.len() == 4 {
        panic!("{text}");
    }
    slow.0.len()
}

fn main() {
    panic::set_hook(Box::new(|info| {
        if info.to_string().contains("hook") {
            wait_here();
        }
    }));
    let mutex = Arc::new(Mutex::new(0));
    let held = mutex.clone();
    let _guard = held.lock().unwrap();
    let (sender, receiver) = mpsc::channel::<u32>();
    let jobs: Vec<Box<dyn FnOnce() + Send>> = vec![
        Box::new(|| drop(recursion(100, &mut Vec::new()))),
        Box::new(|| {
            closures(&|i| {
                if i == 5 {
                    wait_here();
                }
                i
            });
        }),
        Box::new(|| drop(sorting())),
        Box::new(|| drop(panics("hook"))),
        Box::new(|| drop(panics("drop"))),
        Box::new(move || {
            WAITING.fetch_add(1, Ordering::SeqCst);
            drop(mutex.lock());
        }),
        Box::new(move || {
            WAITING.fetch_add(1, Ordering::SeqCst);
            drop(receiver.recv());
        }),
        Box::new(|| {
            WAITING.fetch_add(1, Ordering::SeqCst);
            let pair = (Mutex::new(()), Condvar::new());
            drop(pair.1.wait(pair.0.lock().unwrap()));
        }),
    ];
    let count = jobs.len();
    for (i, job) in jobs.into_iter().enumerate() {
        thread::Builder::new().name(format!("job {i}")).spawn(job).unwrap();
    }
    while WAITING.load(Ordering::SeqCst) < count {
        thread::sleep(Duration::from_millis(1));
    }
    println!("ready");
    wait_here();
    drop(sender);
}
