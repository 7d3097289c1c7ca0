//! Whether a value has a number that JSON lacks. `serde_json` writes one as `null`, which reads as something else or
//! not at all.

use std::fmt;

use serde::ser::{self, Serialize};

/// Returns whether every float in the value is a number: neither NaN nor infinite.
pub(super) fn is_finite<T: Serialize + ?Sized>(value: &T) -> bool {
    value.serialize(Finite).is_ok()
}

/// Writes nothing, and fails at the first float that is not finite.
struct Finite;

/// Some float is not finite; or the value could not be serialized, of which `serde_json` has more to say.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not finite")
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Looked = Result<(), Refused>;

/// Methods for what holds no float.
macro_rules! plain {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Looked { Ok(()) })*
    };
}

/// Methods that begin what holds other values.
macro_rules! compound {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self, Refused> { Ok(self) })*
    };
}

impl ser::Serializer for Finite {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn serialize_f32(self, value: f32) -> Looked {
        if value.is_finite() { Ok(()) } else { Err(Refused) }
    }

    fn serialize_f64(self, value: f64) -> Looked {
        if value.is_finite() { Ok(()) } else { Err(Refused) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Looked {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Looked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Looked {
        value.serialize(self)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Looked {
        Ok(())
    }

    plain! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    compound! {
        serialize_seq(Option<usize>)
        serialize_tuple(usize)
        serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
        serialize_map(Option<usize>)
        serialize_struct(&'static str, usize)
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    }
}

/// Looks at every value that a compound one holds.
macro_rules! parts {
    ($($held:ident: $($method:ident($($name:ty)?)),+;)*) => {
        $(impl ser::$held for Finite {
            type Ok = ();
            type Error = Refused;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Looked {
                value.serialize(Self)
            })+

            fn end(self) -> Looked {
                Ok(())
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}
