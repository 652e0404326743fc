// SPDX-License-Identifier: MIT
//! embed.rs - what examples/embed.c does, in Rust: the same calls, the same answers.
//!
//!     rustc -O -L native=/usr/local/lib embed.rs && ./embed [LIMIT]
//!
//! The safe wrapper is the first half; the rest uses it. A whole service is better served by the
//! proxy, once that is there.
use std::ffi::{c_char, c_int, CStr, CString};

const SECOND: i64 = 1_000_000_000;
const NEVER: i64 = i64::MAX; // only a report can unblock
const ABSENT: i64 = i64::MIN; // not told by the response

#[repr(C)]
struct RawLimiter {
    _private: [u8; 0],
}

#[repr(C)]
struct RawError {
    text: [c_char; 256],
}

#[repr(C)]
struct RawOutcome {
    sent_ns: i64,
    latency_ns: i64,
    limit: i64,
    remaining: i64,
    reset_ns: i64,
    retry_after_ns: i64,
    ticket: u64,
    status: i32,
    flags: u32,
}

#[repr(C)]
struct RawWhy {
    size: u64,
    until_ns: i64,
    cause: [c_char; 24],
    text: [c_char; 256],
}

#[link(name = "flyball")]
extern "C" {
    fn fly_limiter_new(
        spec: *const c_char,
        now_ns: i64,
        seed: u64,
        err: *mut RawError,
    ) -> *mut RawLimiter;
    fn fly_limiter_free(l: *mut RawLimiter);
    fn fly_limiter_take(l: *mut RawLimiter, now_ns: i64, cost: u32, ticket: *mut u64) -> i64;
    fn fly_limiter_report(l: *mut RawLimiter, now_ns: i64, o: *const RawOutcome);
    fn fly_limiter_why(l: *mut RawLimiter, now_ns: i64, cost: u32, why: *mut RawWhy) -> c_int;
    fn fly_limiter_rate(l: *mut RawLimiter) -> f64;
}

fn text(bytes: &[c_char]) -> String {
    // Always terminated, as the library promises.
    unsafe { CStr::from_ptr(bytes.as_ptr()) }.to_string_lossy().into_owned()
}

/// One key's accountant.
struct Limiter(*mut RawLimiter);

// The library locks for itself.
unsafe impl Send for Limiter {}
unsafe impl Sync for Limiter {}

/// A request that may start now; it must be reported.
#[must_use]
struct Grant {
    ticket: u64,
    sent_ns: i64,
}

impl Limiter {
    fn new(spec: &str, now_ns: i64, seed: u64) -> Result<Limiter, String> {
        let spec = CString::new(spec).map_err(|e| e.to_string())?;
        let mut err = RawError { text: [0; 256] };
        let raw = unsafe { fly_limiter_new(spec.as_ptr(), now_ns, seed, &mut err) };
        if raw.is_null() {
            return Err(text(&err.text));
        }
        Ok(Limiter(raw))
    }

    /// A grant, or when to ask again.
    fn take(&self, now_ns: i64, cost: u32) -> Result<Grant, i64> {
        let mut ticket = 0;
        let at_ns = unsafe { fly_limiter_take(self.0, now_ns, cost, &mut ticket) };
        if at_ns > now_ns {
            return Err(at_ns);
        }
        Ok(Grant { ticket, sent_ns: now_ns })
    }

    fn report(&self, grant: Grant, now_ns: i64, status: i32, retry_after_ns: Option<i64>) {
        let outcome = RawOutcome {
            sent_ns: grant.sent_ns,
            latency_ns: now_ns - grant.sent_ns,
            limit: ABSENT,
            remaining: ABSENT,
            reset_ns: ABSENT,
            retry_after_ns: retry_after_ns.unwrap_or(ABSENT),
            ticket: grant.ticket,
            status,
            flags: 0,
        };
        unsafe { fly_limiter_report(self.0, now_ns, &outcome) }
    }

    fn rate(&self) -> f64 {
        unsafe { fly_limiter_rate(self.0) }
    }

    fn why(&self, now_ns: i64) -> String {
        let mut why = RawWhy {
            size: std::mem::size_of::<RawWhy>() as u64,
            until_ns: 0,
            cause: [0; 24],
            text: [0; 256],
        };
        unsafe { fly_limiter_why(self.0, now_ns, 1, &mut why) };
        format!("{}: {}", text(&why.cause), text(&why.text))
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        unsafe { fly_limiter_free(self.0) }
    }
}

/// The fake API: 20 requests a second, 30 at once after a pause. The clock is virtual.
#[derive(Default)]
struct Api {
    clock_ns: i64,
    spent_until_ns: i64,
}

impl Api {
    fn call(&mut self) -> (i32, Option<i64>) {
        let from_ns = self.spent_until_ns.max(self.clock_ns);
        let accepted = from_ns - self.clock_ns < 30 * (SECOND / 20);
        if accepted {
            self.spent_until_ns = from_ns + SECOND / 20;
        }
        self.clock_ns += SECOND / 40;
        if accepted {
            (200, None)
        } else {
            (429, Some(SECOND))
        }
    }
}

/// One request: wait for the permit, send, and tell what came of it. None: nothing can start.
fn send_one(limiter: &Limiter, api: &mut Api) -> Option<i32> {
    let grant = loop {
        match limiter.take(api.clock_ns, 1) {
            Ok(grant) => break grant,
            Err(NEVER) => return None,
            Err(at_ns) => api.clock_ns = at_ns,
        }
    };
    let (status, retry_after_ns) = api.call();
    limiter.report(grant, api.clock_ns, status, retry_after_ns);
    Some(status)
}

fn main() {
    let spec = std::env::args().nth(1).unwrap_or_default();
    let mut api = Api::default();
    let limiter = Limiter::new(&spec, api.clock_ns, 1).unwrap_or_else(|mistake| {
        eprintln!("embed: {mistake}");
        std::process::exit(2)
    });
    let (mut accepted, mut refused) = (0, 0);
    while api.clock_ns < 600 * SECOND {
        match send_one(&limiter, &mut api) {
            Some(200) => accepted += 1,
            Some(_) => refused += 1,
            None => std::process::exit(1),
        }
    }
    println!("{accepted} accepted, {refused} refused in {} s", api.clock_ns / SECOND);
    println!("pace now {:.2}/s", limiter.rate());
    println!("{}", limiter.why(api.clock_ns));
}
