//! Outputs on their way into a row and out of it.

use std::any::type_name;

use serde::{Serialize, de::DeserializeOwned};

use super::{StepError, effects::StepOutput};

/// A type's name without the paths of its modules, so that a type which only moves keeps its name.
pub(super) fn short_type_name<T>() -> String {
    let mut short = String::new();
    for token in
        type_name::<T>().split_inclusive(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | ':'))
    {
        short.push_str(token.rsplit("::").next().unwrap_or(token));
    }
    short
}

pub(super) fn to_json(name: &str, value: &impl Serialize) -> Result<Vec<u8>, StepError> {
    serde_json::to_vec(value).map_err(|error| json_error(name, &error))
}

/// Reads a stored output, whose type must be the one that was stored.
pub(super) fn from_json<T: DeserializeOwned>(name: &str, output: &StepOutput) -> Result<T, StepError> {
    let asked = short_type_name::<T>();
    if output.type_name != asked {
        return Err(StepError::Type { name: name.to_owned(), stored: output.type_name.clone(), asked });
    }
    serde_json::from_slice(&output.json).map_err(|error| json_error(name, &error))
}

/// What is wrong, without the values that serde_json's own text repeats: errors are logged.
fn json_error(name: &str, error: &serde_json::Error) -> StepError {
    let why = match error.classify() {
        serde_json::error::Category::Data => "a value does not fit the type",
        _ => "it is no JSON",
    };
    let at = match error.line() {
        0 => String::new(),
        line => format!(" at line {line} column {}", error.column()),
    };
    StepError::Json { name: name.to_owned(), why: format!("{why}{at}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_known_by_its_name_wherever_it_stands() {
        assert_eq!(short_type_name::<u32>(), "u32");
        assert_eq!(short_type_name::<Option<Vec<(String, StepError)>>>(), "Option<Vec<(String, StepError)>>");
        assert_eq!(short_type_name::<&[std::time::Duration; 2]>(), "&[Duration; 2]");
    }

    #[test]
    fn another_type_or_form_is_an_error_that_names_the_step() {
        let stored = |type_name: &str, value: &str| StepOutput {
            type_name: type_name.to_owned(),
            json: to_json("charge", &value).unwrap().into(),
        };
        assert_eq!(from_json::<String>("charge", &stored("String", "secret")).unwrap(), "secret");
        let error = from_json::<u64>("charge", &stored("String", "secret")).unwrap_err();
        assert!(error.to_string().contains(r#""charge" is stored as "String" and asked for as "u64""#), "{error}");
        let error = from_json::<u64>("charge", &stored("u64", "secret")).unwrap_err();
        assert!(error.to_string().contains(r#""charge""#) && error.to_string().contains("column 8"), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}
