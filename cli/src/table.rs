//! How tables look.

use comfy_table::{Cell, CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY};

/// An empty table.
pub(crate) fn new<T: Into<Cell>>(header: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header(header.into_iter().map(Into::into).collect::<Vec<Cell>>());
    // A line below every row would double the length of long tables.
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    table
}

pub(crate) fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
