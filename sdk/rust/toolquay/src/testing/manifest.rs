//! `plugin.toml`, as far as it holds tools to anything.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::glob;
use super::schema::is_type;
use crate::error::{ErrorCode, ToolError};
use crate::wire::Config;

/// The name of a plugin's manifest.
const FILE: &str = "plugin.toml";

/// What a plugin claims. Keys that matter to nobody here are left to the host.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Manifest {
    capabilities: Vec<Claim>,
    limits: Limits,
    config: Vec<ConfigKey>,
    tools: Vec<Contract>,
}

/// One of `[[capabilities]]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Claim {
    name: String,
    scope: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Limits {
    output: Option<Value>,
    capability_calls: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigKey {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    default: String,
    required: bool,
}

/// One of `[[tools]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Contract {
    pub name: String,
    pub input_schema: String,
    capabilities: Option<Vec<String>>,
    read_only: Value,
    pub strict: bool,
}

impl Manifest {
    /// Reads the manifest beside the `Cargo.toml` of the crate under test.
    ///
    /// # Panics
    ///
    /// Where there is none, or it is broken.
    pub fn load() -> Self {
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_else(|err| {
            panic!(
                "{}: {err}: write one, name it with Host::with_manifest, or hold the tools to none with \
                 Host::without_manifest",
                path.display()
            )
        });
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Self {
        let manifest: Self = basic_toml::from_str(text).unwrap_or_else(|err| panic!("{FILE}: {err}"));
        for pattern in manifest.capabilities.iter().flat_map(|claim| &claim.scope) {
            Scope::parse(pattern);
        }
        manifest
    }

    /// # Panics
    ///
    /// Where the manifest lists no such tool.
    pub fn tool(&self, name: &str) -> &Contract {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.unwrap_or_else(|| panic!("{FILE} has no [[tools]] table of the name {name}"))
    }

    /// How many capability calls one call may make.
    pub fn calls(&self) -> usize {
        if self.limits.capability_calls == 0 { 10_000 } else { self.limits.capability_calls }
    }

    /// Refuses the message that a call returned, where it is over the limit.
    pub fn check_output(&self, length: usize) -> Result<(), ToolError> {
        let Some(size) = &self.limits.output else { return refuse_over(length, 10 << 20, "10MiB") };
        let text = size.as_str().map_or_else(|| size.to_string(), str::to_owned);
        let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let unit = match unit.trim() {
            "GiB" => 1 << 30,
            "MiB" => 1 << 20,
            "KiB" => 1 << 10,
            "" | "B" => 1,
            _ => 0,
        };
        match digits.parse::<usize>() {
            Ok(n) if unit > 0 => refuse_over(length, n * unit, &text),
            _ => panic!("{FILE}: limits.output: {text:?} is not a size; write it as 512KiB, 64MiB or 1GiB"),
        }
    }

    /// The claim of a capability for a tool, or the host's refusal.
    pub fn declares(&self, tool: &Contract, capability: &str) -> Result<&Claim, ToolError> {
        let refuse = |what: String| {
            let message = format!("{} asked for {capability}, which its manifest {what} in {FILE}", tool.name);
            Err(ToolError::new(ErrorCode::Undeclared, message))
        };
        let Some(claim) = self.capabilities.iter().find(|claim| claim.name == capability) else {
            return refuse("does not declare: add it to [[capabilities]]".to_owned());
        };
        if tool.may(capability) {
            return Ok(claim);
        }
        let others: Vec<_> = self.tools.iter().filter(|t| t.may(capability)).map(|t| t.name.as_str()).collect();
        let whose = if others.is_empty() {
            "for none of its tools".to_owned()
        } else {
            format!("for {}, not for {}", others.join(", "), tool.name)
        };
        refuse(format!("declares {whose}: add it to capabilities of [[tools]] {}", tool.name))
    }

    /// The manifest's defaults and what the test sets.
    pub fn config(&self, set: &Config) -> Config {
        for name in set.keys() {
            assert!(self.config.iter().any(|key| key.name == *name), "{FILE} declares no configuration value {name:?}");
        }
        let mut config = set.clone();
        for ConfigKey { name, kind, default, required } in &self.config {
            let value = match (set.get(name), kind.as_str()) {
                (Some(value), _) => value.clone(),
                (None, _) if default.is_empty() => {
                    assert!(
                        !required,
                        "the configuration value {name:?} is required and not set: set it with Host::with_config"
                    );
                    continue;
                }
                (None, "" | "string") => Value::from(default.as_str()),
                (None, _) => serde_json::from_str(default).unwrap_or_else(|_| Value::from(default.as_str())),
            };
            let fits = kind.is_empty() || is_type(&value, &Value::from(kind.as_str()));
            assert!(fits, "the configuration value {name:?} is {value}, which is not of type {kind}");
            config.insert(name.clone(), value);
        }
        config
    }
}

fn refuse_over(length: usize, most: usize, text: &str) -> Result<(), ToolError> {
    if length <= most {
        return Ok(());
    }
    let message = format!("the plugin answered {length} bytes, over its limit output = {text}");
    Err(ToolError::new(ErrorCode::Limit, message))
}

impl Contract {
    fn may(&self, capability: &str) -> bool {
        let named = self.capabilities.as_ref();
        named.is_none_or(|all| all.iter().any(|name| name == capability))
    }

    /// Holds the tool to `read_only`.
    pub fn may_write(&self, path: &str) -> Result<(), ToolError> {
        if self.read_only != true && self.read_only != "true" {
            return Ok(());
        }
        let message = format!(
            "{} declares itself read-only and asked for fs.write on {path}; its author must correct read_only in the \
             manifest",
            self.name
        );
        Err(ToolError::new(ErrorCode::Denied, message))
    }
}

impl Claim {
    /// Whether a file is within the scope, by its path below the working directory, which
    /// is `None` for one outside.
    pub fn covers(&self, name: Option<&str>, write: bool) -> bool {
        let covered = |pattern: &String| name.is_some_and(|name| Scope::parse(pattern).covers(name, write));
        self.scope.is_empty() || self.scope.iter().any(covered)
    }

    /// The host's refusal of a path outside.
    pub fn refuse(&self, path: &str, tool: &str) -> ToolError {
        let scope: Vec<_> = self.scope.iter().map(|pattern| format!("{pattern:?}")).collect();
        let scope = scope.join(" ");
        let message = format!("{path} is outside the scope [{scope}] that the manifest of {tool} gives {}", self.name);
        ToolError::new(ErrorCode::Undeclared, message)
    }
}

/// A path pattern of a scope, as the host reads one of an allow rule: its components
/// below the working directory.
struct Scope<'a>(Vec<&'a str>);

impl<'a> Scope<'a> {
    fn parse(text: &'a str) -> Self {
        let bare = text.strip_prefix("./").unwrap_or(text);
        let parts: Vec<_> = bare.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let beyond = bare.contains(|c| r"[]{}\!".contains(c))
            || bare.starts_with(['/', '~'])
            || bare.ends_with('/')
            || parts.is_empty()
            || parts.contains(&"..");
        assert!(
            !beyond,
            "{FILE}: the testing host cannot check the scope {text:?}: it knows patterns below the working directory, \
             of names, *, ? and **; give the test a manifest of its own with Host::with_manifest"
        );
        match parts.as_slice() {
            [name] if bare == text && *name != "**" => Self(vec!["**", name]), // a name is meant at any depth
            _ => Self(parts),
        }
    }

    fn covers(mut self, name: &str, write: bool) -> bool {
        match self.0.last() {
            // The directory itself is not in it.
            Some(&"**") if write => self.0.insert(self.0.len() - 1, "*"),
            Some(last) if !last.contains(['*', '?']) => self.0.push("**"), // with all that is in it
            _ => {}
        }
        let name: Vec<_> = name.split('/').filter(|part| !part.is_empty()).collect();
        glob::covers(&self.0, &name)
    }
}
