//! The tools TodoWrite, TaskCreate, TaskGet, TaskUpdate and TaskList. The host keeps the
//! lists.
#![deny(unsafe_code)]

mod create;
mod get;
mod list;
#[cfg(test)]
mod tests;
mod todo;
mod update;
mod words;

toolquay::plugin!(todo::todo_write, create::task_create, get::task_get, update::task_update, list::task_list);
