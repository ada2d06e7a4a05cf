//! The tools EnterPlanMode, ExitPlanMode and AskUserQuestion. The host has the mode, the plan
//! file and the person; what is said about them is said here.
#![deny(unsafe_code)]

mod ask;
mod enter;
mod exit;
mod session;
#[cfg(test)]
mod tests;

toolquay::plugin!(enter::enter_plan_mode, exit::exit_plan_mode, ask::ask_user_question);
