//! A text into pieces.

/// The pieces of `text`, in order and without gaps: together they are the text. None has more than `largest` characters, and none is
/// empty. The same text is always split in the same places.
///
/// A piece ends after a paragraph if there is one that ends in its second half, else after a line or sentence, else after a word, else
/// in the middle of a word. Zero counts as 1.
pub(crate) fn split(text: &str, largest: usize) -> Vec<&str> {
    let largest = largest.max(1);
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(end_of_piece(rest, largest));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Where the first piece of `text` ends, in bytes. More than 0, unless the text is empty.
fn end_of_piece(text: &str, largest: usize) -> usize {
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    // A text of n characters has n + 1 boundaries.
    let Some(end) = ends.clone().nth(largest) else { return text.len() };
    if end == text.len() {
        return end;
    }
    // Not before the middle: a short paragraph would be a piece of its own, before a long one that must be split anyway.
    let earliest = ends.nth(largest / 2).unwrap_or(0).max(1);
    let window = text.get(..end).unwrap_or(text);
    [after_a_paragraph, after_a_sentence, after_a_word]
        .into_iter()
        .filter_map(|last_end| last_end(window))
        .find(|last| *last >= earliest)
        .unwrap_or(end)
}

fn after_a_paragraph(text: &str) -> Option<usize> {
    last_of(text, &["\n\n", "\r\n\r\n"])
}

fn after_a_sentence(text: &str) -> Option<usize> {
    last_of(text, &["\n", ". ", "! ", "? ", "。"])
}

fn after_a_word(text: &str) -> Option<usize> {
    text.char_indices().rev().find(|(_, character)| character.is_whitespace()).map(|(at, space)| at + space.len_utf8())
}

/// The end of the last of these.
fn last_of(text: &str, marks: &[&str]) -> Option<usize> {
    marks.iter().filter_map(|mark| text.rfind(mark).map(|at| at + mark.len())).max()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_piece_ends_where_a_reader_would_pause() {
        assert_eq!(split("One.\n\nTwo, three.", 10), ["One.\n\n", "Two, ", "three."]);
        assert_eq!(split("It rained. It poured.", 14), ["It rained. ", "It poured."]);
        assert_eq!(split("water damage", 8), ["water ", "damage"]);
        assert_eq!(split("Wasserschaden", 6), ["Wasser", "schade", "n"]);
        assert_eq!(split("Hi.\n\nA sentence that is long", 16), ["Hi.\n\nA sentence ", "that is long"]);
    }

    #[test]
    fn a_text_that_fits_is_one_piece_and_no_text_is_none() {
        assert_eq!(split("exact", 5), ["exact"]);
        assert!(split("", 5).is_empty());
        assert_eq!(split("ab", 0), ["a", "b"]);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_small_enough_and_always_the_same(
            text in r"([a-zäß日👩‍🚒]{1,9}|[.!?] |\r?\n|\n\n|。|\u{301}){0,60}",
            largest in 1_usize..40,
        ) {
            let pieces = split(&text, largest);
            prop_assert_eq!(pieces.concat(), text.clone());
            for piece in &pieces {
                prop_assert!((1..=largest).contains(&piece.chars().count()), "{piece:?}");
            }
            prop_assert_eq!(split(&text, largest), pieces);
        }

        #[test]
        fn all_pieces_but_the_last_are_at_least_half_full(text in r"([a-z]{1,9}[ .\n]{0,2}){0,60}", largest in 2_usize..40) {
            let pieces = split(&text, largest);
            for piece in pieces.iter().rev().skip(1) {
                prop_assert!(piece.chars().count() >= largest / 2, "{piece:?} of {largest}");
            }
        }
    }
}
