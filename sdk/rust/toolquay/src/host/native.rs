//! The native twin: the same five functions, answered by the
//! [`testing::Host`](crate::testing::Host) that runs a tool on this thread.

use std::cell::RefCell;
use std::rc::Rc;

use crate::testing::Session;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Session>>> = const { RefCell::new(None) };
}

/// Answers this thread's capability calls from the session while `work` runs.
pub fn with<T>(session: &Rc<Session>, work: impl FnOnce() -> T) -> T {
    /// Puts the session before back, also where a test panics.
    struct Restore(Option<Rc<Session>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Rc::clone(session))));
    work()
}

fn current() -> Option<Rc<Session>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Starts a capability call and returns its id, 0 where no host is there.
pub fn submit(message: &[u8]) -> u32 {
    current().map_or(0, |session| session.submit(message))
}

/// Returns the index of a call that is answered, which here they all are.
pub fn wait(ids: &[u32]) -> usize {
    current().map_or(0, |session| session.wait(ids))
}

/// Takes bytes of an answer: how many, 0 at its end, -1 where it broke off.
pub fn read(id: u32, room: &mut [u8]) -> i32 {
    current().map_or(-1, |session| session.read(id, room))
}

/// Gives a call up and frees its handle.
pub fn cancel(id: u32) {
    if let Some(session) = current() {
        session.cancel(id);
    }
}

/// Hands on a progress report or a line of the log.
pub fn progress(message: &[u8]) {
    if let Some(session) = current() {
        session.progress(message);
    }
}
