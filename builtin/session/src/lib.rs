//! The tools StructuredOutput, SendUserMessage, Config and TestingPermission. What they do
//! the host does; the guests say what came of it.
#![deny(unsafe_code)]

mod config;
mod message;
mod output;
mod permission;
#[cfg(test)]
mod tests;

toolquay::plugin!(
    output::structured_output,
    message::send_user_message,
    config::config,
    permission::testing_permission
);
