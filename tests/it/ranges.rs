//! Typed queries by every kind of bound, over every format of a key part: what they find, in which order, is what
//! comparing the fields themselves says.

use std::fmt::Debug;

use integration_tests::Scratch;
use integration_tests::executors::Executor;
use table_core::{Entity, Table, Ticks, Uuid, prefix};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "{site:escaped}", row = "reading_{word}")]
#[index(by_text, row = "text_{text:escaped}!{word}", copy = keys)]
#[index(by_number, row = "number_{number}_{word}", copy = keys)]
#[index(by_padded, row = "padded_{padded:04:inverted}_{word}", copy = keys)]
#[index(by_big, row = "big_{big:inverted}_{word}", copy = keys)]
#[index(by_signed, row = "signed_{signed:offset}_{word}")]
#[index(by_tiny, row = "tiny_{tiny:offset}{word}", copy = keys)]
#[index(by_time, row = "time_{time:ticks}_{word}", copy = keys)]
#[index(by_newest, row = "newest_{time:inverted}_{word}", copy = keys)]
#[index(by_hour, row = "hour_{time:%Y%m%d%H}_{word}", copy = keys)]
#[index(by_id, row = "id_{id}_{word}", copy = keys)]
#[index(by_flag, row = "flag_{flag}_{word}", copy = keys)]
#[index(by_maybe, row = "maybe_{maybe}_{word}", copy = keys)]
#[index(by_pair, row = "pair_{number}_{text:escaped}!{word}", copy = keys)]
#[index(by_list, row = "list_{list[]:offset}_{word}", copy = keys, as = item)]
struct Reading {
    site: String,
    word: String,
    text: String,
    number: u16,
    padded: u32,
    big: u64,
    signed: i64,
    tiny: i8,
    time: Ticks,
    id: Uuid,
    flag: bool,
    maybe: Option<u32>,
    #[property(json)]
    list: Vec<i16>,
}

/// What sorts otherwise by bytes than by UTF-16 units, what is escaped and what stands around it, prefixes of each
/// other, what ends a part.
const TEXTS: [&str; 20] = [
    "",
    "\0",
    " ",
    "!",
    "!!",
    "$",
    "$00",
    "a",
    "a!",
    "a!b",
    "a/b",
    "a.0",
    "ab",
    "[",
    "~",
    "\u{7f}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{10000}",
    "\u{10ffff}a",
];

/// Of those that any key can hold.
const WORDS: [&str; 12] =
    ["", " ", "!", "$", "a", "a!", "a_b", "ab", "reading_", "\u{e000}", "\u{10000}", "\u{10ffff}a"];

const DAY: u64 = 864_000_000_000;
const TIMES: [u64; 8] = [
    0,
    1,
    DAY - 1,
    DAY,
    638_447_616_000_000_000,
    638_447_651_999_999_999,
    638_447_652_000_000_000,
    3_155_378_975_999_999_999,
];

fn pick<T: Copy>(from: &[T], at: usize) -> T {
    from[at % from.len()]
}

fn readings() -> Vec<Reading> {
    WORDS
        .iter()
        .enumerate()
        .flat_map(|(at, word)| {
            // Two of each, in two sites that escape to prefixes of each other.
            ["", "!"].map(|site| Reading {
                site: site.to_owned(),
                word: (*word).to_owned(),
                text: pick(&TEXTS, at * 7 + site.len()).to_owned(),
                number: pick(&[0, 1, 9, 10, u16::MAX], at),
                padded: pick(&[0, 1, 5_000, 9_998, 9_999], at * 3),
                big: pick(&[0, 1, 1 << 40, i64::MAX.unsigned_abs()], at * 3),
                signed: pick(&[i64::MIN, -1, 0, 1, i64::MAX], at * 2),
                tiny: pick(&[i8::MIN, -1, 0, 1, i8::MAX], at * 4),
                time: Ticks::new(pick(&TIMES, at * 3).max(504_911_232_000_000_000)).unwrap(),
                id: Uuid::from_u128(pick(&[0, 1, 1 << 64, u128::MAX], at * 3)),
                flag: at % 3 == 0,
                maybe: (at % 4 > 0).then(|| pick(&[0, 7, u32::MAX], at)),
                list: [i16::MIN, -1, 0, i16::MAX].into_iter().skip(at % 3).take(1 + at % 2).collect(),
            })
        })
        .collect()
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn table(scratch: &Scratch) -> (Table<Reading>, Vec<Reading>) {
    let (table, readings) = (scratch.tables().table::<Reading>().unwrap(), readings());
    for reading in &readings {
        table.insert(reading).unwrap();
    }
    (table, readings)
}

/// The words of those in the site that `wanted` wants, sorted by `by` and then by the word.
fn expected<K: Ord>(
    readings: &[Reading],
    site: &str,
    wanted: impl Fn(&Reading) -> bool,
    by: impl Fn(&Reading) -> K,
) -> Vec<String> {
    let mut found: Vec<_> =
        readings.iter().filter(|reading| reading.site == site && wanted(reading)).collect();
    found.sort_by_key(|reading| (by(reading), units(&reading.word)));
    found.into_iter().map(|reading| reading.word.clone()).collect()
}

fn assert_found(found: Vec<String>, mut expected: Vec<String>, is_reversed: bool, what: &dyn Debug) {
    if is_reversed {
        expected.reverse();
    }
    assert_eq!(found, expected, "{what:?}");
}

/// Every bound of two values from a list, both ways; `$key` is what the values compare by, `$order` what the rows
/// come in.
macro_rules! ranges {
    ($table:ident, $readings:ident, $path:ident.$part:ident, $values:expr, $field:expr, $key:expr, $order:expr) => {{
        let values: Vec<_> = $values.into_iter().collect();
        let (key, field, order) = ($key, $field, $order);
        let run = |query: &dyn Fn(&str, bool) -> Vec<String>,
                   wanted: &dyn Fn(&Reading) -> bool,
                   what: &dyn Debug| {
            for site in ["", "!"] {
                for is_reversed in [false, true] {
                    if is_reversed && !Executor::of_test().abilities().reverse {
                        continue;
                    }
                    let expected = expected(&$readings, site, wanted, &order);
                    assert_found(
                        query(site, is_reversed),
                        expected,
                        is_reversed,
                        &(stringify!($path), site, what),
                    );
                }
            }
        };
        macro_rules! bound {
            ($range:expr, $is_in:expr) => {{
                let is_in = $is_in;
                run(
                    &|site, is_reversed| {
                        let query = $table.$path().site(site).$part($range);
                        let query = if is_reversed { query.rev() } else { query };
                        query.into_iter().map(|row| row.unwrap().word.clone()).collect()
                    },
                    &|reading| field(reading).is_some_and(|value| is_in(key(&value))),
                    &$range,
                );
            }};
        }
        for a in &values {
            bound!(a.clone(), |k| k == key(a));
            bound!(a.clone().., |k| k >= key(a));
            bound!(..a.clone(), |k| k < key(a));
            bound!(..=a.clone(), |k| k <= key(a));
            for b in &values {
                bound!(a.clone()..b.clone(), |k| k >= key(a) && k < key(b));
                bound!(a.clone()..=b.clone(), |k| k >= key(a) && k <= key(b));
            }
        }
    }};
}

fn same<T: Copy>(value: &T) -> T {
    *value
}

#[test]
fn ranges_of_numbers_find_what_comparing_says() {
    let scratch = Scratch::new();
    let (table, readings) = table(&scratch);
    let numbers = [0, 1, 2, 9, 10, u16::MAX];
    ranges!(table, readings, by_number.number, numbers, |r: &Reading| Some(r.number), same, |r: &Reading| r
        .number);
    // Beyond the padding, too: there is nothing, and no error.
    let padded = [0, 1, 4_999, 5_000, 9_998, 9_999, 10_000, u32::MAX];
    let down = |r: &Reading| std::cmp::Reverse(r.padded);
    ranges!(table, readings, by_padded.padded, padded, |r: &Reading| Some(r.padded), same, down);
    let big = [0, 1, 2, 1 << 40, i64::MAX.unsigned_abs()];
    ranges!(table, readings, by_big.big, big, |r: &Reading| Some(r.big), same, |r: &Reading| {
        std::cmp::Reverse(r.big)
    });
    let signed = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
    ranges!(table, readings, by_signed.signed, signed, |r: &Reading| Some(r.signed), same, |r: &Reading| r
        .signed);
    let tiny = [i8::MIN, -2, -1, 0, 1, i8::MAX];
    ranges!(table, readings, by_tiny.tiny, tiny, |r: &Reading| Some(r.tiny), same, |r: &Reading| r.tiny);
    let maybe = [0, 1, 7, u32::MAX];
    ranges!(table, readings, by_maybe.maybe, maybe, |r: &Reading| r.maybe, same, |r: &Reading| r.maybe);
}

#[test]
fn ranges_of_times_and_ids_find_what_comparing_says() {
    let scratch = Scratch::new();
    let (table, readings) = table(&scratch);
    let times: Vec<_> = TIMES.iter().map(|ticks| Ticks::new(*ticks).unwrap()).collect();
    let time = |r: &Reading| Some(r.time);
    ranges!(table, readings, by_time.time, times.clone(), time, same, |r: &Reading| r.time);
    ranges!(table, readings, by_newest.time, times.clone(), time, same, |r: &Reading| std::cmp::Reverse(
        r.time
    ));
    // Within an hour rows come by the word; bounds are exact all the same.
    let hour = |r: &Reading| r.time.get() / (DAY / 24);
    ranges!(table, readings, by_hour.time, times, time, same, hour);
    let ids = [0, 1, 2, 1 << 64, u128::MAX].map(Uuid::from_u128);
    ranges!(table, readings, by_id.id, ids, |r: &Reading| Some(r.id), same, |r: &Reading| r.id);
    ranges!(table, readings, by_flag.flag, [false, true], |r: &Reading| Some(r.flag), same, |r: &Reading| r
        .flag);
}

#[test]
fn ranges_and_prefixes_of_text_find_what_comparing_says() {
    let scratch = Scratch::new();
    let (table, readings) = table(&scratch);
    let texts = || TEXTS.map(str::to_owned);
    let (text, word) = (|r: &Reading| Some(r.text.clone()), |r: &Reading| Some(r.word.clone()));
    let by = |text: &String| units(text);
    ranges!(table, readings, by_text.text, texts(), text, by, |r: &Reading| units(&r.text));
    // Text that no key can hold verbatim is a bound like any other.
    ranges!(table, readings, rows.word, texts(), word, by, |r: &Reading| units(&r.word));
    for start in TEXTS {
        for site in ["", "!"] {
            let found = table.by_text().site(site).text(prefix(start)).into_iter();
            let wanted = |r: &Reading| r.text.starts_with(start);
            let wanted = expected(&readings, site, wanted, |r: &Reading| units(&r.text));
            assert_found(found.map(|row| row.unwrap().word).collect(), wanted, false, &start);
            let found = table.rows().site(site).word(prefix(start)).into_iter();
            let wanted = expected(&readings, site, |r: &Reading| r.word.starts_with(start), |_| ());
            assert_found(found.map(|row| row.unwrap().word.clone()).collect(), wanted, false, &start);
        }
    }
}

#[test]
fn a_value_and_then_a_range_find_what_comparing_says() {
    let scratch = Scratch::new();
    let (table, readings) = table(&scratch);
    for number in [0, 1, 2, 9, 10, u16::MAX] {
        for low in TEXTS {
            for high in TEXTS {
                let (from, to) = (low.to_owned(), high.to_owned());
                let found = table.by_pair().site("!").number(number).text(from..=to).into_iter();
                let wanted = |r: &Reading| {
                    r.number == number && units(&r.text) >= units(low) && units(&r.text) <= units(high)
                };
                let wanted = expected(&readings, "!", wanted, |r: &Reading| units(&r.text));
                assert_found(
                    found.map(|row| row.unwrap().word).collect(),
                    wanted,
                    false,
                    &(number, low, high),
                );
            }
            let found = table.by_pair().site("").number(number).text(prefix(low)).count().unwrap();
            let wanted = |r: &Reading| r.number == number && r.text.starts_with(low);
            assert_eq!(found, expected(&readings, "", wanted, |_| ()).len() as u64, "{number} {low:?}");
        }
    }
    for item in [i16::MIN, -1, 0, 1, i16::MAX] {
        let found = table.by_list().site("").item(item..).into_iter();
        let found: Vec<_> = found.map(|row| row.unwrap().word).collect();
        let of_site = readings.iter().filter(|r| r.site.is_empty());
        let wanted = of_site.flat_map(|r| r.list.iter().filter(|other| **other >= item));
        assert_eq!(found.len(), wanted.count(), "{item}");
    }
}

/// Every value comes back from every key that holds it, and no two entities share a key.
#[test]
fn keys_give_back_what_they_were_made_of() {
    let scratch = Scratch::new();
    let (table, readings) = table(&scratch);
    for reading in &readings {
        let (site, word) = (reading.site.as_str(), reading.word.as_str());
        assert_eq!(table.get(Reading::key(site, word)).unwrap().unwrap(), *reading);
        let copy = table.get(Reading::by_signed(site, reading.signed, word)).unwrap().unwrap();
        assert_eq!(copy, *reading);
        let row = table.get(Reading::by_text(site, &reading.text, word)).unwrap().unwrap();
        assert_eq!(
            (row.site, row.text, row.word),
            (reading.site.clone(), reading.text.clone(), word.to_owned())
        );
        let row = table.get(Reading::by_newest(site, reading.time, word)).unwrap().unwrap();
        assert_eq!((row.time, row.word.as_str()), (reading.time, word));
        let row = table.get(Reading::by_tiny(site, reading.tiny, word)).unwrap().unwrap();
        assert_eq!((row.tiny, row.word.as_str()), (reading.tiny, word));
    }
    let rows = table.dynamic().query(&table_core::Query::new()).unwrap().count();
    let copies = |r: &Reading| 13 + usize::from(r.maybe.is_some()) + r.list.len();
    assert_eq!(rows, readings.iter().map(copies).sum::<usize>());
}

/// Times stand in its key twice: in part, and whole where a query need not reach.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Traces", kind = "trace")]
#[key(partition = "{source}_{at:%Y%m}", row = "trace_{host:shard(4)}_{at:%d}_{id}_{at:ticks}_{host}")]
#[index(by_id, row = "id_{id}_{at:ticks}_{host}", copy = keys)]
#[index(by_time, row = "time_{at:ticks}_{at:%H}_{id}_{host}", copy = keys)]
#[index(by_day, row = "day_{at:%Y%m%d}_{id}_{at:ticks}_{host}", copy = keys)]
struct Trace {
    source: String,
    at: Ticks,
    id: u16,
    host: String,
}

/// The keys of a day or a month are not those of a time: what they let in too much is left out by the time itself.
#[test]
fn a_time_that_a_key_holds_in_part_is_found_exactly() {
    let scratch = Scratch::new();
    let table = scratch.tables().table::<Trace>().unwrap();
    let begin = 638_447_616_000_000_000;
    let times = [0, 1, DAY / 24, DAY - 1].map(|after| Ticks::new(begin + after).unwrap());
    let mut traces = Vec::new();
    for (number, at) in times.into_iter().enumerate() {
        for host in ["a", "b", "c"] {
            let trace = Trace { source: "s".to_owned(), at, id: number as u16 % 2, host: host.to_owned() };
            table.insert(&trace).unwrap();
            traces.push(trace);
        }
    }
    for at in times {
        let here = |trace: &&Trace| trace.at == at;
        let of_time = traces.iter().filter(here).count() as u64;
        let found = table.rows().source("s").at(at).host("a").into_iter().map(Result::unwrap);
        assert_eq!(
            found.map(|trace| (trace.at, trace.host.clone())).collect::<Vec<_>>(),
            [(at, "a".to_owned())]
        );
        assert_eq!(table.by_time().source("s").at(at).count().unwrap(), of_time);
        assert_eq!(table.by_day().source("s").at(at).count().unwrap(), of_time);
        for id in [0, 1] {
            let of_id = traces.iter().filter(here).filter(|trace| trace.id == id).count() as u64;
            assert_eq!(table.by_id().source("s").at(at).id(id).count().unwrap(), of_id);
            assert_eq!(table.by_day().source("s").at(at).id(id).count().unwrap(), of_id);
            assert_eq!(table.by_id().source("s").at(at).id(id..).count().unwrap(), {
                traces.iter().filter(here).filter(|trace| trace.id >= id).count() as u64
            });
        }
    }
    for trace in &traces {
        let key = Trace::key("s", trace.at, &trace.host, trace.id);
        assert_eq!(table.get(key).unwrap().unwrap(), *trace);
    }
}

integration_tests::on_other_executors! {
    ranges_of_numbers_find_what_comparing_says
    ranges_of_times_and_ids_find_what_comparing_says
    ranges_and_prefixes_of_text_find_what_comparing_says
    a_value_and_then_a_range_find_what_comparing_says
    keys_give_back_what_they_were_made_of
    a_time_that_a_key_holds_in_part_is_found_exactly
}
