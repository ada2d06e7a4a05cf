//! The time: `clock.now`, which nobody has to grant.
//!
//! `std::time::SystemTime::now` and `Instant::now` panic in a module for
//! `wasm32-unknown-unknown`, which has no clock of its own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Capability;
use crate::context;
use crate::error::ToolError;

/// The arguments of `clock.now`: there are none.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClockArgs {}

/// The answer to `clock.now`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockOk {
    /// The time in nanoseconds since 1970, in UTC.
    pub unix_ns: i64,
    /// Nanoseconds of a clock that is never put back. It begins anywhere, so that only
    /// differences mean anything, and only within one call.
    pub monotonic_ns: i64,
}

impl Capability for ClockArgs {
    const NAME: &'static str = "clock.now";
    type Ok = ClockOk;
}

/// The time of day, by the host.
///
/// # Errors
///
/// [`ErrorCode::Undeclared`](crate::ErrorCode::Undeclared) where `plugin.toml` does not
/// declare `clock.now`.
pub fn now() -> Result<SystemTime, ToolError> {
    let ns = ask()?.unix_ns;
    let away = Duration::from_nanos(ns.unsigned_abs());
    Ok(if ns < 0 { UNIX_EPOCH - away } else { UNIX_EPOCH + away })
}

/// The time of a clock that is never put back, for measuring within one call: the
/// difference of two is how long it took.
///
/// # Errors
///
/// As [`now`].
pub fn monotonic() -> Result<Duration, ToolError> {
    Ok(Duration::from_nanos(ask()?.monotonic_ns.unsigned_abs()))
}

fn ask() -> Result<ClockOk, ToolError> {
    Ok(context::call(&ClockArgs {})?.ok)
}
