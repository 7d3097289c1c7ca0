//! Filters as the text that the service takes.

use std::fmt::{self, Write};

use super::filter::Filter;
use super::node::{Node, Refusal};
use crate::model::Value;

/// The filter as `$filter` text, with the brackets that it needs.
impl fmt::Display for Filter {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        node(self.node(), f)
    }
}

#[inline]
fn node(of: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match of {
        Node::Compare(comparison) => {
            write!(f, "{} {} ", comparison.property, comparison.operator.word())?;
            constant(&comparison.constant, f)
        }
        Node::IsTrue(comparison) => f.write_str(&comparison.property),
        Node::Sealed(sealed) => write!(f, "{sealed}"),
        Node::Not(inner) => {
            f.write_str("not ")?;
            bracketed(inner, inner.is_bracketed_after_not(), f)
        }
        Node::Join(join, terms) => {
            for (index, term) in terms.iter().enumerate() {
                if index > 0 {
                    write!(f, " {} ", join.word())?;
                }
                bracketed(term, term.is_bracketed_in(*join), f)?;
            }
            Ok(())
        }
        // No filter's text: it must not be taken for one.
        Node::Refused(Refusal::TooDeep) => f.write_str("<nested too deep>"),
        Node::Refused(_) => f.write_str("<no slot>"),
    }
}

#[inline]
fn bracketed(inner: &Node, brackets: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if brackets {
        f.write_char('(')?;
        node(inner, f)?;
        f.write_char(')')
    } else {
        node(inner, f)
    }
}

#[inline]
fn constant(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(v) => {
            f.write_char('\'')?;
            for (index, piece) in v.split('\'').enumerate() {
                if index > 0 {
                    f.write_str("''")?;
                }
                f.write_str(piece)?;
            }
            f.write_char('\'')
        }
        Value::Binary(v) => {
            f.write_str("X'")?;
            for byte in v {
                write!(f, "{byte:02x}")?;
            }
            f.write_char('\'')
        }
        Value::Boolean(v) => write!(f, "{v}"),
        Value::Int32(v) => write!(f, "{v}"),
        Value::Int64(v) => write!(f, "{v}L"),
        Value::Double(v) if v.is_nan() => f.write_str("NaN"),
        Value::Double(f64::INFINITY) => f.write_str("INF"),
        Value::Double(f64::NEG_INFINITY) => f.write_str("-INF"),
        // With a decimal point or an exponent, so that it is read as a double again.
        Value::Double(v) => write!(f, "{v:?}"),
        Value::DateTime(v) => write!(f, "datetime'{v}'"),
        Value::Guid(v) => write!(f, "guid'{v}'"),
    }
}
