//! Ripgrep's regular expressions for the host: it writes text into the window,
//! and asks which lines of it match.
//!
//! Everything is plain numbers over one linear memory. Calls are made one at a
//! time, by one host that knows what it does: what it passes is checked for
//! length only. Running out of memory or of fuel ends the instance.

mod engines;
mod literals;
mod program;
mod table;
mod tree;

use program::{Options, Program, Span};
use std::cell::RefCell;

/// How many matches one call of [`find`] answers at most.
const MAX_SPANS: usize = 256;

#[derive(Default)]
struct State {
    window: Vec<u8>,
    answer: Vec<u8>,
    program: Option<Program>,
    spans: Vec<Span>,
}

impl State {
    /// Where the answer is, and how long.
    fn answer(&self) -> u64 {
        (self.answer.as_ptr() as u64) << 32 | self.answer.len() as u64
    }
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(f: impl FnOnce(&mut State) -> T) -> T {
    STATE.with(|state| f(&mut state.borrow_mut()))
}

/// Makes the window at least `size` bytes long and returns where it is, 0 where
/// there is no memory for it. What was in it stays.
#[unsafe(no_mangle)]
pub extern "C" fn window(size: u32) -> usize {
    with(|s| {
        let more = (size as usize).saturating_sub(s.window.len());
        if s.window.try_reserve_exact(more).is_err() {
            return 0;
        }
        s.window.resize(s.window.len() + more, 0);
        s.window.as_ptr() as usize
    })
}

/// Compiles the pattern in the first `len` bytes of the window, for all the
/// searches that follow. The answer is a place in the upper and a length in the
/// lower half: one byte, 0 for an error with its words behind it, else 1 and what
/// [`Program::facts`] writes.
#[unsafe(no_mangle)]
pub extern "C" fn compile(len: u32, ignore_case: u32, multiline: u32, count: u32) -> u64 {
    with(|s| {
        s.answer.clear();
        let text = String::from_utf8_lossy(&s.window[..len as usize]);
        let options = Options { ignore_case: ignore_case != 0, multiline: multiline != 0, count: count != 0 };
        match Program::new(&text, options) {
            Ok(program) => {
                s.answer.push(1);
                program.facts(&mut s.answer);
                s.program = Some(program);
            }
            Err(words) => {
                s.answer.push(0);
                s.answer.extend_from_slice(words.as_bytes());
            }
        }
        s.spans.reserve(MAX_SPANS);
        s.answer()
    })
}

/// Answers, as [`compile`] does, with the machine that the host can run itself to find
/// lines of ASCII that match what was compiled: see [`Program::table`].
#[unsafe(no_mangle)]
pub extern "C" fn table() -> u64 {
    with(|s| {
        s.answer.clear();
        if let Some(program) = &s.program {
            program.table(&mut s.answer);
        }
        s.answer()
    })
}

/// Where [`find`] leaves what it found: pairs of 32-bit numbers.
#[unsafe(no_mangle)]
pub extern "C" fn spans() -> usize {
    with(|s| s.spans.as_ptr() as usize)
}

/// Finds up to `most` matches in the window between `from` and `to`, and returns
/// how many it found. Fewer than `most`, or [`MAX_SPANS`] of them, says that there
/// are no more. `from` starts a line, or follows the last match where matches may
/// span lines; the text before it is looked at, not searched.
#[unsafe(no_mangle)]
pub extern "C" fn find(from: u32, to: u32, most: u32) -> usize {
    with(|s| {
        s.spans.clear();
        let most = (most as usize).min(MAX_SPANS);
        if let Some(program) = &mut s.program {
            program.find(&s.window[..to as usize], from as usize, most, &mut s.spans);
        }
        s.spans.len()
    })
}
