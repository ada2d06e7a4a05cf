//! The tools by which a session does something about itself: its lists of work, its scheduled prompts, its plan, what
//! it asks and tells the person, its output and its settings. What they do the host does; the
//! guests say what came of it.
#![deny(unsafe_code)]

mod config;
mod cron;
mod lists;
mod message;
mod output;
mod permission;
mod plan;
mod skill;
#[cfg(test)]
mod tests;
mod worktree;

toolquay::plugin!(
    lists::todo::todo_write,
    lists::create::task_create,
    lists::get::task_get,
    lists::update::task_update,
    lists::list::task_list,
    cron::cron_create,
    cron::cron_delete,
    cron::cron_list,
    plan::enter::enter_plan_mode,
    plan::exit::exit_plan_mode,
    plan::ask::ask_user_question,
    output::structured_output,
    message::send_user_message,
    config::config,
    skill::skill,
    worktree::enter_worktree,
    worktree::exit_worktree,
    permission::testing_permission
);
