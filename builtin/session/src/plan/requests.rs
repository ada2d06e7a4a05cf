//! The capabilities `session.plan` and `session.question`, which plugins of others are not given.

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;

/// What `session.plan` is to do.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Do {
    Enter,
    Exit,
}

#[derive(Debug, Serialize)]
pub struct PlanArgs<'a> {
    #[serde(rename = "do")]
    pub what: Do,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub proposals: &'a [Proposal],
}

/// What the model would like to be allowed, in its own words.
#[derive(Debug, Serialize)]
pub struct Proposal {
    pub tool: String,
    pub prompt: String,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(default)]
pub struct PlanOk {
    pub path: String,
    pub mode: String,
    pub agent: bool,
    pub already: bool,
    pub edited: bool,
    pub rules: Vec<String>,
    pub declined: bool,
    pub message: String,
}

impl Capability for PlanArgs<'_> {
    const NAME: &'static str = "session.plan";
    type Ok = PlanOk;
}

#[derive(Debug, Serialize)]
pub struct QuestionArgs<'a> {
    pub questions: &'a [AskedQuestion<'a>],
}

#[derive(Debug, Serialize)]
pub struct AskedQuestion<'a> {
    pub question: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub header: &'a str,
    pub options: Vec<AskedOption<'a>>,
    #[serde(rename = "multiSelect", skip_serializing_if = "std::ops::Not::not")]
    pub multi_select: bool,
}

#[derive(Debug, Serialize)]
pub struct AskedOption<'a> {
    pub label: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: &'a str,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(default)]
pub struct QuestionOk {
    pub answers: Vec<ChoiceAnswer>,
    pub declined: bool,
    pub message: String,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(default)]
pub struct ChoiceAnswer {
    pub question: String,
    pub chosen: Vec<String>,
    pub note: String,
}

impl Capability for QuestionArgs<'_> {
    const NAME: &'static str = "session.question";
    type Ok = QuestionOk;
}

/// What a person's no says to the model: what was refused, and their own words.
pub fn refusal(what: &str, words: &str) -> String {
    match words.trim() {
        "" => format!("{what}, without a word why. Ask what they want instead, or wait for it."),
        words => format!("{what}, and said: {words}"),
    }
}
