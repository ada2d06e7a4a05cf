//! The tools TodoWrite, TaskCreate, TaskGet, TaskUpdate and TaskList. The host keeps the
//! lists.

pub mod create;
pub mod get;
pub mod list;
#[cfg(test)]
mod tests;
pub mod todo;
pub mod update;
pub mod words;
