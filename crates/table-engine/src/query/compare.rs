//! Comparisons of a stored value with a constant.
//!
//! Each comparison carries its rule for types that differ. The service's rule was seen on real accounts (issue 2342 of
//! Azurite, 5346 of the Storage Explorer), and 588 cases of another emulator's tests say it of each pair of types.
//! Fingerprints of continuation tokens tell the rules apart, so a token can't go on under another one.

use std::cmp::Ordering;

use crate::model::{ValueRef, key};

/// The rule by which values of two types compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The service's rule, for properties that are known by name alone: each row says their type.
    Named,
    /// The rule for an entity's fields, whose type is declared: a field may have grown since a row was written.
    Declared,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

impl Operator {
    pub(super) const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Ge, Self::Lt, Self::Le];

    /// Returns the word for it in a filter's text.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.word() == word)
    }

    /// Returns the comparison that says the same with its sides swapped.
    pub(super) fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
        }
    }

    /// Returns the comparison that holds where this one does not. It is for keys and texts alone: for a missing property or a
    /// NaN, neither need hold.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
        }
    }

    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
        }
    }
}

/// Returns whether the comparison holds: the rules are in the documentation of [`Filter`](super::Filter).
pub(super) fn holds(stored: ValueRef<'_>, operator: Operator, constant: ValueRef<'_>, rule: Rule) -> bool {
    use ValueRef::{Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String};
    // `None` is a NaN, which differs from everything.
    let order = match (stored, constant) {
        (String(a), String(b)) => match operator {
            Operator::Eq => return a == b,
            Operator::Ne => return a != b,
            _ => Some(key::compare(a, b)),
        },
        (Binary(a), Binary(b)) => Some(a.cmp(b)),
        (Boolean(a), Boolean(b)) => Some(a.cmp(&b)),
        (DateTime(a), DateTime(b)) => Some(a.cmp(&b)),
        (Guid(a), Guid(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Int32(a), Int32(b)) => Some(a.cmp(&b)),
        (Int64(a), Int64(b)) => Some(a.cmp(&b)),
        (Double(a), Double(b)) => a.partial_cmp(&b),
        // The constant widens to the property's type.
        (Int64(a), Int32(b)) => Some(a.cmp(&i64::from(b))),
        (Double(a), Int64(b)) => integer_with_double(b, a).map(Ordering::reverse),
        (Double(a), Int32(b)) => integer_with_double(b.into(), a).map(Ordering::reverse),
        // The property, which only a declaration widens to the constant's type.
        (Int32(a), Int64(b)) if rule == Rule::Declared => Some(i64::from(a).cmp(&b)),
        (Int32(a), Double(b)) if rule == Rule::Declared => integer_with_double(a.into(), b),
        (Int64(a), Double(b)) if rule == Rule::Declared => integer_with_double(a, b),
        _ => return of_other_type(operator, rule),
    };
    order.map_or(operator == Operator::Ne, |order| operator.holds(order))
}

/// Returns whether the comparison holds of a value of another type than the constant's, unless both are numbers and the value's
/// type is narrower.
pub(super) fn of_other_type(operator: Operator, rule: Rule) -> bool {
    match rule {
        Rule::Named => operator.holds(Ordering::Less),
        Rule::Declared => false,
    }
}

/// Compares exactly: a double can't hold every integer, nor an integer every double.
fn integer_with_double(integer: i64, double: f64) -> Option<Ordering> {
    /// 2^63: from here on a double is beyond every `i64`.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    const MANTISSA_BITS: u64 = 52;
    /// The exponent, as it is stored, of a double whose mantissa is its value.
    const UNIT_EXPONENT: u64 = 1_023 + MANTISSA_BITS;

    if double.is_nan() {
        return None;
    }
    if double >= BEYOND {
        return Some(Ordering::Less);
    }
    if double < -BEYOND {
        return Some(Ordering::Greater);
    }
    // The double is mantissa * 2^(exponent - UNIT_EXPONENT), apart from its sign. Below 1 in size, only whether
    // it is zero matters: so subnormal numbers need no care.
    let bits = double.to_bits();
    let mantissa = i128::from(bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS);
    let exponent = bits >> MANTISSA_BITS & 0x7ff;
    let (whole, fraction) = if double == 0.0 {
        (0, false)
    } else if let Some(left) = exponent.checked_sub(UNIT_EXPONENT) {
        (mantissa << left, false)
    } else {
        let right = UNIT_EXPONENT - exponent;
        if right > MANTISSA_BITS {
            (0, true)
        } else {
            (mantissa >> right, mantissa & ((1 << right) - 1) != 0)
        }
    };
    let (whole, with_fraction) =
        if double < 0.0 { (-whole, Ordering::Greater) } else { (whole, Ordering::Less) };
    let order = i128::from(integer).cmp(&whole);
    Some(if fraction { order.then(with_fraction) } else { order })
}

#[cfg(test)]
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rounded doubles are wanted, and whole ones in range convert exactly"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Ticks, Value};
    use uuid::Uuid;

    fn held_by(rule: Rule, stored: impl Into<Value>, constant: impl Into<Value>) -> Vec<&'static str> {
        let (stored, constant) = (stored.into(), constant.into());
        let held =
            |operator: &Operator| holds(stored.as_value_ref(), *operator, constant.as_value_ref(), rule);
        Operator::ALL.into_iter().filter(held).map(Operator::word).collect()
    }

    /// Returns the cases that are the same by both rules.
    fn held(stored: impl Into<Value>, constant: impl Into<Value>) -> Vec<&'static str> {
        let (stored, constant) = (stored.into(), constant.into());
        let held = held_by(Rule::Named, stored.clone(), constant.clone());
        assert_eq!(held, held_by(Rule::Declared, stored, constant));
        held
    }

    const LESS: [&str; 3] = ["ne", "lt", "le"];
    const EQUAL: [&str; 3] = ["eq", "ge", "le"];
    const GREATER: [&str; 3] = ["ne", "gt", "ge"];

    #[test]
    fn each_type_has_its_order() {
        assert_eq!(held("Jones", "Smith"), LESS);
        assert_eq!(held("\u{1f600}", "\u{ffee}"), LESS); // by UTF-16: D83D before FFEE
        assert_eq!(held("a", "A"), GREATER);
        assert_eq!(held("", ""), EQUAL);
        assert_eq!(held(false, true), LESS);
        assert_eq!(held(&[1, 2][..], &[1, 2, 0][..]), LESS);
        assert_eq!(held(Ticks::MAX, Ticks::MIN), GREATER);
        assert_eq!(held(Uuid::from_u128(1), Uuid::from_u128(1 << 120)), LESS);
        assert_eq!(held(5_i64, 5), EQUAL);
        assert_eq!(held(5.0, 5_i64), EQUAL);
        assert_eq!(held(5.5, 5), GREATER);
        assert_eq!(held(0.0, -0.0), EQUAL);
        assert_eq!(held(9_223_372_036_854_775_808.0, i64::MAX), GREATER);
        assert_eq!(held(9_007_199_254_740_992.0, 9_007_199_254_740_993_i64), LESS);
        assert_eq!(held(f64::NEG_INFINITY, i64::MIN), LESS);
        assert_eq!(held(-9_223_372_036_854_775_808.0, i64::MIN), EQUAL);
        assert_eq!(held(f64::MIN_POSITIVE / 2.0, 0), GREATER);
        assert_eq!(held(-0.5, -1), GREATER);
        assert_eq!(held(-0.5, 0), LESS);
    }

    #[test]
    fn a_declaration_widens_what_is_stored() {
        let declared = |stored: Value, constant: Value| held_by(Rule::Declared, stored, constant);
        assert_eq!(declared(5.into(), 5_i64.into()), EQUAL);
        assert_eq!(declared(5.into(), 5.5.into()), LESS);
        assert_eq!(declared(5_i64.into(), 5.0.into()), EQUAL);
        assert_eq!(declared(i64::MAX.into(), 9_223_372_036_854_775_808.0.into()), LESS);
        assert_eq!(declared(9_007_199_254_740_993_i64.into(), 9_007_199_254_740_992.0.into()), GREATER);
        assert_eq!(declared(0.into(), (f64::MIN_POSITIVE / 2.0).into()), LESS);
        assert_eq!(declared(1.into(), f64::NAN.into()), ["ne"]);
    }

    #[test]
    fn nan_differs_from_every_number_and_itself() {
        for (stored, constant) in [
            (Value::from(f64::NAN), Value::from(f64::NAN)),
            (Value::from(f64::NAN), Value::from(1)),
            (Value::from(f64::NAN), Value::from(1_i64)),
            (Value::from(1.0), Value::from(f64::NAN)),
        ] {
            assert_eq!(held(stored, constant), ["ne"]);
        }
    }

    #[test]
    fn what_is_of_another_type_is_less_by_name_and_nothing_by_declaration() {
        let values = [
            Value::from("1"),
            Value::from(&[1][..]),
            Value::from(true),
            Value::from(1),
            Value::from(Ticks::MIN),
            Value::from(Uuid::nil()),
        ];
        let check = |stored: &Value, constant: &Value| {
            assert_eq!(
                held_by(Rule::Named, stored.clone(), constant.clone()),
                LESS,
                "{stored:?} {constant:?}"
            );
            let declared = held_by(Rule::Declared, stored.clone(), constant.clone());
            assert_eq!(declared, [""; 0], "{stored:?} {constant:?}");
        };
        for (i, a) in values.iter().enumerate() {
            for b in values.iter().skip(i + 1) {
                check(a, b);
                check(b, a);
            }
        }
        check(&"1".into(), &1.0.into());
        check(&1.0.into(), &"1".into());
        // Whatever their sizes.
        for (narrow, wide) in
            [(Value::from(9), Value::from(1_i64)), (9_i64.into(), 1.0.into()), (9.into(), f64::NAN.into())]
        {
            assert_eq!(held_by(Rule::Named, narrow, wide), LESS);
        }
    }

    /// Doubles near integers and near the ends of their range.
    fn doubles() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            any::<i64>().prop_map(|i| i as f64),
            (-10_i64..10, -2_i32..3).prop_map(|(i, n)| i as f64 + f64::from(n) * 0.25),
            (any::<i64>(), 0_u32..63).prop_map(|(i, s)| (i >> s) as f64 * 0.5),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn integers_and_doubles_compare_exactly(i: i64, shift in 0_u32..64, d in doubles(), near in -2_i64..3) {
            let whole = d.trunc();
            for i in [i >> shift.min(63), (whole as i64).saturating_add(near)] {
                let expected = if d.is_nan() {
                    None
                } else if d.abs() >= 1e19 {
                    0.0.partial_cmp(&d)
                } else {
                    let order = i128::from(i).cmp(&(whole as i128));
                    Some(order.then(0.0.partial_cmp(&(d - whole)).unwrap()))
                };
                prop_assert_eq!(integer_with_double(i, d), expected, "{} {}", i, d);
            }
        }
    }
}
