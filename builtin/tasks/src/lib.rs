//! The tools TaskOutput, TaskStop and Sleep. The host has the tasks; what they put out
//! passes into the result as a handle.
#![deny(unsafe_code)]

mod output;
mod sleep;
mod stop;
#[cfg(test)]
mod tests;
mod words;

toolquay::plugin!(output::task_output, stop::task_stop, sleep::sleep);
