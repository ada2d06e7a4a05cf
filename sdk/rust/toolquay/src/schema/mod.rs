//! JSON Schemas, made at compile time.
//!
//! `#[derive(Schema)]` turns a type into a tree of [`Node`]s, a constant; the
//! [`plugin!`](crate::plugin) macro has the compiler render it into the
//! module's `toolquay.tools` section. Nothing of it runs in the guest.

mod render;

use std::collections::{BTreeMap, HashMap};

#[doc(hidden)]
pub use render::Piece;
use render::render;

/// A type that has a JSON Schema, known at compile time.
///
/// Derive it for structs with named fields and for enums of unit variants. Doc
/// comments become descriptions, and objects take no properties but their own.
/// Of serde's attributes `rename`, `rename_all`, `default` and `skip` are
/// honoured; `#[schema(...)]` adds `minimum`, `maximum`, `min_length`,
/// `max_length`, `min_items`, `max_items`, `pattern`, `format`, `default`,
/// `description` (instead of the doc comment) and `skip`. A property is required
/// unless its type is an `Option` or serde has a default for it. A type that
/// contains itself has no finite schema and does not compile.
///
/// ```
/// use toolquay::Schema;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Input {
///     /// The file to look at.
///     path: String,
///     /// How many lines to show.
///     #[schema(minimum = 1, maximum = 500, default = 10)]
///     lines: Option<u32>,
///     #[serde(rename = "-i", default)]
///     case_insensitive: bool,
/// }
///
/// assert_eq!(
///     toolquay::schema::to_json(&Input::NODE),
///     concat!(
///         r#"{"type":"object","properties":{"#,
///         r#""path":{"description":"The file to look at.","type":"string"},"#,
///         r#""lines":{"description":"How many lines to show.","type":"integer","minimum":1,"maximum":500,"default":10},"#,
///         r#""-i":{"type":"boolean"}},"#,
///         r#""required":["path"],"additionalProperties":false}"#,
///     )
/// );
/// ```
///
/// What has no schema says so at compile time:
///
/// ```compile_fail
/// #[derive(toolquay::Schema)]
/// enum Shape {
///     Circle { radius: f64 },
/// }
/// ```
///
/// ```compile_fail
/// #[derive(toolquay::Schema)]
/// struct Input {
///     #[schema(minimun = 1)]
///     count: u32,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    note = "derive it: #[derive(serde::Deserialize, toolquay::Schema)]"
)]
pub trait Schema {
    /// The schema.
    const NODE: Node;
    /// Whether a property of this type may be left out.
    const OPTIONAL: bool = false;
    /// What describes a property of this type that has no description itself.
    const DESCRIPTION: &'static str = "";
}

/// A JSON Schema, as a tree in constant memory.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// Any value.
    Any,
    /// A bool.
    Boolean,
    /// A number.
    Number,
    /// A number without a fraction, with its bounds as JSON.
    Integer {
        /// The least value, or empty.
        minimum: &'static str,
        /// The greatest value, or empty.
        maximum: &'static str,
    },
    /// A text.
    String,
    /// One of these texts.
    Enum(&'static [&'static str]),
    /// A list.
    Array(&'static Node),
    /// An object with any property names.
    Map(&'static Node),
    /// An object with these properties and no others.
    Object(&'static [Property]),
    /// A value, or null.
    Nullable(&'static Node),
}

/// One property of an object.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name in JSON.
    pub name: &'static str,
    /// The schema of the value.
    pub node: Node,
    /// What the model is told of it; may be empty.
    pub description: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Further keywords, each with its value as JSON text.
    pub keywords: &'static [(&'static str, &'static str)],
}

macro_rules! schemas {
    ($($node:expr => $($ty:ty),+;)+) => {$($(
        impl Schema for $ty {
            const NODE: Node = $node;
        }
    )+)+};
}

schemas! {
    Node::Boolean => bool;
    Node::Number => f32, f64;
    Node::Integer { minimum: "", maximum: "" } => i64, isize;
    Node::Integer { minimum: "0", maximum: "" } => u64, usize;
    Node::Integer { minimum: "0", maximum: "255" } => u8;
    Node::Integer { minimum: "0", maximum: "65535" } => u16;
    Node::Integer { minimum: "0", maximum: "4294967295" } => u32;
    Node::Integer { minimum: "-128", maximum: "127" } => i8;
    Node::Integer { minimum: "-32768", maximum: "32767" } => i16;
    Node::Integer { minimum: "-2147483648", maximum: "2147483647" } => i32;
    Node::String => String, &str, std::borrow::Cow<'_, str>;
    Node::Any => serde_json::Value;
    Node::Map(&Node::Any) => serde_json::Map<String, serde_json::Value>;
}

impl<T: Schema> Schema for Option<T> {
    const NODE: Node = T::NODE;
    const OPTIONAL: bool = true;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
}

impl<T: Schema> Schema for Box<T> {
    const NODE: Node = T::NODE;
    const OPTIONAL: bool = T::OPTIONAL;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
}

impl<T: Schema> Schema for Vec<T> {
    const NODE: Node = Node::Array(&T::NODE);
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    const NODE: Node = Node::Map(&T::NODE);
}

impl<T: Schema, S> Schema for HashMap<String, T, S> {
    const NODE: Node = Node::Map(&T::NODE);
}

/// A value or null, for properties that must be there: an `Option` may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Schema> Schema for Nullable<T> {
    const NODE: Node = Node::Nullable(&T::NODE);
    const DESCRIPTION: &'static str = T::DESCRIPTION;
}

/// Picks a property's own description, or else its type's.
#[doc(hidden)]
#[must_use]
pub const fn describe(own: &'static str, of_type: &'static str) -> &'static str {
    if own.is_empty() { of_type } else { own }
}

/// Renders a schema as JSON text, at run time.
#[must_use]
pub fn to_json(node: &Node) -> String {
    let mut text = vec![0; render(node, &mut [])];
    render(node, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
