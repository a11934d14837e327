//! What was found, and what to do about it.

use serde_json::{Value, json};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Ok,
    /// It could not be looked at: a missing permission, or an engine that does not know it.
    Unchecked,
    /// It works, and will not one day.
    Warn,
    /// A promise does not hold like this.
    Problem,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    /// What it is about: `table`, `function NAME`, `queue NAME`, `you`.
    pub(crate) about: String,
    /// What was found.
    pub(crate) what: String,
    /// Why it matters; empty where all is well.
    pub(crate) why: &'static str,
    /// What to do; empty where all is well.
    pub(crate) todo: String,
}

impl Level {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unchecked => "unchecked",
            Self::Warn => "warn",
            Self::Problem => "problem",
        }
    }
}

/// Findings about one thing, collected.
pub(crate) struct About {
    about: String,
    findings: Vec<Finding>,
}

impl About {
    pub(crate) fn new(about: impl Into<String>) -> Self {
        Self { about: about.into(), findings: Vec::new() }
    }

    pub(crate) fn ok(&mut self, what: impl Into<String>) {
        self.add(Level::Ok, what, "", "");
    }

    pub(crate) fn unchecked(&mut self, what: impl Into<String>, todo: impl Into<String>) {
        self.add(Level::Unchecked, what, "", todo);
    }

    /// Notes what could not be looked at, with the error's code if there was an answer.
    pub(crate) fn unanswered(&mut self, what: &str, code: Option<&str>, permission: &str) {
        let todo = match code {
            None => "see that the service can be reached from here, and that the endpoint is the right one".to_owned(),
            Some(code) if code.contains("AccessDenied") || code.contains("Unauthorized") => {
                format!("grant {permission}")
            }
            Some(code) if code.starts_with("Unknown") || code.contains("NotImplemented") => {
                "nothing, if this is not AWS: the engine does not know the question".to_owned()
            }
            Some(_) => format!("try again; it needs {permission}"),
        };
        self.unchecked(format!("{what} could not be checked ({})", code.unwrap_or("no answer")), todo);
    }

    pub(crate) fn warn(&mut self, what: impl Into<String>, why: &'static str, todo: impl Into<String>) {
        self.add(Level::Warn, what, why, todo);
    }

    pub(crate) fn problem(&mut self, what: impl Into<String>, why: &'static str, todo: impl Into<String>) {
        self.add(Level::Problem, what, why, todo);
    }

    fn add(&mut self, level: Level, what: impl Into<String>, why: &'static str, todo: impl Into<String>) {
        let (about, what, todo) = (self.about.clone(), what.into(), todo.into());
        self.findings.push(Finding { level, about, what, why, todo });
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

impl Finding {
    pub(crate) fn facts(&self) -> Value {
        json!({ "level": self.level.name(), "about": self.about, "what": self.what, "why": self.why, "todo": self.todo })
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{:<9} {}: {}", self.level.name(), self.about, self.what)];
        lines.extend((!self.why.is_empty()).then(|| format!("          why: {}", self.why)));
        lines.extend((!self.todo.is_empty()).then(|| format!("          do:  {}", self.todo)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_asked_for_where_one_is_missing() {
        let todo = |code| {
            let mut about = About::new("table");
            about.unanswered("it", code, "dynamodb:DescribeTable");
            about.into_findings().remove(0).todo
        };
        assert_eq!(todo(Some("AccessDeniedException")), "grant dynamodb:DescribeTable");
        assert!(todo(Some("UnknownOperationException")).starts_with("nothing"));
        assert!(todo(Some("ThrottlingException")).starts_with("try again"));
        assert!(todo(None).contains("endpoint"));
    }
}
