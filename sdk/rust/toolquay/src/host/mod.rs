//! The five functions a guest imports, and nothing else: [`wasm`] asks the real
//! host, [`native`] the one of [`testing`](crate::testing).

#[cfg(not(target_family = "wasm"))]
pub mod native;
#[cfg(not(target_family = "wasm"))]
pub use native::{cancel, progress, read, submit, wait};

#[cfg(target_family = "wasm")]
pub mod wasm;
#[cfg(target_family = "wasm")]
pub use wasm::{cancel, progress, read, submit, wait};

/// The most ids one wait may name.
pub const MAX_WAIT: usize = 1024;
