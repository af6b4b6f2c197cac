use std::cell::RefCell;
use std::collections::HashMap;
#[inline(never)]
fn nounwind() {
    extern "C" fn f() {
        panic!("in extern C")
    }
    f()
}
struct D;
impl Drop for D {
    fn drop(&mut self) {
        panic!("in drop")
    }
}
#[inline(never)]
fn crash(k: &str, n: usize) -> usize {
    let v = vec![1u32, 2, 3];
    match k {
        "panic" => panic!("boom {}", n),
        "lit" => panic!("a literal"),
        "unwrap" => {
            let o: Option<u32> = if n > 100 { Some(1) } else { None };
            o.unwrap() as usize
        }
        "expect" => {
            let r: Result<u32, String> = Err(format!("bad {}", n));
            r.expect("expected it") as usize
        }
        "index" => v[n + 7] as usize,
        "div" => 7 / (n - 3),
        "overflow" => {
            let x: u8 = std::hint::black_box(255);
            (x + n as u8) as usize
        }
        "str" => {
            let s = String::from("häßlich");
            s[n - 1..].len()
        }
        "alloc" => {
            let w: Vec<u8> = Vec::with_capacity(1usize << 62);
            w.len()
        }
        "capacity" => {
            let w: Vec<u64> = Vec::with_capacity(usize::MAX / 2);
            w.len()
        }
        "abort" => std::process::abort(),
        "refcell" => {
            let c = RefCell::new(1);
            let _a = c.borrow_mut();
            let b = c.borrow_mut();
            *b as usize
        }
        "assert" => {
            assert_eq!(n, 4, "n is wrong");
            0
        }
        "unreachable" => unreachable!("never"),
        "todo" => todo!(),
        "extern" => {
            nounwind();
            0
        }
        "drop" => {
            let _d = D;
            panic!("first")
        }
        "slice" => v[n..n + 9].len(),
        "hash" => {
            let m: HashMap<u32, u32> = HashMap::new();
            m[&7] as usize
        }
        "thread" => std::thread::spawn(|| panic!("in a thread"))
            .join()
            .map(|_| 0)
            .unwrap_or(1),
        "so" => so(n),
        _ => 0,
    }
}
#[inline(never)]
fn so(n: usize) -> usize {
    let a = std::hint::black_box([n; 100]);
    so(n + 1) + a[5]
}
#[inline(never)]
fn outer(k: &str, n: usize) -> usize {
    crash(k, n) + 1
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    println!("{}", outer(&a[1], a.len() + 1));
}
