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
//! let host = Host::new().with_file("notes.txt", "remember the milk");
//!
//! let outcome = host.call::<show>(json!({"path": "notes.txt"}));
//! assert_eq!(outcome.text(), "remember the milk");
//! assert_eq!(outcome.bytes_read(), 0, "the content passed the guest by");
//!
//! let outcome = host.call::<show>(json!({"path": "nothing.txt"}));
//! assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
//! ```
//!
//! Files are written in memory, for the calls that follow to see, and not before the
//! tool has shown them ([`Lines`](crate::capability::fs::Lines) with `shown`), as in
//! a session.
//!
//! Where it is simpler than the real host: it judges no permissions and does not
//! hold input against the schema, `search.contents` finds plain text and no
//! regular expressions, text is UTF-8 with LF and written as it is, quotes match
//! nothing but themselves, a diff is one change without lines around it, and calls
//! are answered in the order they are made. It has no documents, no shell and no tasks.
//! [`Host::on`] answers a capability in whatever way a test needs.

mod fs;
mod glob;
mod outcome;
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

use serde::Serialize;
use serde_json::Value;

pub use outcome::{Outcome, OutcomeBlock, Request};
pub(crate) use session::Session;

use crate::assess::{Assessment, Fact};
use crate::error::ToolError;
use crate::frame::{Frame, Part, PartType};
use crate::host::native;
use crate::tool::{self, Tool, ToolEntry};
use crate::wire::{AssessHead, CallHead, Config};
use seen::Seen;
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

    /// Calls a tool with an input, a value that becomes a JSON object.
    ///
    /// # Panics
    ///
    /// Where the input has no JSON, or the tool breaks the protocol.
    pub fn call<T: Tool>(&self, input: impl Serialize) -> Outcome {
        let head = CallHead {
            tool: T::NAME.to_owned(),
            id: "test".to_owned(),
            cwd: self.files.borrow().tree.cwd().to_owned(),
            config: self.config.clone(),
        };
        let message = message(&head, input);
        let session = Rc::new(Session::new(Rc::clone(&self.files), self.handlers.clone()));
        let answer = native::with(&session, || tool::call(&[ToolEntry::of::<T>()], &message));
        outcome::decode(&answer, &session)
    }

    /// Asks a tool about an input, as the host does before it calls it.
    ///
    /// # Panics
    ///
    /// Where the input has no JSON, or the tool breaks the protocol.
    pub fn assess<T: Tool>(&self, input: impl Serialize, facts: &[Fact]) -> Assessment {
        let head = AssessHead {
            tool: T::NAME.to_owned(),
            cwd: self.files.borrow().tree.cwd().to_owned(),
            facts: facts.to_vec(),
            config: self.config.clone(),
        };
        let answer = tool::assess(&[ToolEntry::of::<T>()], &message(&head, input));
        let frame = Frame::decode(&answer).expect("a frame");
        serde_json::from_slice(frame.head).expect("an assessment")
    }
}

fn message(head: &impl Serialize, input: impl Serialize) -> Vec<u8> {
    let head = serde_json::to_vec(head).expect("a head of JSON");
    let input = serde_json::to_vec(&input).expect("an input of JSON");
    let parts = vec![Part { kind: PartType::Json, data: &input }];
    Frame { head: &head, parts }.encode().expect("an input within the limits of a frame")
}
