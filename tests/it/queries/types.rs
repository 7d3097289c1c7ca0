//! Filters whose constant has another type than what is stored.

use integration_tests::Scratch;
use table_core::query::QueryClass;
use table_core::{
    DynamicEntity, DynamicTable, Entity, Filter, Query, Result, Tables, Ticks, Uuid, Value, prop,
};

use super::rows;

/// The types, in the order of the tables below.
const TYPES: [&str; 8] = ["String", "Binary", "Boolean", "Int32", "Int64", "Double", "DateTime", "Guid"];

/// What holds where the stored value is less, where it equals, and where it is greater.
const OUTCOMES: [(char, [(&str, bool); 6]); 3] = [
    ('<', [("eq", false), ("ne", true), ("lt", true), ("le", true), ("gt", false), ("ge", false)]),
    ('=', [("eq", true), ("ne", false), ("lt", false), ("le", true), ("gt", false), ("ge", true)]),
    ('>', [("eq", false), ("ne", true), ("lt", false), ("le", false), ("gt", true), ("ge", true)]),
];

/// A line for each type that is stored, a column for each type of the constant: how the one compares with the other
/// where the constant is the smaller in value.
const SMALLER: [&str; 8] = [
    "> < < < < < < <", // String
    "< > < < < < < <", // Binary
    "< < > < < < < <", // Boolean
    "< < < > < < < <", // Int32
    "< < < > > < < <", // Int64
    "< < < > > > < <", // Double
    "< < < < < < > <", // DateTime
    "< < < < < < < >", // Guid
];

/// Where it is as large.
const EQUAL: [&str; 8] = [
    "= < < < < < < <", // String
    "< = < < < < < <", // Binary
    "< < = < < < < <", // Boolean
    "< < < = < < < <", // Int32
    "< < < = = < < <", // Int64
    "< < < = = = < <", // Double
    "< < < < < < = <", // DateTime
    "< < < < < < < =", // Guid
];

/// Where it is the greater.
const GREATER: [&str; 8] = [
    "< < < < < < < <", // String
    "< < < < < < < <", // Binary
    "< < < < < < < <", // Boolean
    "< < < < < < < <", // Int32
    "< < < < < < < <", // Int64
    "< < < < < < < <", // Double
    "< < < < < < < <", // DateTime
    "< < < < < < < <", // Guid
];

/// A value of each type, and as the text of a filter.
fn constants(number: i32) -> [(Value, String); 8] {
    let time = Ticks::new(Ticks::UNIX_EPOCH.get() + u64::try_from(number).unwrap()).unwrap();
    let guid = Uuid::from_u128(u128::try_from(number).unwrap());
    [
        (number.to_string().into(), format!("'{number}'")),
        (vec![u8::try_from(number).unwrap()].into(), format!("X'{number:02x}'")),
        ((number > 4).into(), (number > 4).to_string()),
        (number.into(), number.to_string()),
        (i64::from(number).into(), format!("{number}L")),
        (f64::from(number).into(), format!("{number}.0")),
        (time.into(), format!("datetime'{time}'")),
        (guid.into(), format!("guid'{guid}'")),
    ]
}

fn built(operator: &str, constant: Value) -> Filter {
    let property = prop("V");
    match operator {
        "eq" => property.eq(constant),
        "ne" => property.ne(constant),
        "lt" => property.lt(constant),
        "le" => property.le(constant),
        "gt" => property.gt(constant),
        _ => property.ge(constant),
    }
}

/// A row for each value, under the name of its type, and one without the property.
fn stored(store: &Tables, values: &[(Value, String); 8]) -> DynamicTable {
    let table = store.create_table_if_missing("Types").unwrap();
    for ((value, _), name) in values.iter().zip(TYPES) {
        table.put(&DynamicEntity::new("p", name).with("V", value.clone())).unwrap();
    }
    table.put(&DynamicEntity::new("p", "none").with("W", 5)).unwrap();
    table
}

/// Compares each outcome with the table: every type that is stored, every type of the constant, every operator.
fn agree(
    expected: &[&str; 8],
    constants: &[(Value, String); 8],
    store: &Tables,
    table: &DynamicTable,
) -> usize {
    let mut compared = 0;
    for (column, (constant, text)) in constants.iter().enumerate() {
        for at in 0..6 {
            let operator = OUTCOMES[0].1[at].0;
            let holds = |line: &&str| {
                let outcome = line.chars().nth(2 * column);
                let (_, held) = OUTCOMES.iter().find(|(sign, _)| Some(*sign) == outcome).unwrap();
                assert_eq!(held[at].0, operator);
                held[at].1
            };
            let of_types = expected.iter().zip(TYPES).filter(|(line, _)| holds(line));
            let mut expected: Vec<_> = of_types.map(|(_, name)| name.to_owned()).collect();
            expected.sort();
            let swapped = match operator {
                "lt" => "gt",
                "le" => "ge",
                "gt" => "lt",
                "ge" => "le",
                same => same,
            };
            let read = Filter::parse(&format!("V {operator} {text}")).unwrap();
            let first = Filter::parse(&format!("{text} {swapped} V")).unwrap();
            for filter in [built(operator, constant.clone()), read, first] {
                let query = Query::new().filter(filter.clone());
                assert_eq!(rows(table, store, &query), expected, "{filter}");
                // The others, and the row without the property.
                let others = rows(table, store, &Query::new().filter(!filter.clone()));
                assert_eq!(others.len() + expected.len(), TYPES.len() + 1, "not {filter}");
                assert!(
                    others.contains(&"none".to_owned()) && !others.iter().any(|row| expected.contains(row))
                );
            }
            compared += TYPES.len();
        }
    }
    compared
}

#[test]
fn each_pair_of_types_compares_as_the_table_says() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let values = constants(5);
    let table = stored(&store, &values);
    // Of the two truth values, the greater is stored: none is greater.
    let mut greater = constants(6);
    greater[2] = (true.into(), "true".into());
    let mut beyond = GREATER;
    beyond[2] = "< < = < < < < <";
    for (expected, constants) in [(SMALLER, constants(4)), (EQUAL, values), (beyond, greater)] {
        assert_eq!(agree(&expected, &constants, &store, &table), 64 * 6);
    }
}

#[test]
fn keys_are_less_than_what_is_no_text() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = stored(&store, &constants(5));
    let all = table.query(&Query::new()).unwrap().count();
    let found = |text: &str| {
        let query = Query::new().filter(Filter::parse(text).unwrap());
        (rows(&table, &store, &query).len(), table.explain(&query).unwrap().class())
    };
    for constant in ["5", "5L", "-1.5", "NaN", "true", "X''", "guid'00000000-0000-0000-0000-000000000000'"] {
        for key in ["PartitionKey", "RowKey", "Timestamp"] {
            for operator in ["ne", "lt", "le"] {
                let text = format!("{key} {operator} {constant}");
                assert_eq!(found(&text), (all, QueryClass::TableScan), "{text}");
                assert_eq!(found(&format!("not ({text})")).0, 0, "{text}");
                assert_eq!(found(&format!("PartitionKey eq 'p' and {text}")).0, all, "{text}");
            }
            for operator in ["eq", "gt", "ge"] {
                let text = format!("{key} {operator} {constant}");
                assert_eq!(found(&text).0, 0, "{text}");
                assert_eq!(found(&format!("not ({text})")), (all, QueryClass::TableScan), "{text}");
            }
        }
    }
    // Nothing is read for what no key satisfies, and no test is left of what all do.
    assert_eq!(found("RowKey ge 5").1, QueryClass::Nothing);
    assert_eq!(found("PartitionKey eq 'p' and RowKey eq 'none' and RowKey lt 5"), (1, QueryClass::Point));
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Grown", kind = "grown")]
#[key(partition = "p", row = "{number:03}")]
struct Grown {
    number: u16,
    count: i64,
    share: Option<f64>,
}

#[test]
fn a_typed_filter_finds_what_was_written_before_its_field_grew() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Grown>().unwrap();
    for (number, count) in [(1, 4), (2, 5), (3, 6)] {
        table.put(&Grown { number, count, share: None }).unwrap();
    }
    // As a program wrote them to which `count` was an Int32.
    let dynamic = table.dynamic().raw();
    for (row, count) in [("011", 4), ("012", 5), ("013", 6)] {
        let old = DynamicEntity::new("p", row).with("EntityType", "grown").with("Count", count);
        dynamic.insert(&old).unwrap();
    }
    macro_rules! found {
        ($filter:expr) => {
            table.rows().filter($filter).into_iter().map(|row| row.unwrap().number).collect::<Vec<u16>>()
        };
    }
    assert_eq!(found!(|e| e.count.eq(5)), [2, 12]);
    assert_eq!(found!(|e| e.count.ne(5)), [1, 3, 11, 13]);
    assert_eq!(found!(|e| e.count.gt(4)), [2, 3, 12, 13]);
    assert_eq!(found!(|e| e.count.lt(6)), [1, 2, 11, 12]);
    assert_eq!(found!(|e| e.share.ne(0.5) | e.share.lt(9.0)), [0; 0]);
    // By name, within a typed query too, the service's rule holds: an Int32 is less than every Int64.
    assert_eq!(found!(|_| prop("Count").eq(5_i64)), [2]);
    assert_eq!(found!(|_| prop("Count").gt(4_i64)), [2, 3]);
    assert_eq!(found!(|_| prop("Count").lt(6_i64)), [1, 2, 11, 12, 13]);
    assert_eq!(found!(|_| prop("Count").eq(5)), [2, 12]);
    // So does it in the text that a typed filter prints.
    let text = table.rows().filter(|e| e.count.gt(4)).explain().unwrap().filter().unwrap().to_owned();
    assert_eq!(text, "EntityType eq 'grown' and Count gt 4L");
    let query = Query::new().filter(Filter::parse(&text).unwrap());
    let read: Vec<_> = dynamic.query(&query).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.iter().map(DynamicEntity::row_key).collect::<Vec<_>>(), ["002", "003"]);
    // A typed filter leaves out what is of no type that the field could have had.
    macro_rules! count {
        ($filter:expr) => {
            table.rows().filter($filter).count().unwrap()
        };
    }
    dynamic.insert(&DynamicEntity::new("p", "021").with("EntityType", "grown").with("Count", "5")).unwrap();
    assert_eq!(count!(|e| e.count.ne(5)), 4);
    assert_eq!(count!(|e| e.count.lt(6)), 4);
    assert_eq!(count!(|_| prop("Count").ne(5_i64)), 6);
}

integration_tests::on_other_executors! {
    each_pair_of_types_compares_as_the_table_says
    keys_are_less_than_what_is_no_text
    a_typed_filter_finds_what_was_written_before_its_field_grew
}
