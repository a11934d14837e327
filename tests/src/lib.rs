//! Holds nothing: this package is its tests, in `end_to_end.rs` and the files that it names.
