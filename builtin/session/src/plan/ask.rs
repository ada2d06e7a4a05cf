//! The tool AskUserQuestion.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use super::requests::{AskedOption, AskedQuestion, ChoiceAnswer, QuestionArgs, refusal};

#[derive(Deserialize, Schema)]
pub struct AskUserQuestionInput {
    /// What to ask, all at once.
    #[schema(min_items = 1, max_items = 4)]
    questions: Vec<Question>,
    /// Anything of your own; the person is not shown it.
    #[serde(default)]
    #[expect(dead_code, reason = "it is accepted, and nothing comes of it")]
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Question {
    /// The question, as a whole sentence. No two may be alike.
    #[schema(min_length = 1, max_length = 2000)]
    question: String,
    /// A name for it, of 12 characters at most.
    #[schema(max_length = 12)]
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<String>,
    /// The answers to choose from. No two may have one label, and none need say "other".
    #[schema(min_items = 2, max_items = 4)]
    options: Vec<Choice>,
    /// Whether more than one may be chosen.
    #[serde(rename = "multiSelect", default)]
    #[schema(default = false)]
    multi_select: bool,
}

#[derive(Deserialize, Serialize, Schema)]
struct Choice {
    /// What the person chooses, in a few words; it is the answer.
    #[schema(min_length = 1, max_length = 2000)]
    label: String,
    /// What it means or brings.
    #[schema(max_length = 2000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Accepted, and not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

#[derive(Serialize, Schema)]
pub struct AskUserQuestionOutput {
    /// What was asked.
    questions: Vec<Question>,
    /// The answer to each question: a label, or the person's own words; a list of them where
    /// more than one may be chosen.
    answers: BTreeMap<String, Value>,
    /// What the person noted beside an answer, by question.
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<String, Annotation>>,
}

#[derive(Serialize, Schema)]
struct Annotation {
    /// The note.
    notes: String,
}

/// Asks the person to choose, in up to four questions of two to four options each. They may
/// always answer in their own words instead.
///
/// - For what only they can decide, and what would change the work: wishes, unclear wording, a
///   choice between ways. Not for what you can find out or decide well yourself.
/// - Put the option that you would choose first, and say so in its label.
/// - In the mode plan, use it before the plan is done. ExitPlanMode asks whether the plan is
///   good.
#[tool(name = "AskUserQuestion", output = AskUserQuestionOutput)]
pub fn ask_user_question(input: AskUserQuestionInput, cx: &mut Context) -> Result<Output, ToolError> {
    let asked: Vec<_> = input.questions.iter().map(asked).collect();
    let ok = cx.call(&QuestionArgs { questions: &asked })?.ok;
    if ok.declined {
        return Err(ToolError::new(ErrorCode::Denied, refusal("The person did not answer", &ok.message)));
    }
    let text = ok.answers.iter().map(said).collect::<Vec<_>>().join("\n");
    let mut output = AskUserQuestionOutput { questions: input.questions, answers: BTreeMap::new(), annotations: None };
    for answer in ok.answers {
        output.take(answer);
    }
    Ok(Output::text(text).structured(&output))
}

fn asked(question: &Question) -> AskedQuestion<'_> {
    AskedQuestion {
        question: &question.question,
        header: question.header.as_deref().unwrap_or_default(),
        options: question.options.iter().map(option).collect(),
        multi_select: question.multi_select,
    }
}

fn option(choice: &Choice) -> AskedOption<'_> {
    AskedOption { label: &choice.label, description: choice.description.as_deref().unwrap_or_default() }
}

/// One answer, as the model is told it.
fn said(answer: &ChoiceAnswer) -> String {
    let note = if answer.note.is_empty() { String::new() } else { format!(" (they noted: {})", answer.note) };
    format!("{} {}{note}", answer.question, answer.chosen.join(", "))
}

impl AskUserQuestionOutput {
    /// Takes one answer in: a text, or a list where more than one may be chosen.
    fn take(&mut self, answer: ChoiceAnswer) {
        let list = self.questions.iter().any(|q| q.multi_select && q.question == answer.question);
        let mut chosen = answer.chosen.into_iter().map(Value::String);
        let value = if list { Value::Array(chosen.collect()) } else { chosen.next().unwrap_or_default() };
        if !answer.note.is_empty() {
            let annotations = self.annotations.get_or_insert_default();
            annotations.insert(answer.question.clone(), Annotation { notes: answer.note });
        }
        self.answers.insert(answer.question, value);
    }
}
