//! Write tools for language models as WebAssembly plugins of Toolquay.
//!
//! A tool is a function of its input. `#[derive(Schema)]` makes the input's JSON
//! Schema at compile time, `#[tool]` makes the function a tool, `plugin!` makes
//! the crate a plugin:
//!
//! ```
//! use toolquay::{Context, Output, Schema, ToolError, tool};
//!
//! #[derive(serde::Deserialize, Schema)]
//! struct Input {
//!     /// The file to show, relative to the working directory.
//!     path: String,
//! }
//!
//! /// Shows a file.
//! #[tool(name = "Show")]
//! fn show(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
//!     Ok(Output::text(cx.fs().read(&input.path)?.body))
//! }
//!
//! toolquay::plugin!(show);
//! # fn main() {}
//! ```
//!
//! - Everything a tool does to the world is a capability call: [`Context::fs`],
//!   [`Context::docs`], [`Context::search`], [`Context::shell`], [`Context::tasks`],
//!   [`Context::lists`], [`Context::tell`], or [`Context::submit`] for calls that run side by side.
//! - Answers are handles. [`Body`] is read in pieces, or put into the [`Output`]
//!   unread, so that bulk never enters the guest.
//! - Failures carry a code: [`ToolError`], [`ErrorCode`].
//! - [`testing`] is a host for `cargo test`, without WebAssembly.
//!
//! The guest speaks version 1 of the direct ABI; [`frame`] has its messages.
#![deny(unsafe_code)]

// Lets the macros' paths resolve in this crate's own tests too.
extern crate self as toolquay;

mod assess;
pub mod capability;
mod context;
mod error;
pub mod frame;
mod host;
mod json;
mod output;
mod pending;
pub mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool;
#[cfg(test)]
mod vectors;
mod wire;

pub use capability::{clock, random};

pub use assess::{AssessContext, Assessment, Fact, Lines, Verdict};
pub use context::{Context, Level, Progress, log};
pub use error::{ErrorCode, ToolError};
pub use output::{Data, IntoResult, Output, Text};
pub use pending::{Answer, AnyPending, Body, Pending, Piece, Pieces, wait_any};
pub use schema::Schema;
pub use tool::Tool;

/// Writes a line of level info to the operator's log, with the arguments of
/// [`std::println!`]. On `wasm32-unknown-unknown` the standard library's macro writes
/// nowhere: put `use toolquay::{println, eprintln};` at the top of a file to have what
/// it prints logged.
#[macro_export]
macro_rules! println {
    () => { $crate::log($crate::Level::Info, "") };
    ($($arg:tt)*) => { $crate::log($crate::Level::Info, &::std::format!($($arg)*)) };
}

/// Writes a line of level warn to the operator's log, as [`println!`](crate::println)
/// does one of level info.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::log($crate::Level::Warn, "") };
    ($($arg:tt)*) => { $crate::log($crate::Level::Warn, &::std::format!($($arg)*)) };
}

/// Derives [`trait@Schema`], whose documentation says what it takes.
pub use toolquay_macros::Schema;
/// Makes a function a [`Tool`], whose documentation says what it takes.
pub use toolquay_macros::tool;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use host::wasm as guest;
#[doc(hidden)]
pub use tool::{ToolEntry, piece as tool_piece};
