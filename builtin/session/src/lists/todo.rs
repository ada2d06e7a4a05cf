//! The tool TodoWrite.

use serde::{Deserialize, Serialize};
use toolquay::capability::lists::{Todo, TodoLists, TodosOk, WorkStatus};
use toolquay::{Context, Output, Schema, ToolError, tool};

use super::words::{Status, name, noted, some};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    High,
    Medium,
    Low,
}

#[derive(Deserialize, Schema)]
pub struct TodoInput {
    /// The whole new list.
    #[schema(max_items = 200)]
    todos: Vec<TodoItem>,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// What is to be done.
    #[schema(min_length = 1, max_length = 2000)]
    content: String,
    status: Status,
    /// What is being done, shown while in progress.
    #[schema(max_length = 2000)]
    active_form: Option<String>,
    /// Different for each item.
    #[schema(max_length = 100)]
    id: Option<String>,
    priority: Option<Priority>,
}

impl From<TodoItem> for Todo {
    fn from(item: TodoItem) -> Self {
        let priority = match item.priority {
            Some(Priority::High) => "high",
            Some(Priority::Medium) => "medium",
            Some(Priority::Low) => "low",
            None => "",
        };
        Self {
            id: item.id.unwrap_or_default(),
            content: item.content,
            status: item.status.into(),
            active_form: item.active_form.unwrap_or_default(),
            priority: priority.to_owned(),
        }
    }
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TodoOutput {
    /// The list before.
    old_todos: Vec<WrittenTodo>,
    /// The list as it now is: empty where all items were completed.
    new_todos: Vec<WrittenTodo>,
    /// Whether three or more items are completed and none is a check of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_nudge_needed: Option<bool>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenTodo {
    content: String,
    /// pending, in_progress or completed.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
}

impl From<Todo> for WrittenTodo {
    fn from(todo: Todo) -> Self {
        Self {
            content: todo.content,
            status: name(todo.status),
            active_form: some(todo.active_form),
            id: some(todo.id),
            priority: some(todo.priority),
        }
    }
}

/// Replaces your list of todos, which the user sees.
///
/// - Use it for work of three steps or more; write the list before you begin.
/// - Each call gives the whole list. Have one item in_progress, the one that you work on,
///   and mark it completed as soon as it is done, not before.
/// - A list of which all is completed is cleared.
#[tool(name = "TodoWrite", output = TodoOutput)]
pub fn todo_write(input: TodoInput, cx: &mut Context) -> Result<Output, ToolError> {
    let todos: Vec<Todo> = input.todos.into_iter().map(Todo::from).collect();
    let (ok, lists) = cx.lists().set_todos(&todos)?;
    let text = noted(happened(&ok, &lists, todos.len()), ok.unchecked, &ok.notes);
    let structured = TodoOutput {
        old_todos: lists.before.into_iter().map(WrittenTodo::from).collect(),
        new_todos: lists.todos.into_iter().map(WrittenTodo::from).collect(),
        verification_nudge_needed: ok.unchecked.then_some(true),
    };
    Ok(Output::text(text).structured(&structured))
}

/// Says what the list is now.
fn happened(ok: &TodosOk, lists: &TodoLists, given: usize) -> String {
    if ok.cleared {
        return format!("All {given} todos are completed; the list is empty now.");
    }
    if lists.todos.is_empty() {
        return "The list of todos is empty now.".to_owned();
    }
    let count = |status| lists.todos.iter().filter(|todo| todo.status == status).count();
    format!(
        "Todos: {} completed, {} in progress, {} pending.",
        count(WorkStatus::Completed),
        count(WorkStatus::InProgress),
        count(WorkStatus::Pending)
    )
}
