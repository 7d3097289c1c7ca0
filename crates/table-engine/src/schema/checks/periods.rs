//! C27: kinds with a table for each period.

use table_words::TimeItem;

use super::super::format::key_type::KeyType;
use super::super::message::Message;
use super::super::{Format, Part, Period, PeriodTables, Place, Schema};
use super::{field_name, index};

/// C27: the key of an entity says in which table it lies, and so does whatever else no two entities may share.
#[inline]
pub(super) const fn determined(schema: &Schema) -> Option<Message> {
    // A declaration with mistakes has its messages.
    let Some(tables) = schema.periods() else { return None };
    if let Some(message) = is_a_time(schema, tables) {
        return Some(message);
    }
    let mut at = 0;
    while at < schema.indexes.len() {
        let of = index(schema, at);
        if of.unique && !says_the_period(&of.place, tables) {
            let message = Message::new("the index `").text(of.name).text("` is `unique`, and its key ");
            let message = message.template(&of.place.row).text(
                " does not say in which period an entity lies, so that it \
                 would be unique in each table alone: add `{",
            );
            let message = message.text(field_name(schema, tables.field)).text(":");
            return Some(message.text(tables.period.pattern()).text("}`, or leave out `unique`"));
        }
        at += 1;
    }
    None
}

/// The field of the period is a time, by its parts in the primary key.
#[inline]
const fn is_a_time(schema: &Schema, tables: &PeriodTables) -> Option<Message> {
    let place = schema.place();
    let templates = [&place.partition, &place.row];
    let mut rest: &[&super::super::Template] = &templates;
    while let [template, others @ ..] = rest {
        let mut parts = template.parts;
        while let [part, after @ ..] = parts {
            if let Part::Field(part) = part
                && part.field == tables.field
                && !matches!(part.key, KeyType::Time)
            {
                let message = Message::new("`").text(field_name(schema, tables.field));
                return Some(message.text("` is no time: a table for each period has one in its name"));
            }
            parts = after;
        }
        rest = others;
    }
    None
}

/// Returns whether the keys of a place say in which period their entity lies.
#[inline]
const fn says_the_period(place: &Place, tables: &PeriodTables) -> bool {
    // Of the year, the month, the day of the month, that of the year, and the hour.
    let mut said = [false; 5];
    let templates = [&place.partition, &place.row];
    let mut rest: &[&super::super::Template] = &templates;
    while let [template, others @ ..] = rest {
        let mut parts = template.parts;
        while let [part, after @ ..] = parts {
            parts = after;
            let Part::Field(part) = part else { continue };
            if part.field != tables.field || part.each {
                continue;
            }
            if part.format.is_lossless() {
                return true;
            }
            let Format::Time(mut pattern) = part.format else { continue };
            while let Some((item, behind)) = pattern.split_first() {
                match item {
                    TimeItem::Year => said[0] = true,
                    TimeItem::Month => said[1] = true,
                    TimeItem::Day => said[2] = true,
                    TimeItem::DayOfYear => said[3] = true,
                    TimeItem::Hour => said[4] = true,
                    _ => {}
                }
                pattern = behind;
            }
        }
        rest = others;
    }
    let [year, month, day, day_of_year, hour] = said;
    let says_day = year && (month && day || day_of_year);
    match tables.period {
        Period::Year => year,
        Period::Month => year && (month || day_of_year),
        Period::Day | Period::DayOfYear => says_day,
        Period::Hour => says_day && hour,
    }
}
