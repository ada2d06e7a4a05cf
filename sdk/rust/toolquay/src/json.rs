//! Reading JSON into structs, with less code for each of them.

use serde::de::{Deserialize, Deserializer, Visitor};

/// A struct that is read from an object alone. Serde_json takes an array for it too, for which
/// a module would have a second reader of each struct.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(Fields(deserializer)).map(Self)
    }
}

struct Fields<D>(D);

/// Defines methods that leave what they read to the deserializer within.
macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*))+) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* visitor)
        }
    )+};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Fields<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    forward! {
        deserialize_any() deserialize_bool() deserialize_char() deserialize_identifier() deserialize_ignored_any()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_str() deserialize_string() deserialize_bytes()
        deserialize_byte_buf() deserialize_option() deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str) deserialize_seq() deserialize_map() deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }
}

#[cfg(test)]
mod tests {
    use super::Object;
    use crate::capability::fs::Lines;

    #[test]
    fn reads_objects_alone() {
        let read = |json| serde_json::from_str(json).map(|Object(lines): Object<Lines>| lines.limit);
        assert_eq!(read(r#"{"limit": 3}"#).unwrap(), 3);
        assert!(serde_json::from_str::<Lines>("[1, 3, 0, 0, false]").is_ok(), "nothing is gained here any more");
        assert!(read("[1, 3, 0, 0, false]").unwrap_err().to_string().contains("invalid type: sequence"));
    }
}
