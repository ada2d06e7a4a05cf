//! The tools EnterWorktree and ExitWorktree.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;
use toolquay::{Context, Output, Schema, ToolError, tool};

/// The arguments of `session.worktree`.
#[derive(Serialize)]
struct WorktreeArgs<'a> {
    #[serde(rename = "do")]
    what: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    discard: bool,
}

/// Its answer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct WorktreeOk {
    pub path: String,
    pub branch: String,
    pub original: String,
    pub files: usize,
    pub commits: usize,
    pub notes: Vec<String>,
}

impl Capability for WorktreeArgs<'_> {
    const NAME: &'static str = "session.worktree";
    type Ok = WorktreeOk;
}

#[derive(Deserialize, Schema)]
pub struct EnterWorktreeInput {
    /// Letters, digits, dots, underscores and dashes, with slashes between parts; one is made up
    /// if it is left out.
    #[schema(max_length = 64)]
    name: Option<String>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct EnterWorktreeOutput {
    /// The directory that the session works in from now on.
    worktree_path: String,
    /// Its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_branch: Option<String>,
    /// What the call did, in a sentence.
    message: String,
}

/// Makes a git worktree on a new branch, from the last commit of the main worktree, and works there
/// from then on.
///
/// - Only if the user asks for a worktree. To switch or make branches, use git.
/// - What is not committed is not in it. ExitWorktree leaves it.
#[tool(name = "EnterWorktree", output = EnterWorktreeOutput)]
pub fn enter_worktree(input: EnterWorktreeInput, cx: &mut Context) -> Result<Output, ToolError> {
    let name = input.name.unwrap_or_default();
    let ok = cx.call(&WorktreeArgs { what: "enter", name: &name, discard: false })?.ok;
    let mut message = format!("The session now works in the worktree {}", ok.path);
    if !ok.branch.is_empty() {
        message += &format!(", on the new branch {}", ok.branch);
    }
    message += &format!(
        ". What is not committed in {} is not in it, and commands cannot write there meanwhile. Files that you have \
         read are to be read again under the new path. ExitWorktree goes back.",
        ok.original
    );
    let message = noted(message, &ok.notes);
    Ok(Output::text(message.clone()).structured(&EnterWorktreeOutput {
        worktree_path: ok.path,
        worktree_branch: some(ok.branch),
        message,
    }))
}

/// What to do with the worktree.
#[derive(Clone, Copy, Deserialize, Serialize, PartialEq, Schema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Keep,
    Remove,
}

#[derive(Deserialize, Schema)]
pub struct ExitWorktreeInput {
    /// keep leaves the worktree and its branch; remove removes both.
    action: Action,
    /// With remove: lose uncommitted files, and commits that are nowhere else. Ask the user first.
    discard_changes: Option<bool>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ExitWorktreeOutput {
    /// Whether the worktree was kept or removed.
    action: Action,
    /// Where the session is again.
    original_cwd: String,
    /// The worktree that it left.
    worktree_path: String,
    /// Its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_branch: Option<String>,
    /// How many uncommitted files were lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_files: Option<usize>,
    /// How many commits were lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_commits: Option<usize>,
    /// What the call did, in a sentence.
    message: String,
}

/// Leaves the worktree that this session entered with EnterWorktree, and goes back to where the
/// session was.
///
/// - remove is refused, with a list, if files or commits would be lost; discard_changes removes them
///   all the same.
#[tool(name = "ExitWorktree", output = ExitWorktreeOutput)]
pub fn exit_worktree(input: ExitWorktreeInput, cx: &mut Context) -> Result<Output, ToolError> {
    let removes = input.action == Action::Remove;
    let args = WorktreeArgs {
        what: if removes { "remove" } else { "keep" },
        name: "",
        discard: removes && input.discard_changes == Some(true),
    };
    let ok = cx.call(&args)?.ok;
    let message = noted(left(&ok, removes), &ok.notes);
    Ok(Output::text(message.clone()).structured(&ExitWorktreeOutput {
        action: input.action,
        original_cwd: ok.original,
        worktree_path: ok.path,
        worktree_branch: some(ok.branch),
        discarded_files: removes.then_some(ok.files),
        discarded_commits: removes.then_some(ok.commits),
        message,
    }))
}

/// What is said of a worktree that was left.
fn left(ok: &WorktreeOk, removed: bool) -> String {
    let back = format!("The session is in {} again.", ok.original);
    match (removed, ok.branch.as_str()) {
        (false, "") => format!("{back} The worktree {} stays.", ok.path),
        (false, branch) => format!("{back} The worktree {} stays, on the branch {branch}.", ok.path),
        (true, _) if ok.files + ok.commits > 0 => format!(
            "{back} The worktree {} is removed; this was lost with it: {} uncommitted, {} committed nowhere else.",
            ok.path, ok.files, ok.commits
        ),
        // The notes say that it is not known what was lost.
        (true, _) if !ok.notes.is_empty() => format!("{back} The worktree {} is left for good.", ok.path),
        (true, _) => {
            format!("{back} The worktree {} is removed; nothing was lost with it but files that git ignores.", ok.path)
        }
    }
}

fn noted(message: String, notes: &[String]) -> String {
    notes.iter().fold(message, |text, note| format!("{text}\n{note}"))
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
