//! The standard library's types as parts.

use std::{borrow::Cow, collections::BTreeSet, num, rc::Rc, sync::Arc};

use super::{EncodedPart, KeyPart, KeyPartError, PartSlot};
use crate::IdempotencyKey;

type Encoded = Result<EncodedPart, KeyPartError>;

impl KeyPart for str {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.text(self)
    }
}

impl KeyPart for String {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.text(self)
    }
}

/// As text of one character.
impl KeyPart for char {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.text(self.encode_utf8(&mut [0; 4]))
    }
}

/// As text, for a key that was minted elsewhere.
impl KeyPart for IdempotencyKey {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.text(self.as_str())
    }
}

impl KeyPart for bool {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        Ok(slot.boolean(*self))
    }
}

macro_rules! integers {
    ($($integer:ty),+ $(,)?) => {$(
        impl KeyPart for $integer {
            fn encode(&self, slot: PartSlot<'_>) -> Encoded {
                Ok(slot.integer(&self.to_string()))
            }
        }
    )+};
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
integers!(num::NonZeroU8, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64, num::NonZeroU128, num::NonZeroUsize);
integers!(num::NonZeroI8, num::NonZeroI16, num::NonZeroI32, num::NonZeroI64, num::NonZeroI128, num::NonZeroIsize);

impl<T: KeyPart> KeyPart for Option<T> {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        match self {
            Some(value) => value.encode(slot),
            None => Err(slot.missing()),
        }
    }
}

macro_rules! pointers {
    ($($pointer:ty),+ $(,)?) => {$(
        impl<T: KeyPart + ?Sized> KeyPart for $pointer {
            fn encode(&self, slot: PartSlot<'_>) -> Encoded {
                T::encode(self, slot)
            }
        }
    )+};
}

pointers!(&T, Box<T>, Rc<T>, Arc<T>);

impl<T: KeyPart + ToOwned + ?Sized> KeyPart for Cow<'_, T> {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        T::encode(self, slot)
    }
}

fn part<T: KeyPart>(element: &T) -> &dyn KeyPart {
    element
}

impl<T: KeyPart> KeyPart for [T] {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.list(self.iter().map(part))
    }
}

impl<T: KeyPart, const N: usize> KeyPart for [T; N] {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        self.as_slice().encode(slot)
    }
}

impl<T: KeyPart> KeyPart for Vec<T> {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        self.as_slice().encode(slot)
    }
}

impl<T: KeyPart> KeyPart for BTreeSet<T> {
    fn encode(&self, slot: PartSlot<'_>) -> Encoded {
        slot.list(self.iter().map(part))
    }
}

macro_rules! tuples {
    ($(($($name:ident $field:tt),+)),+ $(,)?) => {$(
        impl<$($name: KeyPart),+> KeyPart for ($($name,)+) {
            fn encode(&self, slot: PartSlot<'_>) -> Encoded {
                slot.list([$(part(&self.$field)),+].into_iter())
            }
        }
    )+};
}

tuples!((A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3));
