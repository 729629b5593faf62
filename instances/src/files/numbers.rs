//! Numbers of columns in memory as exact decimals, each by the type of its column and without its text.

use arrow_array::cast::AsArray;
use arrow_array::types::{self, ArrowPrimitiveType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use std::ops::Range;

use super::cells::{is_text, push_cell, text};
use super::rows::Number;
use crate::model::NumberRange;
use crate::{Decimal, DecimalError};

/// Writes the cells of `rows` into every `step`-th place of `numbers`, which says of none yet that it is there.
pub(super) fn read_numbers(column: &ArrayRef, rows: Range<usize>, numbers: &mut [Number], step: usize) {
    use types::{
        Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    };
    match column.data_type() {
        DataType::Float64 => values::<Float64Type>(column, rows, numbers, step, Decimal::from_f64),
        DataType::Int8 => values::<Int8Type>(column, rows, numbers, step, |value| whole(value.into())),
        DataType::Int16 => values::<Int16Type>(column, rows, numbers, step, |value| whole(value.into())),
        DataType::Int32 => values::<Int32Type>(column, rows, numbers, step, |value| whole(value.into())),
        DataType::Int64 => values::<Int64Type>(column, rows, numbers, step, whole),
        DataType::UInt8 => values::<UInt8Type>(column, rows, numbers, step, |v| Decimal::new(v.into(), 0)),
        DataType::UInt16 => values::<UInt16Type>(column, rows, numbers, step, |v| Decimal::new(v.into(), 0)),
        DataType::UInt32 => values::<UInt32Type>(column, rows, numbers, step, |v| Decimal::new(v.into(), 0)),
        DataType::UInt64 => values::<UInt64Type>(column, rows, numbers, step, |v| Decimal::new(v, 0)),
        DataType::Null => {}
        kind => {
            let is_text = is_text(kind);
            let mut written = Vec::new();
            for (row, number) in rows.zip(numbers.iter_mut().step_by(step)) {
                if column.is_null(row) {
                    continue;
                }
                let digits = if is_text {
                    text(column, row).as_bytes()
                } else {
                    // Decimals and single precision, which are rare.
                    written.clear();
                    push_cell(&mut written, column, row);
                    &written
                };
                if !digits.is_empty() {
                    *number = Decimal::parse(digits).map(Some);
                }
            }
        }
    }
}

/// Whether all cells are there, and doubles or whole numbers as most frames have them: `read_decimals` reads those.
pub(super) fn is_decimal(column: &ArrayRef) -> bool {
    column.null_count() == 0
        && matches!(column.data_type(), DataType::Float64 | DataType::Int32 | DataType::Int64)
}

/// Writes all cells into every `step`-th of the decimals and of the doubles next to them, if each can be used.
pub(super) fn read_decimals(
    column: &ArrayRef,
    decimals: &mut [Decimal],
    doubles: &mut [f64],
    step: usize,
) -> Option<NumberRange> {
    fn each<T: ArrowPrimitiveType>(
        column: &ArrayRef,
        (decimals, doubles): (&mut [Decimal], &mut [f64]),
        step: usize,
        mut read: impl FnMut(T::Native) -> Option<(Decimal, f64)>,
    ) -> Option<NumberRange> {
        let (mut place, mut range) = (0, NumberRange::default());
        for value in column.as_primitive::<T>().values() {
            let (decimal, double) = read(*value)?;
            (decimals[place], doubles[place]) = (decimal, double);
            range.exponent = range.exponent.min(decimal.exponent());
            range.largest = if double > range.largest { double } else { range.largest };
            range.has_zero |= decimal.is_zero();
            place += step;
        }
        Some(range)
    }
    let (there, mut places) = ((decimals, doubles), 0);
    match column.data_type() {
        // The decimal of a double reads back as that double; that of -0 is zero.
        DataType::Float64 => each::<types::Float64Type>(column, there, step, |value| {
            Some((Decimal::from_f64_like(value, &mut places).ok()?, value + 0.0))
        }),
        DataType::Int32 => each::<types::Int32Type>(column, there, step, |value| {
            Some((whole(value.into()).ok()?, f64::from(value)))
        }),
        DataType::Int64 => {
            each::<types::Int64Type>(column, there, step, |value| Some((whole(value).ok()?, value as f64)))
        }
        _ => None,
    }
}

fn values<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    rows: Range<usize>,
    numbers: &mut [Number],
    step: usize,
    decimal: impl Fn(T::Native) -> Result<Decimal, DecimalError>,
) {
    let column = column.as_primitive::<T>();
    let nulls = column.nulls();
    for (place, row) in rows.clone().enumerate() {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            numbers[place * step] = decimal(column.values()[row]).map(Some);
        }
    }
}

fn whole(value: i64) -> Result<Decimal, DecimalError> {
    u64::try_from(value).map_err(|_| DecimalError::Negative).and_then(|value| Decimal::new(value, 0))
}
