//! The tools EnterPlanMode, ExitPlanMode and AskUserQuestion. The host has the mode, the plan
//! file and the person; what is said about them is said here.

pub mod ask;
pub mod enter;
pub mod exit;
mod requests;
#[cfg(test)]
mod tests;
