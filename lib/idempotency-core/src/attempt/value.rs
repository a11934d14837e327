//! Outputs on their way into a row and out of it.

use std::any::type_name;

use serde::{Serialize, de::DeserializeOwned};

use super::StepError;

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
    serde_json::to_vec(value).map_err(|source| StepError::Json { name: name.to_owned(), source })
}

/// Reads a stored output, whose type must be the one that was stored.
pub(super) fn from_json<T: DeserializeOwned>(name: &str, stored_type: &str, json: &[u8]) -> Result<T, StepError> {
    let asked = short_type_name::<T>();
    if stored_type != asked {
        return Err(StepError::Type { name: name.to_owned(), stored: stored_type.to_owned(), asked });
    }
    serde_json::from_slice(json).map_err(|source| StepError::Json { name: name.to_owned(), source })
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
        let json = to_json("charge", &7_u32).unwrap();
        assert_eq!(from_json::<u32>("charge", "u32", &json).unwrap(), 7);
        let error = from_json::<u64>("charge", "u32", &json).unwrap_err();
        assert!(error.to_string().contains(r#""charge" is stored as "u32" and asked for as "u64""#), "{error}");
        assert!(from_json::<String>("charge", "String", &json).unwrap_err().to_string().contains(r#""charge""#));
    }
}
