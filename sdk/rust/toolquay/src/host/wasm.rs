//! The real host: the only module of the SDK that may be unsafe.
//!
//! Pointers cross here in both directions, as the ABI lays down: memory given to
//! an import is read or written before the import returns, and the message of an
//! export stays where it is until the next export is entered.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::sync::Once;

use crate::tool::{self, ToolEntry};

mod import {
    #[link(wasm_import_module = "toolquay:host/1")]
    unsafe extern "C" {
        pub fn submit(ptr: *const u8, len: usize) -> u32;
        pub fn wait(ids: *const u32, count: usize) -> u64;
        pub fn read(id: u32, ptr: *mut u8, cap: usize) -> i32;
        pub fn cancel(id: u32);
        pub fn progress(ptr: *const u8, len: usize);
    }
}

/// Starts a capability call and returns its id.
pub fn submit(message: &[u8]) -> u32 {
    // SAFETY: the host reads these bytes and no others, before it returns.
    unsafe { import::submit(message.as_ptr(), message.len()) }
}

/// Blocks until one of the ids is answered and returns its index.
pub fn wait(ids: &[u32]) -> usize {
    // SAFETY: the host reads these ids and no others, before it returns.
    let answered = unsafe { import::wait(ids.as_ptr(), ids.len()) };
    (answered & u64::from(u32::MAX)) as usize
}

/// Takes bytes of an answer: how many, 0 at its end, -1 where it broke off.
pub fn read(id: u32, room: &mut [u8]) -> i32 {
    // SAFETY: the host writes at most this many bytes, before it returns.
    unsafe { import::read(id, room.as_mut_ptr(), room.len()) }
}

/// Gives a call up and frees its handle.
pub fn cancel(id: u32) {
    // SAFETY: passes no memory.
    unsafe { import::cancel(id) }
}

/// Hands on a progress report or a line of the log.
pub fn progress(message: &[u8]) {
    // SAFETY: the host reads these bytes and no others, before it returns.
    unsafe { import::progress(message.as_ptr(), message.len()) }
}

thread_local! {
    /// Room given to the host whose message has not been entered yet.
    static INBOX: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    /// The message returned last.
    static OUTBOX: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The export `alloc`: room for a message, kept here until it is entered.
#[doc(hidden)]
pub fn alloc(len: usize) -> *mut u8 {
    let mut room = Vec::with_capacity(len.max(1));
    let ptr = room.as_mut_ptr();
    INBOX.with_borrow_mut(|inbox| inbox.push(room));
    ptr
}

/// The export `call`.
#[doc(hidden)]
pub fn call(tools: &[ToolEntry], ptr: *mut u8, len: usize) -> u64 {
    enter(ptr, len, |message| tool::call(tools, message))
}

/// The export `assess`.
#[doc(hidden)]
pub fn assess(tools: &[ToolEntry], ptr: *mut u8, len: usize) -> u64 {
    enter(ptr, len, |message| tool::assess(tools, message))
}

/// Takes the message the host wrote and keeps the one it is answered with. The
/// pointer only says which room is meant, so a wrong one does no harm.
fn enter(ptr: *mut u8, len: usize, answer: impl FnOnce(&[u8]) -> Vec<u8>) -> u64 {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(log_panic)));
    OUTBOX.with_borrow_mut(|outbox| *outbox = Vec::new());
    let room = INBOX.with_borrow_mut(|inbox| {
        let index = inbox.iter().position(|room| room.as_ptr() == ptr && room.capacity() >= len)?;
        Some(inbox.swap_remove(index))
    });
    let mut message = room.unwrap_or_default();
    if message.capacity() >= len {
        // SAFETY: the room was made by alloc for at least len bytes, which the
        // host wrote before it entered; any bytes are valid u8.
        unsafe { message.set_len(len) };
    }
    let out = answer(&message);
    let named = ((out.as_ptr() as u64) << 32) | out.len() as u64;
    OUTBOX.with_borrow_mut(|outbox| *outbox = out);
    named
}

/// A panic is about to trap: the operator's log says where it happened.
fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    crate::context::log(crate::Level::Error, &info.to_string());
}
