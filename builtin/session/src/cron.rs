//! The tools CronCreate, CronDelete and CronList, and the capability `session.cron`, which plugins
//! of others are not given. The host keeps the jobs and says when they are due.

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use crate::lists::words::{noted, some};

#[cfg(test)]
mod tests;

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Do {
    Create,
    Delete,
    List,
}

#[derive(Debug, Serialize)]
struct CronArgs<'a> {
    #[serde(rename = "do")]
    what: Do,
    #[serde(skip_serializing_if = "str::is_empty")]
    cron: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    prompt: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recurring: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    durable: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
}

impl CronArgs<'_> {
    const fn new(what: Do) -> Self {
        Self { what, cron: "", prompt: "", recurring: false, durable: false, id: "" }
    }
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(default)]
struct CronOk {
    job: Option<CronJob>,
    notes: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(default, rename_all = "camelCase")]
struct CronJob {
    id: String,
    cron: String,
    human_schedule: String,
    prompt: String,
    recurring: bool,
    durable: bool,
    next: String,
    agent: String,
}

impl Capability for CronArgs<'_> {
    const NAME: &'static str = "session.cron";
    type Ok = CronOk;
}

/// The job of an answer that must have one.
fn job(ok: Option<CronJob>) -> Result<CronJob, ToolError> {
    ok.ok_or_else(|| ToolError::new(ErrorCode::Protocol, "the host named no job"))
}

#[derive(Deserialize, Schema)]
pub struct CreateInput {
    /// MINUTE HOUR DAY MONTH WEEKDAY, by the local clock.
    #[schema(min_length = 1, max_length = 500)]
    cron: String,
    /// What you are told then.
    #[schema(min_length = 1, max_length = 20000)]
    prompt: String,
    /// false: once, at the next match.
    #[schema(default = true)]
    recurring: Option<bool>,
    /// Keep it for later sessions, too.
    #[schema(default = false)]
    durable: Option<bool>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CreateOutput {
    /// The job.
    id: String,
    /// When it comes, in words.
    human_schedule: String,
    recurring: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<bool>,
    /// The first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Schedules a prompt, which comes to you as a message at its times, between turns.
///
/// - A recurring one ends after 7 days; its last message says so.
/// - If the time is free, choose a minute other than 0 and 30.
#[tool(name = "CronCreate", output = CreateOutput)]
pub fn cron_create(input: CreateInput, cx: &mut Context) -> Result<Output, ToolError> {
    let args = CronArgs {
        cron: &input.cron,
        prompt: &input.prompt,
        recurring: input.recurring.unwrap_or(true),
        durable: input.durable.unwrap_or(false),
        ..CronArgs::new(Do::Create)
    };
    let ok = cx.call(&args)?.ok;
    let made = job(ok.job)?;
    let ends = if made.recurring { "for 7 days at most" } else { "once" };
    let lasts = if made.durable { ", in later sessions too" } else { ", while this session runs" };
    let mut text = format!("Scheduled {}: {}, {ends}{lasts}.", made.id, made.human_schedule);
    if !made.next.is_empty() {
        text.push_str(&format!(" Next: {}.", made.next));
    }
    Ok(Output::text(noted(text, false, &ok.notes)).structured(&CreateOutput {
        id: made.id,
        human_schedule: made.human_schedule,
        recurring: made.recurring,
        durable: Some(made.durable).filter(|durable| *durable),
        next: some(made.next),
    }))
}

#[derive(Deserialize, Schema)]
pub struct DeleteInput {
    /// The job.
    #[schema(min_length = 1, max_length = 100)]
    id: String,
}

#[derive(Serialize, Schema)]
pub struct DeleteOutput {
    /// The job that was deleted.
    id: String,
}

/// Deletes a scheduled prompt.
#[tool(name = "CronDelete", output = DeleteOutput)]
pub fn cron_delete(input: DeleteInput, cx: &mut Context) -> Result<Output, ToolError> {
    let gone = job(cx.call(&CronArgs { id: &input.id, ..CronArgs::new(Do::Delete) })?.ok.job)?;
    let text = format!("Deleted {}: {}.", gone.id, gone.human_schedule);
    Ok(Output::text(text).structured(&DeleteOutput { id: gone.id }))
}

#[derive(Deserialize, Schema)]
pub struct ListInput {}

#[derive(Serialize, Schema)]
pub struct ListOutput {
    /// The jobs, the next one first.
    jobs: Vec<ListedJob>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ListedJob {
    id: String,
    cron: String,
    human_schedule: String,
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurring: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

impl From<CronJob> for ListedJob {
    fn from(job: CronJob) -> Self {
        Self {
            id: job.id,
            cron: job.cron,
            human_schedule: job.human_schedule,
            prompt: job.prompt,
            recurring: Some(job.recurring).filter(|recurring| *recurring),
            durable: Some(job.durable).filter(|durable| *durable),
            next: some(job.next),
            agent: some(job.agent),
        }
    }
}

/// Lists the scheduled prompts.
#[tool(name = "CronList", output = ListOutput)]
pub fn cron_list(_: ListInput, cx: &mut Context) -> Result<Output, ToolError> {
    let answer = cx.call(&CronArgs::new(Do::List))?;
    let notes = answer.ok.notes;
    let jobs: Vec<CronJob> = serde_json::from_slice(&answer.body.into_bytes()?)
        .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the host's list of jobs: {err}")))?;
    let text = match jobs.len() {
        0 => "Nothing is scheduled.".to_owned(),
        _ => jobs.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    let structured = ListOutput { jobs: jobs.into_iter().map(ListedJob::from).collect() };
    Ok(Output::text(noted(text, false, &notes)).structured(&structured))
}

fn line(job: &CronJob) -> String {
    let mut text = format!("{} {}", job.id, job.human_schedule);
    let mut add = |is: bool, what: &str| {
        if is {
            text.push_str(what);
        }
    };
    add(!job.recurring, ", once");
    add(job.durable, ", durable");
    add(!job.agent.is_empty(), &format!(", of {}", job.agent));
    add(!job.next.is_empty(), &format!(", next {}", job.next));
    format!("{text}: {}", job.prompt)
}
