//! The tools Bash and PowerShell. The host runs the commands; what they put out passes
//! into the result as a handle. This plugin says how they ended, and what that means.
#![deny(unsafe_code)]

mod bash;
mod ending;
mod exit;
mod notes;
mod powershell;
mod run;
#[cfg(test)]
mod tests;

toolquay::plugin!(bash::bash, powershell::powershell);
