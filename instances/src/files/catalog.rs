//! Reading what can be bought: `fairplan.catalog.v1` JSON or a table, for an instance whose resources it must name.

use crate::quantity::Quantity;
use crate::{Catalog, Decimal, Instance, InstanceError, Offer, Violation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::BufRead;

use super::amounts::Amounts;
use super::headers::bad_header;
use super::open::table_in;
use super::rows::{Rows, for_each_row};
use super::source;
use super::strict_json::{Entries, Form, Object, Text, document, for_each, number, whole};
use super::values::{repeated, whole_number};
use crate::stated;

const FORM: Form = Form {
    format: "fairplan.catalog.v1",
    what: "catalog",
    otherwise: "or a table with the columns id, price and one a resource",
};

/// What can be bought: types of servers with prices, for an instance whose resources they name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Catalog")]
pub struct CatalogFile<'a> {
    /// The format and its version.
    #[serde(borrow)]
    #[schemars(extend("const" = FORM.format))]
    format: Text<'a>,
    /// What to call the catalog.
    #[serde(borrow, default)]
    name: Text<'a>,
    /// What prices are counted in, such as `EUR a month`.
    #[serde(borrow, default)]
    currency: Text<'a>,
    /// The types.
    #[serde(borrow)]
    #[schemars(with = "Vec<ServerType<'a>>", length(min = 1))]
    server_types: &'a RawValue,
}

impl CatalogFile<'_> {
    /// The format's name and version.
    pub const FORMAT: &'static str = FORM.format;
}

/// A type of server.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ServerType<'a> {
    /// Unique name. That of a server class of the instance means more servers of that class.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    id: Text<'a>,
    /// One server's capacity; a resource left out is 0. Absent: that of the class which `id` or `like` names.
    #[serde(borrow, default, deserialize_with = "stated")]
    capacity: Option<Entries<'a>>,
    /// The price of one server, above 0; where there is a commitment: on demand, for a period.
    #[serde(borrow)]
    #[schemars(with = "f64", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    price: &'a RawValue,
    /// What it costs when it is reserved. Absent: it cannot be.
    #[serde(borrow, default, deserialize_with = "stated")]
    commitment: Option<Commitment<'a>>,
    /// The most that can be bought; absent: any number.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>")]
    limit: Option<&'a RawValue>,
    /// The server class as which users treat such servers: who may run there, and at which rates. Absent: every user may
    /// that is not restricted to certain classes.
    #[serde(borrow, default, deserialize_with = "stated")]
    like: Option<Text<'a>>,
}

/// A lower price for those who commit to some periods.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Commitment<'a> {
    /// The price of one reserved server for a period, above 0 and at most that on demand.
    #[serde(borrow)]
    #[schemars(with = "f64", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    price: &'a RawValue,
    /// How many periods one commits to, and pays for.
    #[serde(borrow)]
    #[schemars(with = "u64", range(min = 1))]
    periods: &'a RawValue,
}

/// Reads the catalog for `instance` from JSON or from a table (CSV, gzipped or not, or Parquet), told apart by their
/// first byte; `-` is standard input.
///
/// A table has the columns `id` and `price`, optionally `commitment_price` with `commitment_periods`, `limit` and `like`, and one a
/// resource; an empty cell is 0 of a resource, no commitment, no limit, like no class. Refused: resources that the instance does not have, missing prices, and whatever
/// [`Catalog::new`] refuses.
pub fn read_catalog(path: &str, instance: &Instance) -> Result<Catalog, InstanceError> {
    let mut source = source::open(path)?;
    let file = source.name().to_owned();
    let start =
        source.fill_buf().map_err(|error| InstanceError::Io { file: path.to_owned(), source: error })?;
    if !start.trim_ascii_start().starts_with(b"{") {
        return catalog_in(table_in(source, path)?.as_mut(), instance);
    }
    let content = source.read_all()?;
    let document: CatalogFile = document(&file, &content, &FORM)?;
    from_json(&document, instance).map_err(|violation| InstanceError::Invalid { file, violation })
}

fn from_json(document: &CatalogFile, instance: &Instance) -> Result<Catalog, Violation> {
    FORM.expect(&document.format)?;
    let mut amounts = Amounts::new(instance.resources().to_vec());
    let mut offers = Vec::new();
    for_each(document.server_types, "server_types", |position, Object(kind): Object<ServerType>| {
        let place = |field: &str| format!("server_types[{position}].{field}");
        let capacity = match &kind.capacity {
            Some(entries) => {
                let counted: Vec<Option<Box<RawValue>>> =
                    entries.0.iter().map(|entry| raw_count(entry, instance)).collect();
                let entries = entries.0.iter().zip(&counted);
                let entries = entries.map(|((name, raw), counted)| {
                    (Text(Cow::Borrowed(&*name.0)), counted.as_deref().unwrap_or(*raw))
                });
                amounts.read(&Entries(entries.collect()), || place("capacity")).map_err(without_unit)?;
                Some(amounts.values.clone())
            }
            None => None,
        };
        let limit = |raw| whole(raw, || place("limit"));
        let commitment = kind.commitment.map(|stated| {
            let (price, periods) = (|| place("commitment.price"), || place("commitment.periods"));
            let periods = whole(stated.periods, periods)?;
            Ok((number(stated.price, price).map_err(Violation::above_zero)?, periods))
        });
        offers.push(Offer {
            id: kind.id.0.into_owned(),
            capacity,
            price: number(kind.price, || place("price")).map_err(Violation::above_zero)?,
            commitment: commitment.transpose()?,
            limit: kind.limit.map(limit).transpose()?,
            like: kind.like.map(|like| like.0.into_owned()),
        });
        Ok(())
    })?;
    Catalog::new(instance, document.name.0.as_ref().into(), document.currency.0.as_ref().into(), offers)
}

/// Parts of the largest server, from and to, in which an amount with a unit counts what the instance does.
const ALIKE: (f64, f64) = (1.0 / 4_096.0, 16.0);

/// An amount with a unit, such as `16Gi` or `500m`, as so many bytes or whole ones. An instance does not say what its numbers count:
/// they count the same where the amount is like what one of its servers has, and else the amount is refused.
fn count(text: &str, resource: &str, instance: &Instance) -> Option<Decimal> {
    if !text.ends_with(|last: char| last.is_ascii_alphabetic()) {
        return None;
    }
    let amount = Quantity::parse(text).ok().and_then(Quantity::decimal)?;
    let r = instance.resources().iter().position(|name| name == resource)?;
    let largest = instance.classes().iter().map(|class| class.capacity[r].to_f64()).fold(0.0, f64::max);
    (ALIKE.0 * largest..=ALIKE.1 * largest).contains(&amount.to_f64()).then_some(amount)
}

/// What is taken off each bought server of a resource, as people write it: a number, or an amount with a unit as in a catalog.
///
/// # Errors
/// What is neither, and an amount with a unit that counts something else than the instance does.
pub fn read_amount(text: &str, resource: &str, instance: &Instance) -> Result<Decimal, Violation> {
    if let Some(amount) = count(text, resource, instance) {
        return Ok(amount);
    }
    let refused =
        |error: crate::DecimalError| without_unit(Violation::new(resource, text, error.to_string()));
    Decimal::parse(text.as_bytes()).map_err(refused)
}

/// The same of an entry of a JSON document.
fn raw_count((name, raw): &(Text<'_>, &RawValue), instance: &Instance) -> Option<Box<RawValue>> {
    let text: String = serde_json::from_str(raw.get()).ok()?;
    RawValue::from_string(count(&text, &name.0, instance)?.to_string()).ok()
}

/// What to write instead of an amount with a unit that counts something else than the instance does.
fn without_unit(violation: Violation) -> Violation {
    let amount = Quantity::parse(violation.value.trim_matches('"')).ok().and_then(Quantity::decimal);
    let Some(amount) = amount else { return violation };
    let problem = format!(
        "write a number without unit, in what the instance counts the resource in: {amount} if that is bytes or whole ones"
    );
    Violation { problem, ..violation }
}

/// The columns that are no resources.
const FIXED: [&str; 6] = ["id", "price", "limit", "like", "commitment_price", "commitment_periods"];

/// The catalog for `instance` in an open table, as [`read_catalog`] reads it.
pub fn catalog_in(rows: &mut dyn Rows, instance: &Instance) -> Result<Catalog, InstanceError> {
    let table = &rows.table().clone();
    let header = &table.header;
    let invalid = |violation| InstanceError::Invalid { file: table.file.clone(), violation };
    if let Some(name) = repeated(header.iter().map(String::as_str)) {
        return Err(bad_header(table, name, "duplicate column"));
    }
    let column = |name: &str| header.iter().position(|column| column == name);
    let [id, price, limit, like, reserved, periods] = FIXED.map(column);
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
            let amount = |(at, resource): (&Option<usize>, &String)| {
                number(*at).or_else(|violation| match count(&violation.value, resource, instance) {
                    Some(amount) => Ok(Some(amount)),
                    None => Err(without_unit(violation)),
                })
            };
            let amounts = columns.iter().zip(resources).map(amount).collect::<Result<Vec<_>, _>>()?;
            let stated = amounts.iter().any(Option::is_some);
            let capacity = amounts.into_iter().map(Option::unwrap_or_default).collect::<Vec<Decimal>>();
            let whole = |limit| whole_number(limit, || table.place_in(row, "limit"));
            let like = text(like)?;
            let periods = number(periods)?
                .map(|periods| whole_number(periods, || table.place_in(row, "commitment_periods")));
            let commitment = match (number(reserved).map_err(Violation::above_zero)?, periods.transpose()?) {
                (Some(price), Some(periods)) => Some((price, periods)),
                (None, None) => None,
                (price, _) => {
                    let (lacking, problem) = if price.is_some() {
                        ("commitment_periods", "state for how many periods `commitment_price` is had")
                    } else {
                        (
                            "commitment_price",
                            "state the price a period that `commitment_periods` are committed to for",
                        )
                    };
                    return Err(Violation::new(table.place_in(row, lacking), "", problem));
                }
            };
            offers.push(Offer {
                id: text(Some(id))?.to_owned(),
                capacity: stated.then_some(capacity),
                price: number(Some(price)).map_err(Violation::above_zero)?.ok_or_else(missing)?,
                commitment,
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
            Some((row, field)) => {
                let column = field.strip_prefix("capacity.").unwrap_or(field);
                let column = column.replace("commitment.", "commitment_");
                // A table has a column for each resource.
                let place = match column.as_str() {
                    "capacity" => format!("{row}, columns of resources"),
                    column => format!("{row}, column {column}"),
                };
                Violation { place, ..violation }
            }
            None => violation,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::{Draft, generate::drfh_fig1};

    #[test]
    fn amounts_with_a_unit_are_read_where_they_count_what_the_instance_does() {
        let folder = Folder::new();
        let json = |memory: &str| {
            let types =
                format!(r#"{{"id": "a", "price": 1, "capacity": {{"cpu": 4, "memory": "{memory}"}}}}"#);
            folder
                .file("c.json", format!(r#"{{"format": "fairplan.catalog.v1", "server_types": [{types}]}}"#))
        };
        let table = |memory: &str| folder.file("c.csv", format!("id,price,cpu,memory\na,1,4,{memory}\n"));
        let of = |path: String, instance: &Instance| {
            read_catalog(&path, instance).map(|catalog| catalog.types[0].capacity[1].to_string())
        };
        let gibibytes = drfh_fig1().unwrap();
        let mut draft = Draft::from(&gibibytes);
        draft.classes.iter_mut().for_each(|class| class.capacity[1] = "12884901888".parse().unwrap());
        let bytes = draft.build().unwrap();
        let forms: [&dyn Fn(&str) -> String; 2] = [&json, &table];
        for path in forms {
            assert_eq!(of(path("16Gi"), &bytes).unwrap(), "17179869184");
            let refused = of(path("16Gi"), &gibibytes).unwrap_err().to_string();
            assert!(
                refused.contains("16Gi") && refused.contains("17179869184 if that is bytes"),
                "{refused}"
            );
            assert!(of(path("16Gx"), &bytes).is_err());
        }
    }
}
