//! A host for `cargo test`: runs tools natively, through the same messages as
//! the real one.
//!
//! ```
//! use serde_json::json;
//! use toolquay::testing::Host;
//! use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};
//!
//! #[derive(serde::Deserialize, Schema)]
//! struct Input {
//!     path: String,
//! }
//!
//! /// Shows a file.
//! #[tool(name = "Show")]
//! fn show(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
//!     Ok(Output::text(cx.fs().read(&input.path)?.body))
//! }
//!
//! let manifest = "[[capabilities]]\nname = 'fs.read'\n[[tools]]\nname = 'Show'"; // or the file
//! let host = Host::new().with_manifest(manifest).with_file("notes.txt", "remember the milk");
//!
//! let outcome = host.call::<show>(json!({"path": "notes.txt"}));
//! assert_eq!(outcome.text(), "remember the milk");
//! assert_eq!(outcome.bytes_read(), 0, "the content passed the guest by");
//!
//! let outcome = host.call::<show>(json!({"path": "nothing.txt"}));
//! assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
//! ```
//!
//! A tool is held to the `plugin.toml` beside the `Cargo.toml` of the crate, as the real
//! host holds it: to its capabilities with their scopes, to `read_only`, to its input schema
//! (the manifest's, or else that of its type), to its configuration, and to the limits
//! `output` and `capability_calls`. [`Host::with_manifest`] names another manifest,
//! [`Host::without_manifest`] none. What the manifest says of locks is not held.
//!
//! Files are written in memory, for the calls that follow to see, and as in a session: once
//! an earlier call has shown them ([`Lines`](crate::capability::fs::Lines) with `shown`),
//! or where the call has read all of a file itself and expects its hash.
//!
//! Where it is simpler than the real host: it judges no permissions, `search.contents`
//! searches neither across lines nor by type and cuts no columns, text is UTF-8 with LF and
//! written as it is, quotes match nothing but themselves, a diff is one change without
//! lines around it, and calls are answered in the order they are made. Time and random
//! bytes are the same in every run ([`Host::with_time`]). It has no documents, no shell and
//! no tasks. [`Host::on`] answers a capability in whatever way a test needs.

mod ambient;
mod fs;
mod glob;
#[cfg(test)]
mod kits;
mod manifest;
mod normalize;
mod outcome;
mod schema;
mod search;
mod seen;
mod session;
mod sha256;
mod tree;
mod write;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

pub use outcome::{Outcome, OutcomeBlock, Request};
pub(crate) use session::Session;

use crate::assess::{Assessment, Fact};
use crate::error::ToolError;
use crate::frame::{Frame, Part, PartType};
use crate::host::native;
use crate::schema::{Schema, to_json};
use crate::tool::{self, Tool, ToolEntry};
use crate::wire::{AssessHead, CallHead, Config};
use manifest::Manifest;
use seen::{Glance, Seen};
use tree::Tree;

/// The working directory of a host without a real one.
const CWD: &str = "/project";

type Handler = dyn Fn(&Value) -> Result<Reply, ToolError>;

/// A host to test tools with: files, configuration and answers.
#[derive(Default)]
pub struct Host {
    files: Rc<RefCell<Files>>,
    config: Config,
    handlers: BTreeMap<String, Rc<Handler>>,
    manifest: Holding,
    clock: ambient::Clock,
    builtin: bool,
    user_modified: bool,
}

/// What tools are held to.
#[derive(Default)]
enum Holding {
    #[default]
    File,
    Text(Rc<Manifest>),
    Nothing,
}

/// What one call has read of files, and what its result is to show of them.
#[derive(Default)]
pub(crate) struct Reads {
    own: Seen,
    shown: Vec<Glance>,
    /// Whether the tool is one of those in the box, whose writes stand on what the model
    /// has seen alone.
    builtin: bool,
}

/// The files, and what was seen of them.
#[derive(Default)]
pub(crate) struct Files {
    tree: Tree,
    seen: Seen,
}

/// What a capability answers in a test.
#[derive(Clone, Debug)]
pub struct Reply {
    ok: Value,
    body: Option<Vec<u8>>,
}

impl Reply {
    /// An answer of this head, without a body.
    #[must_use]
    pub fn new(ok: Value) -> Self {
        Self { ok, body: None }
    }

    /// The answer with this body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }
}

impl Host {
    /// A host without files, whose working directory is `/project`.
    #[must_use]
    pub fn new() -> Self {
        let files = Files { tree: Tree::new(CWD), ..Files::default() };
        Self { files: Rc::new(RefCell::new(files)), ..Self::default() }
    }

    /// Adds a file in memory. Its path may be relative to the working directory.
    /// Files are the newer the later they are added.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.set_file(path, content);
        self
    }

    /// Changes a file between calls, as somebody else would.
    pub fn set_file(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.borrow_mut().tree.add(path, content.into());
    }

    /// What a file holds, as the calls before have left it; nothing where there is
    /// none.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.files.borrow().tree.read(path).ok()
    }

    /// Makes a real directory the working directory, and its files readable.
    /// Files in memory hide real ones, and so do those that a tool writes.
    #[must_use]
    pub fn with_dir(self, path: impl Into<PathBuf>) -> Self {
        self.files.borrow_mut().tree.mount(path.into());
        self
    }

    /// Sets a value of the plugin's configuration.
    #[must_use]
    pub fn with_config(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }

    /// Makes calls whose input a person wrote in place of the model's.
    #[must_use]
    pub fn with_user_modified(mut self) -> Self {
        self.user_modified = true;
        self
    }

    /// Holds the tools to this text of a `plugin.toml`, instead of to the file.
    ///
    /// # Panics
    ///
    /// Where it is broken, or has a scope that cannot be checked here.
    #[must_use]
    pub fn with_manifest(mut self, text: &str) -> Self {
        self.manifest = Holding::Text(Rc::new(Manifest::parse(text)));
        self
    }

    /// Holds the tools to no manifest: they may ask for every capability, and their input
    /// is not held against a schema.
    #[must_use]
    pub fn without_manifest(mut self) -> Self {
        self.manifest = Holding::Nothing;
        self
    }

    /// Sets what `clock.now` answers, which otherwise is 2023-11-14 22:13:20 UTC.
    #[must_use]
    pub fn with_time(mut self, time: SystemTime) -> Self {
        self.clock.time = time;
        self
    }

    /// Treats the tools as those that come with the host.
    #[doc(hidden)]
    #[must_use]
    pub fn as_builtin(mut self) -> Self {
        self.builtin = true;
        self
    }

    fn manifest(&self) -> Option<Rc<Manifest>> {
        match &self.manifest {
            Holding::File => Some(Rc::new(Manifest::load())),
            Holding::Text(manifest) => Some(Rc::clone(manifest)),
            Holding::Nothing => None,
        }
    }

    /// Answers a capability with a function of its arguments, instead of from
    /// the files.
    ///
    /// ```
    /// use toolquay::testing::Host;
    /// use toolquay::{ErrorCode, ToolError};
    ///
    /// let host = Host::new().on("fs.read", |_| Err(ToolError::new(ErrorCode::Denied, "a rule says no")));
    /// ```
    #[must_use]
    pub fn on(
        mut self,
        capability: impl Into<String>,
        answer: impl Fn(&Value) -> Result<Reply, ToolError> + 'static,
    ) -> Self {
        self.handlers.insert(capability.into(), Rc::new(answer));
        self
    }

    /// Calls a tool with an input, a value that becomes a JSON object. What a real host
    /// would end the call for, such as an input that does not fit the schema, is an outcome
    /// with an error.
    ///
    /// # Panics
    ///
    /// Where the input has no JSON, the manifest is missing or does not list the tool, or
    /// the tool breaks the protocol.
    pub fn call<T: Tool>(&self, input: impl Serialize) -> Outcome {
        let manifest = self.manifest();
        let mut input = serde_json::to_value(input).expect("an input of JSON");
        let session = Session::new(Rc::clone(&self.files), self.handlers.clone());
        let session = Rc::new(session.held(T::NAME, manifest.clone(), self.builtin, self.clock.clone()));
        if let Some(Err(why)) = manifest.as_ref().map(|manifest| accept::<T>(manifest, &mut input)) {
            return outcome::failed(ToolError::invalid_input(format!("{}: {why}", T::NAME)), &session);
        }
        let head = CallHead {
            tool: T::NAME.to_owned(),
            id: "test".to_owned(),
            cwd: self.files.borrow().tree.cwd().to_owned(),
            user_modified: self.user_modified,
            config: self.config(manifest.as_deref()),
        };
        let message = message(&head, input);
        let answer = native::with(&session, || tool::call(&[ToolEntry::of::<T>()], &message));
        outcome::decode(&answer, &session)
    }

    fn config(&self, manifest: Option<&Manifest>) -> Config {
        manifest.map_or_else(|| self.config.clone(), |manifest| manifest.config(&self.config))
    }

    /// Asks a tool about an input, as the host does before it calls it.
    ///
    /// # Panics
    ///
    /// Where the input has no JSON, the manifest is missing or does not list the tool, or
    /// the tool breaks the protocol.
    pub fn assess<T: Tool>(&self, input: impl Serialize, facts: &[Fact]) -> Assessment {
        let manifest = self.manifest();
        let mut input = serde_json::to_value(input).expect("an input of JSON");
        if let Some(manifest) = &manifest {
            normal::<T>(manifest, &mut input);
        }
        let head = AssessHead {
            tool: T::NAME.to_owned(),
            cwd: self.files.borrow().tree.cwd().to_owned(),
            facts: facts.to_vec(),
            config: self.config(manifest.as_deref()),
        };
        let answer = tool::assess(&[ToolEntry::of::<T>()], &message(&head, input));
        let frame = Frame::decode(&answer).expect("a frame");
        serde_json::from_slice(frame.head).expect("an assessment")
    }
}

/// Puts an input in the form that tools get, and holds it against the schema of the
/// manifest, or else that of the tool's type.
fn accept<T: Tool>(manifest: &Manifest, input: &mut Value) -> Result<(), String> {
    let schema = normal::<T>(manifest, input);
    schema::check(&schema, input, "input")
}

/// Puts an input in the form that tools get, and returns the schema.
fn normal<T: Tool>(manifest: &Manifest, input: &mut Value) -> Value {
    let contract = manifest.tool(T::NAME);
    let text = &contract.input_schema;
    let text = if text.is_empty() { to_json(&<T::Input as Schema>::NODE) } else { text.clone() };
    let schema = serde_json::from_str(&text).expect("an input_schema of JSON");
    normalize::normalize(input, &[&schema], contract.strict);
    schema
}

fn message(head: &impl Serialize, input: impl Serialize) -> Vec<u8> {
    let head = serde_json::to_vec(head).expect("a head of JSON");
    let input = serde_json::to_vec(&input).expect("an input of JSON");
    let parts = vec![Part { kind: PartType::Json, data: &input }];
    Frame { head: &head, parts }.encode().expect("an input within the limits of a frame")
}
