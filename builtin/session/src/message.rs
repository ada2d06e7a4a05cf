//! The tool SendUserMessage.

use serde::{Deserialize, Serialize};
use toolquay::capability::message::{self, MessageArgs};
use toolquay::{Context, Output, Schema, ToolError, tool};

#[derive(Deserialize, Schema)]
pub struct MessageInput {
    /// What to tell, in Markdown.
    #[schema(min_length = 1, max_length = 50000)]
    message: String,
    /// Paths of files to show with it, 25 MiB each at most.
    #[schema(max_items = 10)]
    attachments: Option<Vec<String>>,
    /// proactive if the user did not ask for it, else normal.
    #[schema(default = "normal")]
    status: Option<Status>,
}

#[derive(Clone, Copy, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Normal,
    Proactive,
}

#[derive(Serialize, Schema)]
pub struct MessageOutput {
    /// What was told.
    message: String,
    /// The files that were shown with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    attachments: Option<Vec<Attachment>>,
    /// When, as RFC 3339 has it.
    #[serde(rename = "sentAt")]
    sent_at: String,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Where it lies.
    path: String,
    /// Its size in bytes.
    size: u64,
    /// Whether it is an image.
    is_image: bool,
}

/// Tells the user something while you work, and shows them files with it.
///
/// - Use it for what they should know before you are done, such as a result that others
///   wait for or something that went wrong. It waits for no answer.
/// - Write whole sentences: the user may see nothing but this message.
#[tool(name = "SendUserMessage", output = MessageOutput)]
pub fn send_user_message(input: MessageInput, cx: &mut Context) -> Result<Output, ToolError> {
    let attachments = input.attachments.unwrap_or_default();
    let status = match input.status {
        Some(Status::Proactive) => message::Status::Proactive,
        _ => message::Status::Normal,
    };
    let ok = cx.tell(&MessageArgs { message: &input.message, attachments: &attachments, status })?;
    let text = match ok.attachments.len() {
        0 => "The user was told.".to_owned(),
        1 => "The user was told, and shown 1 file.".to_owned(),
        n => format!("The user was told, and shown {n} files."),
    };
    let files = ok.attachments.into_iter();
    let files: Vec<_> = files.map(|f| Attachment { path: f.path, size: f.size, is_image: f.is_image }).collect();
    Ok(Output::text(text).structured(&MessageOutput {
        message: input.message,
        attachments: Some(files).filter(|files| !files.is_empty()),
        sent_at: ok.sent,
    }))
}
