//! Every typed query gives exactly what a plain look at all entities gives.

use std::collections::{BTreeMap, BTreeSet};

use integration_tests::executors::{Executor, reverses, snapshot};
use integration_tests::{Scratch, assert_sound, random::Random};
use table_core::{Continuation, Entity, Projection, Tables, Ticks, View, prefix};

/// Reached by keys of every sort.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", kind = "thing")]
#[key(partition = "{region}_{zone:02}", row = "t_{name:escaped}!{number:04}")]
#[index(by_tag, row = "tag_{tag}_{number:04}_{name:escaped}", copy(score))]
#[index(by_day, row = "day_{at:%Y%m%d}_{number:04}_{name:escaped}", copy = keys)]
#[index(by_score, row = "score_{score:offset}_{at:inverted}_{number:04}_{name:escaped}")]
#[index(by_shard, row = "shard_{number:shard(3)}_{at:inverted}_{number:04}_{name:escaped}", copy(tag))]
#[index(by_label, row = "label_{labels[]:escaped}!{number:04}_{name:escaped}", copy = keys, as = label)]
#[index(by_fold, row = "fold_{nick:lower}_{number:04}_{name:escaped}", copy(nick))]
#[index(by_note, row = "note_{number:04}_{name:escaped}!{note:escaped}", copy = keys)]
struct Thing {
    region: String,
    zone: u8,
    name: String,
    number: u16,
    tag: String,
    at: Ticks,
    score: i16,
    #[property(json)]
    labels: Vec<String>,
    nick: String,
    note: Option<String>,
}

/// Reached over a shard of the partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "dev_{device:shard(4)}", row = "{at:inverted}_{device:escaped}!{number:02}")]
struct Reading {
    device: String,
    at: Ticks,
    number: u8,
    value: i32,
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Thing)]
struct Short {
    number: u16,
    score: i16,
    tag: String,
    note: Option<String>,
    #[property(json)]
    labels: Vec<String>,
}

/// What may stand in a key that escapes: separators, what is escaped, prefixes of each other, nothing, astral characters.
const TEXTS: [&str; 10] = ["", "a", "a!", "a_b", "a/b#?", "ab", "\u{1f600}", "\u{e000}", "t_a", "$21"];
/// What may stand between `_` and `_`.
const WORDS: [&str; 7] = ["", "a", "ab", "a b", "b", "\u{1f600}", "\u{e000}"];
const NICKS: [&str; 5] = ["Ab", "aB", "B", "\u{c4}", "\u{e4}"];

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

fn time(random: &mut Random) -> Ticks {
    // A few moments on a few days, some next to each other.
    let day = 630_000_000_000_000_000 + random.below(3) * 864_000_000_000;
    Ticks::new(day + random.below(3) * 430_000_000_000 + random.below(2)).unwrap()
}

fn thing(random: &mut Random) -> Thing {
    Thing {
        region: pick(random, &["", "a", "\u{1f600}", "\u{e000}"]).to_owned(),
        zone: random.below(2) as u8,
        name: pick(random, &TEXTS).to_owned(),
        number: random.below(4) as u16 * 3,
        tag: pick(random, &WORDS).to_owned(),
        at: time(random),
        score: pick(random, &[-300, -1, 0, 1, 300]),
        labels: (0..random.below(3)).map(|_| pick(random, &TEXTS).to_owned()).collect(),
        nick: pick(random, &NICKS).to_owned(),
        note: (random.below(2) == 0).then(|| pick(random, &TEXTS).to_owned()),
    }
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// A query of things is asked in every way, and what it gives compared: `$from` is where it is asked of.
macro_rules! agree {
    ($store:ident, $table:ident, $random:ident, |$from:ident| $query:expr, $expected:expr) => {{
        let all: Vec<Thing> = $expected;
        let id = |e: &Thing| (e.region.clone(), e.zone, e.name.clone(), e.number);
        let all: Vec<_> = all.iter().map(id).collect();
        macro_rules! ids {
            ($found:expr) => {
                $found
                    .into_iter()
                    .map(|e| e.map(|e| (e.region.clone(), e.zone, e.name.clone(), e.number)).unwrap())
                    .collect::<Vec<_>>()
            };
        }
        let backwards: Vec<_> = all.iter().rev().cloned().collect();
        let top = $random.below(4) as usize;
        let first: Vec<_> = all.iter().take(top).cloned().collect();
        let last: Vec<_> = backwards.iter().take(top).cloned().collect();
        let (snapshot, has_reverse) = (snapshot(&$store), Executor::of_test().abilities().reverse);
        {
            let $from = &$table;
            let text = stringify!($query);
            assert_eq!(ids!($query), all, "{text}: {}", $query.explain().unwrap());
            if has_reverse {
                assert_eq!(ids!($query.rev()), backwards, "{text}");
                assert_eq!(ids!($query.rev().top(top)), last, "{text}");
                assert_eq!(ids!($query.rev().top(top).entities()), last, "{text}");
            }
            assert_eq!(ids!($query.top(top)), first, "{text}");
            assert_eq!($query.count().unwrap(), all.len() as u64, "{text}");
            assert_eq!(ids!($query.entities()), all, "{text}");
            for size in [1, 2, 1_000] {
                let (mut paged, mut turned, mut token) = (Vec::new(), Vec::new(), None::<Continuation>);
                loop {
                    let page = $query.page(size, token.as_ref()).unwrap();
                    assert!(page.entities.len() == size || page.next.is_none());
                    paged.extend(ids!(page.entities.into_iter().map(Ok::<_, table_core::Error>)));
                    let Some(next) = page.next else { break };
                    token = Some(next.to_string().parse().unwrap());
                }
                assert_eq!(paged, all, "{text}");
                token = None;
                while has_reverse {
                    let page = $query.rev().entities().page(size, token.as_ref()).unwrap();
                    turned.extend(ids!(page.entities.into_iter().map(Ok::<_, table_core::Error>)));
                    token = page.next;
                    if token.is_none() {
                        break;
                    }
                }
                assert!(turned == backwards || !has_reverse, "{text}: {turned:?}");
            }
            let limited = $query.top(3).page(2, None).unwrap();
            let rest = limited.next.map(|next| $query.top(3).page(2, Some(&next)).unwrap().entities.len());
            assert_eq!(limited.entities.len() + rest.unwrap_or(0), all.len().min(3), "{text}");
        }
        if let Some(snapshot) = snapshot {
            let $from = &$table.at(&snapshot);
            assert_eq!(ids!($query), all);
            assert_eq!(ids!($query.rev().entities()), backwards);
        }
    }};
}

type Model = BTreeMap<(String, u8, String, u16), Thing>;

/// The things that pass, in the order of these keys.
fn sorted(
    model: &Model,
    passes: impl Fn(&Thing) -> bool,
    key: impl Fn(&Thing) -> Vec<Vec<u16>>,
) -> Vec<Thing> {
    let mut found: Vec<_> = model.values().filter(|thing| passes(thing)).cloned().collect();
    found.sort_by_key(|thing| (units(&format!("{}_{:02}", thing.region, thing.zone)), key(thing)));
    found
}

/// A text and a number that is written down with its sign.
fn number(number: i64) -> Vec<u16> {
    units(&format!("{:020}", i128::from(number) + (1 << 63)))
}

fn own(thing: &Thing) -> Vec<Vec<u16>> {
    vec![units(&thing.name), number(thing.number.into())]
}

fn and_own(first: Vec<Vec<u16>>, thing: &Thing) -> Vec<Vec<u16>> {
    [first, vec![number(thing.number.into()), units(&thing.name)]].concat()
}

/// The day that a time is of.
fn day(time: Ticks) -> u64 {
    time.get() / 864_000_000_000
}

fn things(store: &Tables, random: &mut Random, model: &Model) {
    let table = store.table::<Thing>().unwrap();
    let probe = thing(random);
    let (region, zone) = (probe.region.as_str(), probe.zone);
    let here = |thing: &Thing| thing.region == region && thing.zone == zone;
    let (name, other) = (probe.name.as_str(), pick(random, &TEXTS));
    let (low, high) = if units(name) <= units(other) { (name, other) } else { (other, name) };
    let between = |text: &str| (units(low)..=units(high)).contains(&units(text));

    agree!(store, table, random, |t| t.rows().region(region).zone(zone), sorted(model, here, own));
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(name), {
        sorted(model, |x| here(x) && x.name == name, own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(low..=high), {
        sorted(model, |x| here(x) && between(&x.name), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(low..high), {
        sorted(model, |x| here(x) && between(&x.name) && x.name != high, own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(low..), {
        sorted(model, |x| here(x) && units(&x.name) >= units(low), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(..high), {
        sorted(model, |x| here(x) && units(&x.name) < units(high), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(..=high), {
        sorted(model, |x| here(x) && units(&x.name) <= units(high), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(prefix(name)), {
        sorted(model, |x| here(x) && x.name.starts_with(name), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(name).number(1..=6), {
        sorted(model, |x| here(x) && x.name == name && (1..=6).contains(&x.number), own)
    });
    agree!(store, table, random, |t| t.rows().region(region).zone(zone).name(name).number(probe.number), {
        sorted(model, |x| here(x) && x.name == name && x.number == probe.number, own)
    });
    agree!(store, table, random, |t| t.rows().across_partitions(), sorted(model, |_| true, own));
    agree!(store, table, random, |t| t.rows().region(region).across_partitions(), {
        sorted(model, |x| x.region == region, own)
    });
    let score = probe.score;
    agree!(
        store,
        table,
        random,
        |t| t.rows().region(region).zone(zone).filter(|e| e.score.ge(score) | e.name.eq(other)),
        sorted(model, |x| here(x) && (x.score >= score || x.name == other), own)
    );
    agree!(
        store,
        table,
        random,
        |t| t.rows().across_partitions().filter(|e| e.number.lt(6_u16) & !e.zone.eq(1_u8)),
        sorted(model, |x| x.number < 6 && x.zone != 1, own)
    );
    inner(store, random, model, &probe);
    lossy(store, random, model, &probe);
    projections(store, model, &probe);
}

/// Indexes whose first part is verbatim text, or a signed number before a time that counts backwards.
fn inner(store: &Tables, random: &mut Random, model: &Model, probe: &Thing) {
    let table = store.table::<Thing>().unwrap();
    let (region, zone, tag) = (probe.region.as_str(), probe.zone, probe.tag.as_str());
    let here = |thing: &Thing| thing.region == region && thing.zone == zone;
    // Verbatim text sorts with the separator behind it.
    let by_tag = |x: &Thing| vec![units(&format!("{}_{:04}_{}", x.tag, x.number, "")), units(&x.name)];
    agree!(store, table, random, |t| t.by_tag().region(region).zone(zone), sorted(model, here, by_tag));
    agree!(store, table, random, |t| t.by_tag().region(region).zone(zone).tag(tag), {
        sorted(model, |x| here(x) && x.tag == tag, by_tag)
    });
    agree!(store, table, random, |t| t.by_tag().region(region).zone(zone).tag(prefix(tag)), {
        sorted(model, |x| here(x) && x.tag.starts_with(tag), by_tag)
    });
    agree!(store, table, random, |t| t.by_tag().region(region).zone(zone).tag(tag).number(..6), {
        sorted(model, |x| here(x) && x.tag == tag && x.number < 6, by_tag)
    });
    agree!(store, table, random, |t| t.by_tag().across_partitions().filter(|e| e.tag.eq(tag)), {
        sorted(model, |x| x.tag == tag, by_tag)
    });

    let backwards = |at: Ticks| number(i64::MAX - at.get() as i64);
    let by_score = |x: &Thing| and_own(vec![number(x.score.into()), backwards(x.at)], x);
    let (score, at) = (probe.score, probe.at);
    agree!(store, table, random, |t| t.by_score().region(region).zone(zone).score(-1..=1), {
        sorted(model, |x| here(x) && (-1..=1).contains(&x.score), by_score)
    });
    agree!(store, table, random, |t| t.by_score().region(region).zone(zone).score(score).at(at..), {
        sorted(model, |x| here(x) && x.score == score && x.at >= at, by_score)
    });
    agree!(store, table, random, |t| t.by_score().region(region).zone(zone).score(score).at(..at), {
        sorted(model, |x| here(x) && x.score == score && x.at < at, by_score)
    });
    let latest = table.by_score().region(region).zone(zone).score(score).latest(2);
    let latest: Vec<_> = latest.into_iter().map(|e| e.unwrap().into_inner_at()).collect();
    let expected = sorted(model, |x| here(x) && x.score == score, by_score);
    assert_eq!(latest, expected.iter().take(2).map(|x| x.at).collect::<Vec<_>>());
}

trait InnerAt {
    fn into_inner_at(self) -> Ticks;
}

impl InnerAt for table_core::Copied<Thing> {
    fn into_inner_at(self) -> Ticks {
        Self::into_inner(self).at
    }
}

/// Indexes whose parts say less than the field, or one of several elements, or of an `Option`.
fn lossy(store: &Tables, random: &mut Random, model: &Model, probe: &Thing) {
    let table = store.table::<Thing>().unwrap();
    let (region, zone) = (probe.region.as_str(), probe.zone);
    let here = |thing: &Thing| thing.region == region && thing.zone == zone;
    let by_day = |x: &Thing| and_own(vec![number(day(x.at) as i64)], x);
    let (at, until) = (probe.at, time(random));
    let (from, to) = (at.min(until), at.max(until));
    agree!(store, table, random, |t| t.by_day().region(region).zone(zone).at(at), {
        sorted(model, |x| here(x) && x.at == at, by_day)
    });
    agree!(store, table, random, |t| t.by_day().region(region).zone(zone).at(from..to), {
        sorted(model, |x| here(x) && (from..to).contains(&x.at), by_day)
    });
    agree!(store, table, random, |t| t.by_day().region(region).zone(zone).at(from..=to), {
        sorted(model, |x| here(x) && (from..=to).contains(&x.at), by_day)
    });
    agree!(store, table, random, |t| t.by_day().region(region).zone(zone).at(at).number(3..), {
        sorted(model, |x| here(x) && x.at == at && x.number >= 3, by_day)
    });

    let backwards = |at: Ticks| number(i64::MAX - at.get() as i64);
    let merged = |x: &Thing| and_own(vec![backwards(x.at)], x);
    let wanted = probe.number;
    agree!(store, table, random, |t| t.by_shard().region(region).zone(zone).all_shards(), {
        sorted(model, here, merged)
    });
    agree!(store, table, random, |t| t.by_shard().region(region).zone(zone).all_shards().at(from..=to), {
        sorted(model, |x| here(x) && (from..=to).contains(&x.at), merged)
    });
    agree!(
        store,
        table,
        random,
        |t| t.by_shard().region(region).zone(zone).all_shards().at(at).number(wanted),
        { sorted(model, |x| here(x) && x.at == at && x.number == wanted, merged) }
    );
    agree!(store, table, random, |t| t.by_shard().region(region).zone(zone).number(wanted), {
        sorted(model, |x| here(x) && x.number == wanted, merged)
    });
    agree!(store, table, random, |t| t.by_shard().region(region).zone(zone).number(wanted).at(..at), {
        sorted(model, |x| here(x) && x.number == wanted && x.at < at, merged)
    });
    let mut shards = Vec::new();
    for shard in 0..3 {
        let found = table.by_shard().region(region).zone(zone).shard(shard).into_iter();
        shards.extend(found.map(|row| row.map(|row| (row.number, row.name)).unwrap()));
    }
    shards.sort();
    let mut all: Vec<_> = model.values().filter(|x| here(x)).map(|x| (x.number, x.name.clone())).collect();
    all.sort();
    assert_eq!(shards, all);

    let label = pick(random, &TEXTS);
    agree!(store, table, random, |t| t.by_label().region(region).zone(zone).label(label), {
        sorted(model, |x| here(x) && x.labels.iter().any(|l| l == label), |x| and_own(Vec::new(), x))
    });
    let by_label: usize =
        model.values().filter(|x| here(x)).map(|x| x.labels.iter().collect::<BTreeSet<_>>().len()).sum();
    assert_eq!(table.by_label().region(region).zone(zone).count().unwrap(), by_label as u64);

    let nick = probe.nick.as_str();
    agree!(store, table, random, |t| t.by_fold().region(region).zone(zone).nick(nick), {
        sorted(model, |x| here(x) && x.nick.to_lowercase() == nick.to_lowercase(), |x| and_own(Vec::new(), x))
    });
    agree!(store, table, random, |t| t.by_note().region(region).zone(zone).number(wanted), {
        sorted(model, |x| here(x) && x.note.is_some() && x.number == wanted, |x| vec![units(&x.name)])
    });
}

/// Some of the fields, and entities in place.
fn projections(store: &Tables, model: &Model, probe: &Thing) {
    let table = store.table::<Thing>().unwrap();
    let (region, zone) = (probe.region.as_str(), probe.zone);
    let here = |thing: &Thing| thing.region == region && thing.zone == zone;
    let short = |x: &Thing| Short {
        number: x.number,
        score: x.score,
        tag: x.tag.clone(),
        note: x.note.clone(),
        labels: x.labels.clone(),
    };
    let expected: Vec<_> = sorted(model, here, own).iter().map(short).collect();
    let found = table.rows().region(region).zone(zone).select::<Short>();
    assert_eq!(found.into_iter().map(|short| short.unwrap()).collect::<Vec<_>>(), expected);
    for x in model.values().filter(|x| here(x)) {
        let key = || Thing::key(region, zone, x.name.as_str(), x.number);
        assert_eq!(table.get_as::<Short>(key()).unwrap().unwrap(), short(x));
        let in_copy = Thing::by_score(region, zone, x.score, x.at, x.number, x.name.as_str());
        assert_eq!(table.get_as::<Short>(in_copy).unwrap().unwrap(), short(x));
    }
    let Some(snapshot) = snapshot(store) else { return };
    let then = table.at(&snapshot);
    let views = then.rows().region(region).zone(zone).filter(|e| e.score.ge(0)).rev().views();
    let views: Vec<_> = views.map(|view| seen(&view.unwrap())).collect();
    let mut expected = sorted(model, |x| here(x) && x.score >= 0, own);
    expected.reverse();
    assert_eq!(views, expected);
    let key = Thing::key(region, zone, probe.name.as_str(), probe.number);
    let viewed = then.view(key).unwrap().map(|view| seen(&view));
    let key = (probe.region.clone(), zone, probe.name.clone(), probe.number);
    assert_eq!(viewed.as_ref(), model.get(&key));
}

/// The thing field by field.
fn seen(view: &View<'_, Thing>) -> Thing {
    let whole = View::to_entity(view).unwrap();
    assert_eq!(table_core::Stored::etag(&whole), View::etag(view));
    let thing = Thing {
        // In no order in particular.
        note: view.note().unwrap().map(str::to_owned),
        tag: view.tag().unwrap().to_owned(),
        nick: view.nick().unwrap().to_owned(),
        region: view.region().unwrap().into_owned(),
        zone: view.zone().unwrap(),
        name: view.name().unwrap().into_owned(),
        number: view.number().unwrap(),
        at: view.at().unwrap(),
        score: view.score().unwrap(),
        labels: view.labels().unwrap(),
    };
    assert_eq!(whole, thing);
    thing
}

#[test]
fn a_query_gives_what_a_plain_look_gives() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (seed, rounds) = (number("TABLE_CORE_SEED").unwrap_or(3), number("TABLE_CORE_READS").unwrap_or(3));
    println!("seed {seed}, {rounds} rounds");
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Thing>().unwrap();
    let (mut random, mut model) = (Random::new(seed), Model::new());
    for _ in 0..rounds {
        for _ in 0..20 {
            let new = thing(&mut random);
            table.put(&new).unwrap();
            model.insert((new.region.clone(), new.zone, new.name.clone(), new.number), new);
        }
        for _ in 0..3 {
            things(&store, &mut random, &model);
        }
    }
    assert_sound(&store);
}

#[test]
fn shards_of_the_partition_are_merged() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Reading>().unwrap();
    let (mut random, mut model) = (Random::new(5), BTreeMap::new());
    for value in 0..120 {
        let device = format!("{}{}", pick(&mut random, &TEXTS), random.below(3));
        let reading = Reading { device, at: time(&mut random), number: random.below(3) as u8, value };
        table.put(&reading).unwrap();
        let rest = (std::cmp::Reverse(reading.at), units(&reading.device), reading.number);
        model.insert(rest, reading);
    }
    let values = |found: Vec<Reading>| found.iter().map(|reading| reading.value).collect::<Vec<_>>();
    macro_rules! found {
        ($query:expr) => {
            values($query.into_iter().map(|e| table_core::Stored::into_inner(e.unwrap())).collect())
        };
    }
    let expected = |passes: &dyn Fn(&Reading) -> bool| {
        values(model.values().filter(|reading| passes(reading)).cloned().collect())
    };
    let all = expected(&|_| true);
    assert_eq!(found!(table.rows().all_shards()), all);
    assert_eq!(found!(table.rows().all_shards().latest(7)), all[..7]);
    let mut backwards = all.clone();
    backwards.reverse();
    let has_reverse = reverses(|| table.rows().all_shards().rev().first());
    if has_reverse {
        assert_eq!(found!(table.rows().all_shards().rev()), backwards);
    }
    if let Some(snapshot) = snapshot(&store) {
        let then = table.at(&snapshot);
        let views = then.rows().all_shards().views();
        assert_eq!(views.map(|view| view.unwrap().value().unwrap()).collect::<Vec<_>>(), all);
    }
    for (reverse, size) in [(false, 1), (false, 7), (true, 1), (true, 7)] {
        if reverse && !has_reverse {
            continue;
        }
        let (mut paged, mut token) = (Vec::new(), None);
        loop {
            let query = table.rows().all_shards();
            let query = if reverse { query.rev() } else { query };
            let page = query.page(size, token.as_ref()).unwrap();
            paged.extend(page.entities.iter().map(|reading| reading.value));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(paged, if reverse { backwards.clone() } else { all.clone() });
    }
    for reading in model.values() {
        let device = reading.device.as_str();
        let of_device = expected(&|r| r.device == device);
        assert_eq!(found!(table.rows().device(device)), of_device);
        let since = expected(&|r| r.device == device && r.at >= reading.at);
        assert_eq!(found!(table.rows().device(device).at(reading.at..)), since);
        let one = expected(&|r| r.device == device && r.at == reading.at);
        assert_eq!(found!(table.rows().all_shards().at(reading.at).device(device)), one);
        assert_eq!(table.rows().device(device).at(reading.at).number(reading.number).count().unwrap(), 1);
    }
}

integration_tests::on_other_executors! {
    a_query_gives_what_a_plain_look_gives
    shards_of_the_partition_are_merged
}
