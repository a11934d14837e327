//! The MD5 sums that SQS sends along, with which a client can check what arrived.

use std::collections::BTreeMap;

use super::attribute::{AttributeValue, MessageAttribute};

/// Of a body, as hexadecimal digits.
pub(super) fn md5_of_body(body: &str) -> String {
    format!("{:x}", md5::compute(body))
}

/// Of message attributes: "Calculating the MD5 message digest for message attributes" in the SQS Developer Guide. `None`
/// without any.
pub(super) fn md5_of_attributes<'a>(
    attributes: impl IntoIterator<Item = (&'a String, &'a MessageAttribute)>,
) -> Option<String> {
    // The algorithm wants them sorted by name.
    let sorted: BTreeMap<_, _> = attributes.into_iter().collect();
    let mut digest = md5::Context::new();
    for (name, attribute) in &sorted {
        with_length(&mut digest, name.as_bytes());
        with_length(&mut digest, attribute.data_type().as_bytes());
        match attribute.value() {
            AttributeValue::Text(text) => {
                digest.consume([1]);
                with_length(&mut digest, text.as_bytes());
            }
            AttributeValue::Binary(bytes) => {
                digest.consume([2]);
                with_length(&mut digest, bytes);
            }
        }
    }
    (!sorted.is_empty()).then(|| format!("{:x}", digest.compute()))
}

fn with_length(digest: &mut md5::Context, bytes: &[u8]) {
    // A message is at most 1 MiB, so its parts always fit.
    digest.consume(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    digest.consume(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_aws_computed() {
        // `md5OfBody` of the sample event in "Using Lambda with Amazon SQS".
        assert_eq!(md5_of_body("Test message."), "e4e68fb7bd0e697a0ae8f1bb342846b3");
    }

    #[test]
    fn attributes_are_hashed_by_name_type_and_value() {
        // Computed with Python's hashlib from the guide's description, byte by byte.
        let attributes = BTreeMap::from([
            ("b".to_owned(), MessageAttribute::binary(vec![0, 255])),
            ("a".to_owned(), MessageAttribute::string("x")),
        ]);

        assert_eq!(md5_of_attributes(&attributes).unwrap(), "c4ec7d55335539420ccc7ec70efeb4a1");
        assert_eq!(md5_of_attributes(&BTreeMap::new()), None);
    }
}
