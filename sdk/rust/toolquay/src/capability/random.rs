//! Random numbers: `random.bytes`, which nobody has to grant.
//!
//! A module for `wasm32-unknown-unknown` has none of its own: crates such as `getrandom`
//! do not build for it, or fail.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::Capability;
use crate::context;
use crate::error::{ErrorCode, ToolError};

/// How many bytes one request may ask for. [`fill`] makes as many as it needs.
pub const MAX_RANDOM: usize = 64 << 10;

/// The arguments of `random.bytes`. The body of the answer is the bytes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RandomArgs {
    /// How many bytes are wanted, up to [`MAX_RANDOM`].
    pub length: usize,
}

/// The answer to `random.bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RandomOk {
    /// How many bytes there are.
    pub length: usize,
}

impl Capability for RandomArgs {
    const NAME: &'static str = "random.bytes";
    type Ok = RandomOk;
}

/// Fills the buffer with random bytes of the host's that nobody can foresee.
///
/// # Errors
///
/// [`ErrorCode::Undeclared`] where `plugin.toml` does not declare `random.bytes`.
pub fn fill(buffer: &mut [u8]) -> Result<(), ToolError> {
    for piece in buffer.chunks_mut(MAX_RANDOM) {
        let mut answer = context::call(&RandomArgs { length: piece.len() })?;
        answer.body.read_exact(piece).map_err(|err| ToolError::new(ErrorCode::Io, err.to_string()))?;
    }
    Ok(())
}
