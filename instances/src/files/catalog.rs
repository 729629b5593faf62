//! Reading what can be bought: `fairplan.catalog.v1` JSON or a table, for an instance whose resources it must name.

use crate::quantity::Quantity;
use crate::{Catalog, Decimal, Instance, InstanceError, Offer, Violation};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::BufRead;

use super::json::Amounts;
use super::open::table_in;
use super::rows::{Rows, for_each_row};
use super::source;
use super::strict_json::{Entries, Form, Object, Text, document, for_each, number};
use super::tables::bad_header;
use super::{repeated, whole_number};
use crate::stated;

const FORM: Form = Form {
    format: "fairplan.catalog.v1",
    what: "catalog",
    otherwise: "or a table with the columns id, price and one a resource",
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    format: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    currency: Text<'a>,
    #[serde(borrow)]
    server_types: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeFields<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default, deserialize_with = "stated")]
    capacity: Option<Entries<'a>>,
    #[serde(borrow)]
    price: &'a RawValue,
    #[serde(borrow, default, deserialize_with = "stated")]
    limit: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "stated")]
    like: Option<Text<'a>>,
}

/// Reads the catalog for `instance` from JSON or from a table (CSV, gzipped or not, or Parquet), told apart by their
/// first byte; `-` is standard input.
///
/// A table has the columns `id` and `price`, optionally `limit` and `like`, and one a resource; an empty cell is 0 of a
/// resource, no limit, like no class. Refused: resources that the instance does not have, missing prices, and whatever
/// [`Catalog::new`] refuses.
pub fn read_catalog(path: &str, instance: &Instance) -> Result<Catalog, InstanceError> {
    let mut source = source::open(path)?;
    let file = source.name().to_owned();
    let start =
        source.fill_buf().map_err(|error| InstanceError::Io { file: path.to_owned(), source: error })?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if !start.trim_ascii_start().starts_with(b"{") {
        return from_table(table_in(source, path)?.as_mut(), instance);
    }
    let content = source.read_all()?;
    let document: Document = document(&file, &content, &FORM)?;
    from_json(&document, instance).map_err(|violation| InstanceError::Invalid { file, violation })
}

fn from_json(document: &Document, instance: &Instance) -> Result<Catalog, Violation> {
    FORM.expect(&document.format)?;
    let mut amounts = Amounts::new(instance.resources().to_vec());
    let mut offers = Vec::new();
    for_each(document.server_types, "server_types", |position, Object(kind): Object<TypeFields>| {
        let place = |field: &str| format!("server_types[{position}].{field}");
        let capacity = match &kind.capacity {
            Some(entries) => {
                amounts.read(entries, || place("capacity")).map_err(without_unit)?;
                Some(amounts.values.clone())
            }
            None => None,
        };
        let limit = |raw| whole_number(number(raw, || place("limit"))?, || place("limit"));
        offers.push(Offer {
            id: kind.id.0.into_owned(),
            capacity,
            price: number(kind.price, || place("price"))?,
            limit: kind.limit.map(limit).transpose()?,
            like: kind.like.map(|like| like.0.into_owned()),
        });
        Ok(())
    })?;
    Catalog::new(instance, document.name.0.as_ref().into(), document.currency.0.as_ref().into(), offers)
}

/// What to write instead of an amount with a unit, such as `16Gi`: an instance does not say what its numbers count, so
/// units cannot be converted.
fn without_unit(violation: Violation) -> Violation {
    let amount = Quantity::parse(violation.value.trim_matches('"')).ok().and_then(Quantity::decimal);
    let Some(amount) = amount else { return violation };
    let problem = format!(
        "write a number without unit, in what the instance counts the resource in: {amount} if that is bytes or whole ones"
    );
    Violation { problem, ..violation }
}

/// The columns that are no resources.
const FIXED: [&str; 4] = ["id", "price", "limit", "like"];

fn from_table(rows: &mut dyn Rows, instance: &Instance) -> Result<Catalog, InstanceError> {
    let table = &rows.table().clone();
    let header = &table.header;
    let invalid = |violation| InstanceError::Invalid { file: table.file.clone(), violation };
    if let Some(name) = repeated(header.iter().map(String::as_str)) {
        return Err(bad_header(table, name, "duplicate column"));
    }
    let column = |name: &str| header.iter().position(|column| column == name);
    let [id, price, limit, like] = FIXED.map(column);
    let (Some(id), Some(price)) = (id, price) else {
        let missing = if id.is_none() { "id" } else { "price" };
        return Err(bad_header(table, missing, "is missing; a catalog needs id, price"));
    };
    let resources = instance.resources();
    if let Some(name) =
        header.iter().find(|name| !FIXED.contains(&name.as_str()) && !resources.contains(name))
    {
        let problem = format!("unknown resource; there are {}", resources.join(", "));
        return Err(bad_header(table, name, &problem));
    }
    let columns: Vec<Option<usize>> = resources.iter().map(|name| column(name)).collect();
    let numeric: Vec<bool> = (0..header.len()).map(|at| at != id && Some(at) != like).collect();
    let (mut offers, mut places) = (Vec::new(), Vec::new());
    for_each_row(rows, &numeric, |row| {
        let mut read = || {
            let text = |at: Option<usize>| at.map_or(Ok(""), |at| table.text(row, at));
            let number = |at: Option<usize>| at.map_or(Ok(None), |at| table.number(row, at));
            let missing = || Violation::new(table.place_in(row, "price"), "", "every type needs a price");
            let amount = |at: &Option<usize>| number(*at).map_err(without_unit);
            let amounts = columns.iter().map(amount).collect::<Result<Vec<_>, _>>()?;
            let stated = amounts.iter().any(Option::is_some);
            let capacity = amounts.into_iter().map(Option::unwrap_or_default).collect::<Vec<Decimal>>();
            let whole = |limit| whole_number(limit, || table.place_in(row, "limit"));
            let like = text(like)?;
            offers.push(Offer {
                id: text(Some(id))?.to_owned(),
                capacity: stated.then_some(capacity),
                price: number(Some(price))?.ok_or_else(missing)?,
                limit: number(limit)?.map(whole).transpose()?,
                like: (!like.is_empty()).then(|| like.to_owned()),
            });
            places.push(table.place(row));
            Ok(())
        };
        read().map_err(invalid)
    })?;
    Catalog::new(instance, String::new(), String::new(), offers).map_err(|violation| {
        // `server_types[2].price` is a line and a column here.
        let parts = violation.place.strip_prefix("server_types[").and_then(|rest| rest.split_once("]."));
        let at = parts.and_then(|(at, field)| Some((places.get(at.parse::<usize>().ok()?)?, field)));
        invalid(match at {
            Some((row, field)) => Violation { place: format!("{row}, column {field}"), ..violation },
            None => violation,
        })
    })
}
