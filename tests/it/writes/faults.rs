//! What goes wrong in a typed write: the kind, the whole message, which operation of a batch, and a store that is as
//! it was.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use integration_tests::Scratch;
use table_core::ErrorKind::{self, *};
use table_core::typed::Egt;
use table_core::{DynamicEntity, ETag, Entity, Error, IfMatch, Store, Table};

use super::seen;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parts", kind = "part")]
#[key(partition = "{depot}", row = "part_{number:03}")]
#[index(by_serial, row = "serial_{serial}", unique)]
#[index(by_maker, row = "maker_{maker}_{number:03}")]
#[index(by_label, row = "label_{labels[]}_{number:03}", copy = keys, as = label)]
struct Part {
    depot: String,
    number: u16,
    serial: String,
    maker: String,
    weight: u64,
    made: SystemTime,
    #[property(json)]
    labels: Vec<String>,
}

/// Up to a mebibyte in each row.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parts", kind = "atlas")]
#[key(partition = "{depot}", row = "atlas_{number:03}")]
#[index(by_scale, row = "scale_{scale:03}_{number:03}")]
#[index(by_year, row = "year_{year:04}_{number:03}")]
#[index(by_shelf, row = "shelf_{shelf:04}_{number:03}")]
#[index(by_colour, row = "colour_{colour:04}_{number:03}")]
struct Atlas {
    depot: String,
    number: u16,
    scale: u16,
    year: u16,
    shelf: u16,
    colour: u16,
    a: Vec<u8>,
    b: Vec<u8>,
    c: Vec<u8>,
    d: Vec<u8>,
    e: Vec<u8>,
    f: Vec<u8>,
    g: Vec<u8>,
    h: Vec<u8>,
    i: Vec<u8>,
    j: Vec<u8>,
    k: Vec<u8>,
    l: Vec<u8>,
    m: Vec<u8>,
    n: Vec<u8>,
    o: Vec<u8>,
    p: Vec<u8>,
}

fn atlas(bytes: usize) -> Atlas {
    let m = || vec![0; bytes];
    let depot = "north".to_owned();
    let (number, scale, year, shelf, colour) = (1, 1, 1, 1, 1);
    let [a, b, c, d, e, f, g, h, i, j, k, l, n, o] = std::array::from_fn(|_| m());
    Atlas {
        depot,
        number,
        scale,
        year,
        shelf,
        colour,
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m: m(),
        n,
        o,
        p: m(),
    }
}

fn part(number: u16, serial: &str) -> Part {
    Part {
        depot: "north".to_owned(),
        number,
        serial: serial.to_owned(),
        maker: "ACME".to_owned(),
        weight: 5,
        made: UNIX_EPOCH,
        labels: vec!["new".to_owned()],
    }
}

fn key(number: u16) -> table_core::Key<Part> {
    Part::key("north", number)
}

/// What a case has to do with.
struct Place<'s> {
    store: &'s Store,
    parts: Table<Part>,
    /// The version that part 1 had before its last change.
    stale: ETag,
}

impl Place<'_> {
    fn egt<'c>(&self) -> Egt<'c, Part> {
        self.parts.egt(Part::partition("north"))
    }
}

type Attempt = fn(&Place<'_>) -> Result<(), Error>;

/// A case: what is attempted, and the error.
struct Case(&'static str, Attempt, ErrorKind, Option<usize>, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case("insert what is there", |at| at.parts.insert(&part(1, "z")).map(drop), EntityAlreadyExists, None,
        "cannot insert into table `Parts`, partition `north`, row `part_001`: the entity exists already"),
    Case("insert what is there and unique", |at| at.parts.insert(&part(1, "b")).map(drop), EntityAlreadyExists, None,
        "cannot insert into table `Parts`, partition `north`, row `part_001`: the entity exists already"),
    Case("insert in a batch", |at| at.egt().insert(&part(3, "c")).insert(&part(1, "z")).commit().map(drop),
        EntityAlreadyExists, Some(1),
        "cannot insert into table `Parts`, partition `north`, row `part_001`, operation 1: the entity \
         exists already"),
    Case("unique insert", |at| at.parts.insert(&part(3, "b")).map(drop), UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique put", |at| at.parts.put(&part(1, "b")).map(drop), UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique replace", |at| at.parts.replace(&part(1, "b"), IfMatch::Any).map(drop), UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique merge", |at| at.parts.merge(key(1), Part::patch().serial("b"), IfMatch::Any).map(drop),
        UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique update", |at| at.parts.update(key(1), |part| part.serial = "b".into()).map(drop),
        UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique move", |at| at.parts.move_to(key(1), |part| { part.number = 7; part.serial = "b".into(); }).map(drop),
        UniqueConflict, None,
        "cannot insert into table `Parts`, partition `north`, row `serial_b`: another entity has this key \
         in the unique index `by_serial`"),
    Case("unique in a batch", |at| at.egt().insert(&part(3, "c")).insert(&part(4, "b")).commit().map(drop),
        UniqueConflict, Some(1),
        "cannot insert into table `Parts`, partition `north`, row `serial_b`, operation 1: another entity \
         has this key in the unique index `by_serial`"),
    Case("unique within a batch", |at| at.egt().insert(&part(3, "c")).insert(&part(4, "c")).commit().map(drop),
        UniqueConflict, Some(1),
        "cannot write to table `Parts`, partition `north`, row `serial_c`, operation 1: operation 0 of the \
         batch wants the same key in the unique index `by_serial`"),
    Case("replace a former version", |at| at.parts.replace(&part(1, "a"), at.stale).map(drop),
        ConditionNotMet, None,
        "cannot replace in table `Parts`, partition `north`, row `part_001`: the entity's ETag is another; \
         read it again"),
    Case("merge into a former version", |at| at.parts.merge(key(1), Part::patch().weight(1), at.stale).map(drop),
        ConditionNotMet, None,
        "cannot merge into table `Parts`, partition `north`, row `part_001`: the entity's ETag is another; \
         read it again"),
    Case("delete a former version", |at| at.parts.delete_if(key(1), at.stale), ConditionNotMet, None,
        "cannot delete from table `Parts`, partition `north`, row `part_001`: the entity's ETag is another; \
         read it again"),
    Case("a former version in a batch",
        |at| at.egt().delete(key(2)).delete_if(key(1), at.stale).commit().map(drop),
        ConditionNotMet, Some(1),
        "cannot delete from table `Parts`, partition `north`, row `part_001`, operation 1: the entity's \
         ETag is another; read it again"),
    Case("replace nothing", |at| at.parts.replace(&part(3, "c"), IfMatch::Any).map(drop), EntityNotFound, None,
        "cannot replace in table `Parts`, partition `north`, row `part_003`: there is no such entity"),
    Case("merge into nothing", |at| at.parts.merge(key(3), Part::patch().weight(1), IfMatch::Any).map(drop),
        EntityNotFound, None,
        "cannot merge into table `Parts`, partition `north`, row `part_003`: there is no such entity"),
    Case("update nothing", |at| at.parts.update(key(3), |_| {}).map(drop), EntityNotFound, None,
        "cannot update in table `Parts`, partition `north`, row `part_003`: there is no such entity"),
    Case("move nothing", |at| at.parts.move_to(key(3), |_| {}).map(drop), EntityNotFound, None,
        "cannot move in table `Parts`, partition `north`, row `part_003`: there is no such entity"),
    Case("delete nothing", |at| at.parts.delete_if(key(3), at.stale), EntityNotFound, None,
        "cannot delete from table `Parts`, partition `north`, row `part_003`: there is no such entity"),
    Case("update nothing in a batch", |at| at.egt().put(&part(3, "c")).update(key(4), |_| {}).commit().map(drop),
        EntityNotFound, Some(1),
        "cannot update in table `Parts`, partition `north`, row `part_004`, operation 1: there is no such \
         entity"),
    Case("over-long row key", |at| at.parts.insert(&part(3, &"x".repeat(600))).map(drop), KeyTooLong, None,
        "cannot insert into table `Parts`, partition `north`, row `part_003`: `serial` takes the key \
         `serial_{serial}` to 607 UTF-16 units; a key may have 512"),
    Case("over-long partition key",
        |at| at.parts.put(&Part { depot: "d".repeat(513), ..part(3, "c") }).map(drop), KeyTooLong, None,
        "cannot put into table `Parts`: `depot` takes the key `{depot}` to 513 UTF-16 units; a key may have \
         512"),
    Case("over-long key to update", |at| at.parts.update(Part::key("d".repeat(513), 1), |_| {}).map(drop),
        KeyTooLong, None,
        "cannot update in table `Parts`: `depot` takes the key `{depot}` to 513 UTF-16 units; a key may \
         have 512"),
    Case("over-long pair of keys",
        |at| at.parts.insert(&Part { depot: "名".repeat(512), ..part(3, &"x".repeat(505)) }).map(drop),
        KeyTooLong, None,
        "cannot insert into table `Parts`, partition `{名}...`, row `serial_{x}...`: the partition key and \
         the row key have 2048 bytes together; the store takes 1977"),
    Case("overflowed padding", |at| at.parts.insert(&part(1_000, "c")).map(drop), ValueOutOfRange, None,
        "cannot insert into table `Parts`: `number` is 1000, and `{number:03}` in the key \
         `part_{number:03}` has 3 digits; give it as many as the largest number will have"),
    Case("overflowed padding in a key", |at| at.parts.delete(key(1_000)), ValueOutOfRange, None,
        "cannot delete from table `Parts`: `number` is 1000, and `{number:03}` in the key \
         `part_{number:03}` has 3 digits; give it as many as the largest number will have"),
    Case("overflowed padding in a batch", |at| at.egt().put(&part(3, "c")).put(&part(1_000, "d")).commit().map(drop),
        ValueOutOfRange, Some(1),
        "cannot put into table `Parts`, operation 1: `number` is 1000, and `{number:03}` in the key \
         `part_{number:03}` has 3 digits; give it as many as the largest number will have"),
    Case("overflowed padding after a move", |at| at.parts.move_to(key(1), |part| part.number = 1_000).map(drop),
        ValueOutOfRange, None,
        "cannot move in table `Parts`, partition `north`, row `part_001`: `number` is 1000, and \
         `{number:03}` in the key `part_{number:03}` has 3 digits; give it as many as the largest number \
         will have"),
    Case("separator in text", |at| at.parts.insert(&Part { maker: "A_B".into(), ..part(3, "c") }).map(drop),
        InvalidKey, None,
        "cannot insert into table `Parts`, partition `north`, row `part_003`: `maker` holds '_', which ends \
         it in the key `maker_{maker}_{number:03}`; choose another separator, or `{maker:escaped}!`, which \
         takes any text"),
    Case("separator in text in a batch",
        |at| at.egt().update(key(2), |_| {}).update(key(1), |part| part.maker = "A_B".into()).commit().map(drop),
        InvalidKey, Some(1),
        "cannot update in table `Parts`, partition `north`, row `part_001`, operation 1: `maker` holds '_', \
         which ends it in the key `maker_{maker}_{number:03}`; choose another separator, or \
         `{maker:escaped}!`, which takes any text"),
    Case("forbidden character", |at| at.parts.merge(key(1), Part::patch().serial("a/b"), IfMatch::Any).map(drop),
        InvalidKey, None,
        "cannot merge into table `Parts`, partition `north`, row `part_001`: `serial` holds '/', and the \
         key `serial_{serial}` may hold neither `/`, `\\`, `#`, `?` nor control characters; \
         `{serial:escaped}` takes any text"),
    Case("control character", |at| at.parts.insert(&part(3, "a\nb")).map(drop), InvalidKey, None,
        "cannot insert into table `Parts`, partition `north`, row `part_003`: `serial` holds '\\n', and the \
         key `serial_{serial}` may hold neither `/`, `\\`, `#`, `?` nor control characters; \
         `{serial:escaped}` takes any text"),
    Case("forbidden character in a partition", |at| at.parts.update(Part::key("no#rth", 1), |_| {}).map(drop),
        InvalidKey, None,
        "cannot update in table `Parts`: `depot` holds '#', and the key `{depot}` may hold neither `/`, \
         `\\`, `#`, `?` nor control characters; `{depot:escaped}` takes any text"),
    Case("forbidden character in a batch's partition",
        |at| at.parts.egt(Part::partition("a?b")).delete(key(1)).commit().map(drop),
        InvalidKey, None,
        "cannot make a key for table `Parts`: `depot` holds '?', and the key `{depot}` may hold neither \
         `/`, `\\`, `#`, `?` nor control characters; `{depot:escaped}` takes any text"),
    Case("101 rows", |at| {
        let parts: Vec<_> = (0..25).map(|n| part(100 + n, &format!("s{n}"))).collect();
        let labels = vec!["x".to_owned(), "y".to_owned()];
        let last = Part { labels, ..part(500, "last") };
        parts.iter().take(24).fold(at.egt(), Egt::insert).insert(&last).commit().map(drop)
    }, BatchLength, None,
        "cannot write to table `Parts`, partition `north`: the change touches 101 rows, the entities' own \
         and their copies; a transaction may touch 100"),
    Case("rows that go and rows that come", |at| {
        let labels: Vec<_> = (0..97).map(|n| format!("other {n}")).collect();
        at.parts.put(&Part { serial: "new".into(), labels, ..part(1, "") }).map(drop)
    }, BatchLength, None,
        "cannot write to table `Parts`, partition `north`: the change touches 102 rows, the entities' own \
         and their copies; a transaction may touch 100"),
    Case("101 operations", |at| {
        let parts: Vec<_> = (100..201).map(|n| Part { labels: vec![], ..part(n, &n.to_string()) }).collect();
        parts.iter().fold(at.egt(), Egt::insert).commit().map(drop)
    }, BatchLength, None,
        "cannot write to table `Parts`, partition `north`: the change touches 303 rows, the entities' own \
         and their copies; a transaction may touch 100"),
    Case("no operation", |at| at.egt().commit().map(drop), BatchLength, None,
        "cannot commit a batch to table `Parts`, partition `north`: the batch has no operation"),
    Case("a list of 101", |at| {
        let labels = (0..101).map(|n| format!("label {n}")).collect();
        at.parts.insert(&Part { labels, ..part(3, "c") }).map(drop)
    }, BatchLength, None,
        "cannot insert into table `Parts`, partition `north`, row `part_003`: `labels` takes the index \
         `label_{labels[]}_{number:03}` to 101 rows; an entity and its copies may be 100"),
    Case("too large with its copies",
        |at| at.store.table::<Atlas>()?.insert(&atlas(60_000)).map(drop), BatchTooLarge, None,
        "cannot write to table `Parts`, partition `north`: the change comes to 6406675 bytes as the body of \
         a request: the entities' own rows to 1281280, their copies for `by_colour` to 1281275, their copies for \
         `by_scale` to 1281273, their copies for `by_shelf` to 1281274, their copies for `by_year` to 1281273; a \
         transaction must stay below 4194304"),
    Case("too large alone", |at| at.store.table::<Atlas>()?.insert(&atlas(65_536)).map(drop),
        EntityTooLarge, None,
        "cannot insert into table `Parts`, partition `north`, row `atlas_001`: the entity has 1048962 \
         bytes; it may have 1048576"),
    Case("value too large", |at| at.store.table::<Atlas>()?.insert(&Atlas { a: vec![0; 65_537], ..atlas(1) }).map(drop),
        PropertyValueTooLarge, None,
        "cannot insert into table `Parts`, partition `north`, row `atlas_001`: property `A` has 65537 \
         bytes; a binary value may have 65536"),
    Case("too large with its copies in a batch", |at| {
        let (one, other) = (atlas(30_000), Atlas { number: 2, ..atlas(30_000) });
        at.store.table::<Atlas>()?.egt(Atlas::partition("north")).put(&one).put(&other).commit().map(drop)
    }, BatchTooLarge, None,
        "cannot write to table `Parts`, partition `north`: the change comes to 6413050 bytes as the body of \
         a request: the entities' own rows to 1282560, their copies for `by_colour` to 1282550, their copies for \
         `by_scale` to 1282546, their copies for `by_shelf` to 1282548, their copies for `by_year` to 1282546; a \
         transaction must stay below 4194304"),
    Case("one entity twice", |at| at.egt().put(&part(3, "c")).put(&part(1, "a")).delete(key(3))
        .commit().map(drop), DuplicateRow, Some(2),
        "cannot write to table `Parts`, partition `north`, row `part_003`, operation 2: another operation of the batch is on \
         the same entity"),
    Case("one entity twice, which is there",
        |at| at.egt().update(key(1), |_| {}).put(&part(3, "c")).merge(key(1), Part::patch(), IfMatch::Any)
        .commit().map(drop), DuplicateRow, Some(2),
        "cannot write to table `Parts`, partition `north`, row `part_001`, operation 2: another operation \
         of the batch is on the same entity"),
    Case("two moves to one key", |at| at.egt().move_to(key(1), |part| part.number = 7)
        .move_to(key(2), |part| part.number = 7).commit().map(drop), DuplicateRow, Some(1),
        "cannot write to table `Parts`, partition `north`, row `part_007`, operation 1: another operation \
         of the batch has the same row key"),
    Case("insert in another partition",
        |at| at.egt().insert(&Part { depot: "south".into(), ..part(3, "c") }).commit().map(drop),
        DifferentPartitions, Some(0),
        "cannot write to table `Parts`, partition `south`, row `part_003`, operation 0: the entity is of \
         partition `south`, the batch of `north`"),
    Case("update in another partition",
        |at| at.egt().insert(&part(3, "c")).update(Part::key("south", 1), |_| {}).commit().map(drop),
        DifferentPartitions, Some(1),
        "cannot commit a batch to table `Parts`, partition `north`, operation 1: the entity is of partition \
         `south`, the batch of `north`"),
    Case("key changed", |at| at.parts.update(key(1), |part| part.number = 7).map(drop), KeyChanged, None,
        "cannot update in table `Parts`, partition `north`, row `part_001`: the change makes it partition \
         `north`, row `part_007`; an update keeps its primary key, and `move_to` can change the row key"),
    Case("key changed in a batch",
        |at| at.egt().update(key(2), |_| {}).update(key(1), |part| part.number = 7).commit().map(drop),
        KeyChanged, Some(1),
        "cannot update in table `Parts`, partition `north`, row `part_001`, operation 1: the change makes \
         it partition `north`, row `part_007`; an update keeps its primary key, and `move_to` can change \
         the row key"),
    Case("partition changed", |at| at.parts.move_to(key(1), |part| part.depot = "south".into()).map(drop),
        KeyChanged, None,
        "cannot move in table `Parts`, partition `north`, row `part_001`: the change makes it partition \
         `south`, row `part_001`; to change the partition, delete the entity and insert it in a `Store::transaction`"),
    Case("move onto another", |at| at.parts.move_to(key(1), |part| part.number = 2).map(drop),
        EntityAlreadyExists, None,
        "cannot insert into table `Parts`, partition `north`, row `part_002`: the entity exists already"),
    Case("move onto another in a batch",
        |at| at.egt().put(&part(3, "c")).move_to(key(1), |part| part.number = 2).commit().map(drop),
        EntityAlreadyExists, Some(1),
        "cannot insert into table `Parts`, partition `north`, row `part_002`, operation 1: the entity \
         exists already"),
    Case("number out of range", |at| at.parts.insert(&Part { weight: u64::MAX, ..part(3, "c") }).map(drop),
        ValueOutOfRange, None,
        "cannot insert into table `Parts`: field `weight`: more than 9223372036854775807, the most that an \
         Edm.Int64 holds"),
    Case("number out of range in a batch",
        |at| at.egt().update(key(2), |_| {}).update(key(1), |part| part.weight = 1 << 63).commit().map(drop),
        ValueOutOfRange, Some(1),
        "cannot update in table `Parts`, partition `north`, row `part_001`, operation 1: field `weight`: \
         more than 9223372036854775807, the most that an Edm.Int64 holds"),
    Case("time out of range", |at| {
        let made = UNIX_EPOCH + Duration::from_secs(300_000_000_000);
        at.parts.merge(key(1), Part::patch().made(made), IfMatch::Any).map(drop)
    }, ValueOutOfRange, None,
        "cannot merge into table `Parts`, partition `north`, row `part_001`: field `made`: a time after the \
         year 9999"),
    Case("time before the service's", |at| {
        let made = UNIX_EPOCH - Duration::from_secs(400 * 366 * 86_400);
        at.parts.merge(key(1), Part::patch().made(made), IfMatch::Any).map(drop)
    }, ValueOutOfRange, None,
        "cannot replace in table `Parts`, partition `north`, row `part_001`: property `Made` is a date and \
         time before 1601-01-01T00:00:00Z"),
    Case("a property of another type", |at| at.parts.update(key(8), |_| {}).map(drop), SchemaMismatch, None,
        "cannot read from table `Parts`, partition `north`, row `part_008`: property `Weight` does not fit \
         the struct `Part`: expected Edm.Int64, found Edm.String"),
    Case("a property that is absent", |at| at.parts.delete(key(9)), SchemaMismatch, None,
        "cannot read from table `Parts`, partition `north`, row `part_009`: property `Serial` does not fit \
         the struct `Part`: expected Edm.String, but there is no such property"),
    Case("a property of another type in a batch",
        |at| at.egt().update(key(1), |_| {}).put(&part(8, "h")).commit().map(drop), SchemaMismatch, Some(1),
        "cannot read from table `Parts`, partition `north`, row `part_008`, operation 1: property `Weight` \
         does not fit the struct `Part`: expected Edm.Int64, found Edm.String"),
];

#[test]
fn a_refused_write_says_why_and_leaves_the_store_as_it_was() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let parts = store.table::<Part>().unwrap();
    let stale = parts.insert(&part(1, "a")).unwrap();
    parts.put(&part(1, "a")).unwrap();
    parts.insert(&part(2, "b")).unwrap();
    let row = |number| DynamicEntity::new("north", format!("part_{number:03}")).with("EntityType", "part");
    let dynamic = parts.dynamic().raw();
    dynamic.insert(&row(8).with("Serial", "h").with("Maker", "ACME").with("Weight", "heavy")).unwrap();
    dynamic.insert(&row(9).with("Maker", "ACME")).unwrap();
    let place = Place { store: &store, parts, stale };
    let before = seen(&store);
    for Case(what, attempt, kind, index, message) in CASES {
        let error = attempt(&place).expect_err(what);
        assert_eq!((error.kind(), error.index()), (*kind, *index), "{what}: {error}");
        // Of a key that is too long the start is shown.
        let shown = error.to_string().replace(&"名".repeat(200), "{名}").replace(&"x".repeat(193), "{x}");
        assert_eq!(shown, *message, "{what}");
        assert_eq!(seen(&store), before, "{what}");
    }
    assert!(store.check().unwrap().problems.is_empty());
}
