//! Lists of work: `session.todo`, `session.task`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::{ErrorCode, ToolError};
use crate::frame::{Part, PartType};
use crate::pending::Answer;

/// How far a piece of work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkStatus {
    /// It has not begun.
    Pending,
    /// It is worked on.
    InProgress,
    /// It is done.
    Completed,
    /// It was removed, or is to be; no item of a list is.
    Deleted,
    /// What this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// One item of an agent's list of todos.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Todo {
    /// The model's own id; empty is none. No two items of a list have the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: WorkStatus,
    /// What is being done while it is in progress.
    #[serde(skip_serializing_if = "is_zero")]
    pub active_form: String,
    /// `high`, `medium`, `low` or empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: String,
}

/// The arguments of `session.todo`. The body of the answer is [`TodoLists`] in JSON.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TodosArgs<'a> {
    /// Leaves the list as it is, and `list` is nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub read: bool,
    /// The new list: a JSON array of [`Todo`].
    #[serde(skip)]
    pub list: &'a [u8],
}

/// The answer to `session.todo`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TodosOk {
    /// How many items the list now has.
    pub count: u64,
    /// Whether all items were completed: the list is empty now.
    pub cleared: bool,
    /// Whether three or more items are completed and none of them is a check of the work.
    pub unchecked: bool,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A list of todos as it now is, and as it was before the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TodoLists {
    /// The list.
    pub todos: Vec<Todo>,
    /// The list before.
    pub before: Vec<Todo>,
}

impl Capability for TodosArgs<'_> {
    const NAME: &'static str = "session.todo";
    type Ok = TodosOk;

    fn parts(&self) -> Vec<Part<'_>> {
        if self.read { Vec::new() } else { vec![Part { kind: PartType::Json, data: self.list }] }
    }
}

/// One task of the list that the agents of a session, or of a team, share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkItem {
    /// A number from 1 on; no number is given twice.
    pub id: String,
    /// What it is, in a line.
    pub subject: String,
    /// What is to be done.
    pub description: String,
    /// What is being done while it is in progress.
    pub active_form: String,
    /// How far it is.
    pub status: WorkStatus,
    /// The agent that works on it; empty is none.
    pub owner: String,
    /// The tasks that wait for it.
    pub blocks: Vec<String>,
    /// The tasks that it waits for.
    pub blocked_by: Vec<String>,
    /// What agents noted about it.
    pub metadata: Map<String, Value>,
}

/// What a new task is to be, or what of one is to change. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkChange {
    /// What it is, in a line.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject: Option<String>,
    /// What is to be done.
    #[serde(skip_serializing_if = "is_zero")]
    pub description: Option<String>,
    /// What is being done while it is in progress.
    #[serde(skip_serializing_if = "is_zero")]
    pub active_form: Option<String>,
    /// How far it is. In progress makes it the calling agent's, unless `owner` names another;
    /// deleted removes it. New tasks are pending.
    #[serde(skip_serializing_if = "is_zero")]
    pub status: Option<WorkStatus>,
    /// The agent that works on it; empty is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub owner: Option<String>,
    /// Tasks that are to wait for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub add_blocks: Vec<String>,
    /// Tasks that it is to wait for.
    #[serde(skip_serializing_if = "is_zero")]
    pub add_blocked_by: Vec<String>,
    /// Merged into what there is; null removes a key.
    #[serde(skip_serializing_if = "is_zero")]
    pub metadata: Map<String, Value>,
}

/// What `session.task` is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkOperation {
    /// Makes a task.
    Create,
    /// Shows one.
    Get,
    /// Changes one.
    Update,
    /// Lists them.
    #[default]
    List,
}

/// The arguments of `session.task`. The body of the answer to a list is a JSON array of
/// [`WorkItem`] without descriptions and metadata.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WorkArgs<'a> {
    /// What is to be done.
    #[serde(rename = "do")]
    pub operation: WorkOperation,
    /// The task to show or to change.
    #[serde(skip_serializing_if = "is_zero")]
    pub id: &'a str,
    /// What is to be of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'a WorkChange>,
}

/// The answer to `session.task`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkOk {
    /// The task as it now is; `None` where there is none of the id, and where it was deleted.
    pub task: Option<WorkItem>,
    /// The fields that changed.
    pub updated: Vec<String>,
    /// The status before, where it changed.
    pub from: Option<WorkStatus>,
    /// The status after, where it changed.
    pub to: Option<WorkStatus>,
    /// Whether it was completed, three or more are, and none of them is a check of the work.
    pub unchecked: bool,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// How many tasks are listed.
    pub count: u64,
    /// How many more there are.
    pub hidden: u64,
}

impl Capability for WorkArgs<'_> {
    const NAME: &'static str = "session.task";
    type Ok = WorkOk;
}

/// Blocking operations on the session's lists of work.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a>(&'a Context);

// Inlined, so that nothing of it is compiled into plugins that do not use it.
impl<'a> Lists<'a> {
    #[inline]
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// The agent's todos.
    ///
    /// # Errors
    ///
    /// Whatever the host answers.
    #[inline]
    pub fn todos(self) -> Result<Vec<Todo>, ToolError> {
        let answer = self.0.call(&TodosArgs { read: true, list: &[] })?;
        body::<TodoLists, _>(answer).map(|(_, lists)| lists.todos)
    }

    /// Replaces the agent's todos. A list of which all items are completed is cleared.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`] for a list that may not be, or whatever else the host
    /// answers.
    #[inline]
    pub fn set_todos(self, todos: &[Todo]) -> Result<(TodosOk, TodoLists), ToolError> {
        let list = serde_json::to_vec(todos)
            .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the list of todos: {err}")))?;
        body(self.0.call(&TodosArgs { read: false, list: &list })?)
    }

    /// Makes a task.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`], [`ErrorCode::Denied`] where a hook refused it, or whatever
    /// else the host answers.
    #[inline]
    pub fn create(self, task: &WorkChange) -> Result<WorkOk, ToolError> {
        self.work(WorkOperation::Create, "", Some(task))
    }

    /// Shows a task; `None` in `task` is none of the id.
    ///
    /// # Errors
    ///
    /// Whatever the host answers.
    #[inline]
    pub fn get(self, id: &str) -> Result<WorkOk, ToolError> {
        self.work(WorkOperation::Get, id, None)
    }

    /// Changes a task.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::InvalidInput`], [`ErrorCode::Denied`] where a hook
    /// refused that it is completed, or whatever else the host answers.
    #[inline]
    pub fn update(self, id: &str, change: &WorkChange) -> Result<WorkOk, ToolError> {
        self.work(WorkOperation::Update, id, Some(change))
    }

    /// Lists the tasks, without descriptions and metadata.
    ///
    /// # Errors
    ///
    /// Whatever the host answers.
    #[inline]
    pub fn list(self) -> Result<(WorkOk, Vec<WorkItem>), ToolError> {
        body(self.0.call(&WorkArgs { operation: WorkOperation::List, id: "", change: None })?)
    }

    #[inline]
    fn work(self, operation: WorkOperation, id: &str, change: Option<&WorkChange>) -> Result<WorkOk, ToolError> {
        self.0.call(&WorkArgs { operation, id, change }).map(|answer| answer.ok)
    }
}

/// Reads an answer with a body in JSON.
fn body<T: serde::de::DeserializeOwned, O>(answer: Answer<O>) -> Result<(O, T), ToolError> {
    let body = serde_json::from_slice(&answer.body.into_bytes()?)
        .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the host's list of work: {err}")))?;
    Ok((answer.ok, body))
}
