//! UUIDs as parts.

use uuid::Uuid;

use super::{EncodedPart, KeyPart, KeyPartError, PartSlot};

/// As its hyphenated lower-case text, so that a field may change between `Uuid` and such text without changing keys.
///
/// The UUID must come with the request. One that the handler draws (`Uuid::new_v4()`, `Uuid::now_v7()`) is another one on
/// every retry, and no retry is ever recognised. The nil UUID is refused as missing: it stands for an id that nobody set.
impl KeyPart for Uuid {
    fn encode(&self, slot: PartSlot<'_>) -> Result<EncodedPart, KeyPartError> {
        if self.is_nil() {
            return Err(slot.missing());
        }
        slot.text(self.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyPartError, Operation, key};

    const CHARGE: Operation = Operation::declare("create-charge", 1);

    #[test]
    fn a_uuid_counts_as_its_text() {
        let order = Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);
        assert_eq!(key!(CHARGE; order), key!(CHARGE; order = "67e55044-10b1-426f-9247-bb680e5fe0c8"));
        assert_ne!(key!(CHARGE; order), key!(CHARGE; order = order.as_u128()));
    }

    #[test]
    fn the_nil_uuid_is_missing() {
        let order = Uuid::nil();
        assert_eq!(key!(CHARGE; order), Err(KeyPartError::Missing { part: "order".into() }));
    }
}
