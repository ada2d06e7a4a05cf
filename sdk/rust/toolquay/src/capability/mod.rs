//! The host's capabilities: their arguments and answers, as types.
//!
//! A plugin declares each capability it uses in `plugin.toml`; the operator
//! grants it; the rules of the session decide each call.

pub mod clock;
pub mod docs;
pub mod fs;
pub mod lists;
pub mod message;
pub mod random;
pub mod search;
pub mod shell;
pub mod task;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame::Part;

/// The arguments of a capability, which know their name and their answer.
pub trait Capability: Serialize {
    /// The operation, such as `fs.read`.
    const NAME: &'static str;
    /// The head of the answer.
    type Ok: DeserializeOwned;

    /// The bulk of the request, where the operation takes any.
    fn parts(&self) -> Vec<Part<'_>> {
        Vec::new()
    }
}

/// A request to a capability this SDK has no types for.
#[derive(Clone, Debug)]
pub struct Custom<'a> {
    /// The operation.
    pub name: &'a str,
    /// The arguments, a JSON object.
    pub args: serde_json::Value,
    /// The bulk.
    pub parts: &'a [Part<'a>],
}

/// Leaves numbers out that have their default.
fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
