//! Random templates, and values that try to confuse them.

use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

use crate::model::{Ticks, Value, ValueRef};
use crate::schema::{
    CharSet, FieldPart, Format, KeyPart, KeyType, KeyValues, Part, PropertyValue, Template, TimePattern,
    ValueError,
};

/// A value for each field of a template.
pub(super) type Row = Vec<Value>;

/// The row as what a key is printed from.
pub(super) struct Values<'a>(pub(super) &'a [Value]);

impl KeyValues for Values<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        Ok(PropertyValue::Borrowed(self.0[part.field].as_value_ref()))
    }
}

/// A template and some rows for it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) template: Template,
    pub(super) rows: Vec<Row>,
}

impl Case {
    pub(super) fn fields(&self) -> Vec<FieldPart> {
        fields(&self.template)
    }
}

fn fields(template: &Template) -> Vec<FieldPart> {
    let field = |part: &Part| match part {
        Part::Literal(_) => None,
        Part::Field(part) => Some(*part),
    };
    template.parts.iter().filter_map(field).collect()
}

/// Returns a template from its parts, which live as long as the test.
pub(super) fn template(parts: Vec<Part>) -> Template {
    Template { source: "{..}", parts: parts.leak() }
}

pub(super) fn field(field: usize, key: KeyType, source: &'static str) -> Part {
    Part::Field(FieldPart::new(field, key, source))
}

/// Returns a part of any format, of such as no text makes too.
pub(super) fn unwritten(field: usize, key: KeyType, format: Format) -> Part {
    Part::Field(FieldPart::printed(field, key, "", format))
}

/// Returns a time in parts.
pub(super) fn time(pattern: &'static str) -> Format {
    Format::Time(TimePattern::parse(pattern).unwrap())
}

const TIMES: [&str; 5] = ["%Y%m%d", "%Y-%m", "%Y%j%H%M%S", "%H%M", "%Y"];

const SLUG: CharSet = CharSet::range('a', 'b').or(CharSet::of("-"));

/// Returns a type and a way to print it, lossy ones too.
fn printed() -> impl Strategy<Value = (KeyType, Format)> {
    let unsigned = (
        select(vec![u8::KEY, u16::KEY, u32::KEY, u64::KEY]),
        prop_oneof![
            Just(Format::Plain),
            (1_u8..=20).prop_map(Format::Pad),
            Just(Format::Inverted),
            (1_u8..=20).prop_map(Format::PadInverted),
        ],
    );
    let signed = (
        select(vec![i8::KEY, i16::KEY, i32::KEY, i64::KEY]),
        prop_oneof![Just(Format::Offset), (1_u8..=20).prop_map(Format::Pad)],
    );
    let text = (
        select(vec![KeyType::Text(CharSet::ALL), KeyType::Text(SLUG)]),
        select(vec![
            Format::Plain,
            Format::Plain,
            Format::Escaped,
            Format::Escaped,
            Format::Lower,
            Format::Shard(16),
        ]),
    );
    let times =
        prop_oneof![Just(Format::Ticks), Just(Format::Inverted), select(TIMES.to_vec()).prop_map(time),];
    let names = select(vec![KeyType::Names(&["new", "old"]), KeyType::Names(&["a", "ab", "b"])]);
    prop_oneof![
        3 => unsigned,
        2 => signed,
        5 => text,
        2 => times.prop_map(|format| (KeyType::Time, format)),
        1 => names.prop_map(|key| (key, Format::Plain)),
        1 => Just((KeyType::Uuid, Format::Plain)),
        1 => Just((KeyType::Bool, Format::Plain)),
        1 => Just((KeyType::Optional(&u32::KEY), Format::Plain)),
    ]
}

fn value(key: KeyType) -> BoxedStrategy<Value> {
    let few = 0_u64..12;
    match key.single() {
        KeyType::Unsigned { max, .. } => {
            let max = max.min(i64::MAX.unsigned_abs());
            let number = prop_oneof![3 => few, 1 => 0..=max, 1 => Just(max)];
            number.prop_map(move |n| whole(n.min(max).try_into().unwrap(), max <= 0xffff)).boxed()
        }
        KeyType::Signed { bits } => {
            let end = i64::MAX >> (64 - bits);
            let number =
                prop_oneof![3 => -4_i64..12, 1 => -end - 1..=end, 1 => Just(-end - 1), 1 => Just(end)];
            number.prop_map(move |n| whole(n, bits <= 32)).boxed()
        }
        KeyType::Text(chars) if chars.is_all() => {
            let c = select(vec![
                'a',
                'a',
                'b',
                'B',
                '_',
                '!',
                '.',
                ' ',
                '~',
                '0',
                'é',
                '\u{e000}',
                '\u{10000}',
                '/',
            ]);
            proptest::collection::vec(c, 0..4)
                .prop_map(|text| Value::String(text.into_iter().collect()))
                .boxed()
        }
        KeyType::Text(_) => "[ab-]{0,3}".prop_map(Value::String).boxed(),
        KeyType::Names(names) => select(names.to_vec()).prop_map(Value::from).boxed(),
        KeyType::Uuid => prop_oneof![few.prop_map(u128::from), any::<u128>()]
            .prop_map(|id| Value::Guid(Uuid::from_u128(id)))
            .boxed(),
        KeyType::Bool => any::<bool>().prop_map(Value::from).boxed(),
        KeyType::Time => {
            let start = "2014-02-27T22:00:00Z".parse::<Ticks>().unwrap().get();
            // Hours, so that days, months and a leap day change within few steps.
            let near = (0_u64..60).prop_map(move |hours| start + hours * 36_000_000_000 + hours % 2);
            prop_oneof![4 => near, 1 => 0..=Ticks::MAX.get()]
                .prop_map(|ticks| Value::DateTime(Ticks::new(ticks).unwrap()))
                .boxed()
        }
        KeyType::Optional(_) | KeyType::Each(_) => unreachable!("`single` leaves neither"),
    }
}

fn whole(number: i64, is_small: bool) -> Value {
    if is_small { Value::Int32(number.try_into().unwrap()) } else { Value::Int64(number) }
}

/// Literal text, which must end a part of varying width.
fn literal(before: Option<(KeyType, Format)>) -> BoxedStrategy<Option<&'static str>> {
    match before {
        Some((KeyType::Text(_), Format::Escaped)) => select(vec![Some("!"), Some("!x_")]).boxed(),
        Some((KeyType::Text(_), Format::Plain | Format::Lower)) => {
            select(vec![Some("_"), Some("!"), Some("_a"), Some("é"), Some("\u{e000}_")]).boxed()
        }
        Some((KeyType::Names(_), _)) => select(vec![Some("_"), Some("~")]).boxed(),
        _ => select(vec![None, None, Some("_"), Some("a"), Some("~")]).boxed(),
    }
}

/// One to four fields and the text between them.
fn templates() -> impl Strategy<Value = Template> {
    proptest::collection::vec(printed(), 1..=4)
        .prop_flat_map(|printed| {
            let mut literals = vec![literal(None)];
            literals.extend(printed.iter().map(|printed| literal(Some(*printed))));
            (Just(printed), literals, any::<bool>())
        })
        .prop_map(|(printed, literals, is_closed)| {
            let count = printed.len();
            let mut literals = literals.into_iter();
            let mut parts: Vec<Part> = literals.next().flatten().map(Part::Literal).into_iter().collect();
            for (at, ((key, format), literal)) in printed.into_iter().zip(literals).enumerate() {
                parts.push(unwritten(at, key, format));
                parts.extend(literal.filter(|_| at + 1 < count || is_closed).map(Part::Literal));
            }
            template(parts)
        })
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    templates().prop_flat_map(|template| {
        let row: Vec<_> = fields(&template).iter().map(|part| value(part.key)).collect();
        proptest::collection::vec(row, 1..24).prop_map(move |rows| Case { template, rows })
    })
}

/// Returns how two values of a part compare.
pub(super) fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a.as_value_ref(), b.as_value_ref()) {
        (ValueRef::String(a), ValueRef::String(b)) => crate::model::key::compare(a, b),
        (ValueRef::DateTime(a), ValueRef::DateTime(b)) => a.cmp(&b),
        (ValueRef::Guid(a), ValueRef::Guid(b)) => a.cmp(&b),
        (ValueRef::Boolean(a), ValueRef::Boolean(b)) => a.cmp(&b),
        (a, b) => a.as_i64().unwrap().cmp(&b.as_i64().unwrap()),
    }
}
