//! How a stored value compares with a constant.

use std::cmp::Ordering;

use crate::model::{ValueRef, key};

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

    /// As a filter's text writes it.
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

    /// The comparison that says the same with its sides swapped.
    pub(super) fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
        }
    }

    /// The comparison that holds where this one does not. For keys alone: of a missing or mistyped property
    /// neither holds.
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

    fn holds(self, order: Ordering) -> bool {
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

/// Whether the comparison holds: the rules are in the documentation of [`Filter`](super::Filter).
pub(super) fn holds(stored: ValueRef<'_>, operator: Operator, constant: ValueRef<'_>) -> bool {
    use ValueRef::{Binary, Boolean, DateTime, Double, Guid, String};
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
        (Double(a), Double(b)) => a.partial_cmp(&b),
        (Double(a), b) => match b.as_i64() {
            Some(b) => integer_with_double(b, a).map(Ordering::reverse),
            None => return false,
        },
        (a, Double(b)) => match a.as_i64() {
            Some(a) => integer_with_double(a, b),
            None => return false,
        },
        (a, b) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => return false,
        },
    };
    order.map_or(operator == Operator::Ne, |order| operator.holds(order))
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

    fn held(stored: impl Into<Value>, constant: impl Into<Value>) -> Vec<&'static str> {
        let (stored, constant) = (stored.into(), constant.into());
        let held = |operator: &Operator| holds(stored.as_value_ref(), *operator, constant.as_value_ref());
        Operator::ALL.into_iter().filter(held).map(Operator::word).collect()
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
        assert_eq!(held(5, 5_i64), EQUAL);
        assert_eq!(held(5_i64, 5.0), EQUAL);
        assert_eq!(held(0.0, -0.0), EQUAL);
        assert_eq!(held(i64::MAX, 9_223_372_036_854_775_808.0), LESS);
        assert_eq!(held(9_007_199_254_740_993_i64, 9_007_199_254_740_992.0), GREATER);
        assert_eq!(held(f64::NEG_INFINITY, i64::MIN), LESS);
        assert_eq!(held(i64::MIN, -9_223_372_036_854_775_808.0), EQUAL);
        assert_eq!(held(0, f64::MIN_POSITIVE / 2.0), LESS);
        assert_eq!(held(-1, -0.5), LESS);
        assert_eq!(held(0, -0.5), GREATER);
    }

    #[test]
    fn nan_differs_from_every_number_and_itself() {
        for (stored, constant) in [
            (Value::from(f64::NAN), Value::from(f64::NAN)),
            (Value::from(1), Value::from(f64::NAN)),
            (Value::from(f64::NAN), Value::from(1_i64)),
        ] {
            assert_eq!(held(stored, constant), ["ne"]);
        }
    }

    #[test]
    fn other_types_compare_false_even_for_ne() {
        let values = [
            Value::from("1"),
            Value::from(&[1][..]),
            Value::from(true),
            Value::from(1),
            Value::from(Ticks::MIN),
            Value::from(Uuid::nil()),
        ];
        for (i, a) in values.iter().enumerate() {
            for b in values.iter().skip(i + 1) {
                assert_eq!(held(a.clone(), b.clone()), [""; 0], "{a:?} {b:?}");
                assert_eq!(held(b.clone(), a.clone()), [""; 0], "{b:?} {a:?}");
            }
        }
        assert_eq!(held("1", 1.0), [""; 0]);
        assert_eq!(held(1.0, "1"), [""; 0]);
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
