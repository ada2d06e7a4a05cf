//! Questions about a call that has not run: its traits, and whether its input
//! makes sense.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context;
use crate::error::ToolError;
use crate::wire::{AssessHead, Config};

/// What is known when a call is assessed. There is no way to the host in it:
/// assessing has no capabilities.
#[derive(Debug)]
pub struct AssessContext {
    tool: String,
    cwd: String,
    facts: Vec<Fact>,
    config: Config,
}

impl AssessContext {
    pub(crate) fn new(head: AssessHead) -> Self {
        Self { tool: head.tool, cwd: head.cwd, facts: head.facts, config: head.config }
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The session's working directory, an absolute path.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// What the host knows of those of the call's own paths that its rules
    /// allow. Empty when only traits are asked for.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// What the host knows of a path, as the input has it.
    #[must_use]
    pub fn fact(&self, path: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.path == path)
    }

    /// A value of the plugin's configuration, or `None` where it is not set.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`](crate::ErrorCode::InvalidInput), where the
    /// operator set something else.
    pub fn config<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        context::config(&self.config, key)
    }
}

/// What the host knows about one path of a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// The path as the input has it.
    pub path: String,
    /// Whether there is anything.
    pub exists: bool,
    /// `file`, `directory` or `other`.
    pub kind: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether this session has read it.
    pub read: bool,
    /// Whether it is no longer what was read.
    pub changed: bool,
}

/// What a tool says of a call beforehand. What is not said counts as the
/// manifest's word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
pub struct Assessment {
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency_safe: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid: Option<Invalid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    touches: Vec<Touch>,
    #[serde(skip_serializing_if = "String::is_empty")]
    rendering: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Lines>,
    #[serde(skip_serializing_if = "String::is_empty")]
    classifier_text: String,
}

/// Templates for the lines that people are shown of one call, in place of those in the
/// manifest, such as `{pattern}[ in {path}]`. A line stands behind the tool's name, so it
/// does not repeat it. `{field}` is a field of the input; `{field|file}` counts; `{field?words}`
/// are words for what is true; a text in brackets is left out where a field in it has no
/// value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
pub struct Lines {
    #[serde(skip_serializing_if = "String::is_empty")]
    queued: String,
    #[serde(rename = "use", skip_serializing_if = "String::is_empty")]
    using: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    progress: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    result: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    rejection: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    error: String,
}

impl Lines {
    /// No templates: those of the manifest count.
    pub fn new() -> Self {
        Self::default()
    }

    /// While the call waits for its turn.
    pub fn queued(mut self, template: impl Into<String>) -> Self {
        self.queued = template.into();
        self
    }

    /// What the call does, also in questions about it.
    pub fn using(mut self, template: impl Into<String>) -> Self {
        self.using = template.into();
        self
    }

    /// How far it has come: `{message}`, `{done}` and `{total}` of the report, `{lines}`,
    /// `{bytes}` and `{tail}` of the output.
    pub fn progress(mut self, template: impl Into<String>) -> Self {
        self.progress = template.into();
        self
    }

    /// What came of it: `{result.field}` of the structured answer, `{text}` for the first
    /// line of the text.
    pub fn result(mut self, template: impl Into<String>) -> Self {
        self.result = template.into();
        self
    }

    /// Why it was not allowed to run, or was ended from outside: `{error}`, `{code}`.
    pub fn rejection(mut self, template: impl Into<String>) -> Self {
        self.rejection = template.into();
        self
    }

    /// Why it failed: `{error}`, `{code}`, `{result.field}`.
    pub fn error(mut self, template: impl Into<String>) -> Self {
        self.error = template.into();
        self
    }

    /// Writes a text so that a template shows it as it is.
    #[must_use]
    pub fn escape(text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if matches!(c, '{' | '}' | '[' | ']') {
                out.push(c);
            }
            out.push(c);
        }
        out
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Invalid {
    message: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    code: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Check {
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Touch {
    path: String,
    #[serde(default, skip_serializing_if = "is_false")]
    write: bool,
}

/// A tool's own word on whether a call may run. A plugin that is not built in
/// can only tighten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing speaks against it.
    Allow,
    /// A person should decide.
    Ask,
    /// It must not run.
    Deny,
    /// Ask, whatever else allows it.
    Passthrough,
}

impl Assessment {
    /// Nothing to say.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the input, and tells the model why. The manifest must say
    /// `validates = true`.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new().and_invalid(message, 0)
    }

    /// Refuses the input with the tool's own number for it, 0 for none.
    pub fn and_invalid(mut self, message: impl Into<String>, code: i64) -> Self {
        self.invalid = Some(Invalid { message: message.into(), code });
        self
    }

    /// Says whether the call changes nothing.
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = Some(yes);
        self
    }

    /// Says whether the call may run beside others.
    pub fn concurrency_safe(mut self, yes: bool) -> Self {
        self.concurrency_safe = Some(yes);
        self
    }

    /// Says whether the call destroys what cannot be had back.
    pub fn destructive(mut self, yes: bool) -> Self {
        self.destructive = Some(yes);
        self
    }

    /// Says whether the tool can be used at all.
    pub fn enabled(mut self, yes: bool) -> Self {
        self.enabled = Some(yes);
        self
    }

    /// Gives the tool's own verdict. The manifest must say `checks = true`.
    pub fn check(mut self, verdict: Verdict, reason: impl Into<String>) -> Self {
        self.check = Some(Check { verdict, reason: reason.into() });
        self
    }

    /// Adds a file or directory that the call reads, with all below it. The
    /// manifest must say `locks = "input"`: then calls that have nothing in common
    /// run side by side, and what a call touches beyond what is said here is
    /// refused. At most 1,024 can be said in all.
    pub fn reads(mut self, path: impl Into<String>) -> Self {
        self.touches.push(Touch { path: path.into(), write: false });
        self
    }

    /// Adds a file or directory that the call writes, and perhaps reads, with all
    /// below it; see [`Assessment::reads`].
    pub fn writes(mut self, path: impl Into<String>) -> Self {
        self.touches.push(Touch { path: path.into(), write: true });
        self
    }

    /// Says in one line, for people, what the call is about to do, without the tool's name.
    /// The manifest says `renders = true`, so that the host asks for it.
    pub fn rendering(mut self, line: impl Into<String>) -> Self {
        self.rendering = line.into();
        self
    }

    /// Words this call in place of the manifest; see [`Assessment::rendering`].
    pub fn lines(mut self, lines: Lines) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Says what a judge is shown of the input in place of all of it. Of a plugin that is
    /// not built in a judge is shown both.
    pub fn classifier_text(mut self, text: impl Into<String>) -> Self {
        self.classifier_text = text.into();
        self
    }

    /// Why the input is refused, if it is.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.invalid.as_ref().map(|invalid| invalid.message.as_str())
    }
}

impl From<Result<(), ToolError>> for Assessment {
    /// An error refuses the input with its message.
    fn from(result: Result<(), ToolError>) -> Self {
        match result {
            Ok(()) => Self::new(),
            Err(err) => Self::invalid(err.to_string()),
        }
    }
}

fn is_zero(code: &i64) -> bool {
    *code == 0
}

fn is_false(value: &bool) -> bool {
    !value
}
