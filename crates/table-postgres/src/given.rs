//! Rows that a statement is given: as values while they are few, and as arrays of their columns beyond that.
//!
//! Values are quicker, since no array is put together and taken apart. And the server knows how many there are when it plans a
//! statement for all times: of an array it assumes ten elements, finds that dearer than to plan for those that are there, and
//! plans each time.

use crate::param::{Param, Params};

/// The most rows that are given as values: each number of rows is another text.
pub(crate) const FEW: usize = 4;

/// Adds the columns of so many rows to the parameters, and returns what a statement reads them from.
pub(crate) fn given(params: &mut Params, rows: usize, columns: Vec<Param>) -> String {
    if rows > FEW {
        let names: Vec<_> = columns.into_iter().map(|column| params.add(column)).collect();
        return format!("unnest({})", names.join(", "));
    }
    let mut columns: Vec<_> = columns.into_iter().map(|column| column.each().into_iter()).collect();
    let mut sql = "(VALUES ".to_owned();
    for row in 0..rows {
        sql.push_str(if row > 0 { ", (" } else { "(" });
        for (at, column) in columns.iter_mut().enumerate() {
            let Some(value) = column.next() else { continue };
            if at > 0 {
                sql.push_str(", ");
            }
            params.add_to(value, &mut sql);
        }
        sql.push(')');
    }
    sql.push(')');
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: usize) -> (String, Vec<String>) {
        let mut params = Params::default();
        params.add(Param::Flag(true));
        let texts = (0..rows).map(|row| row.to_string()).collect();
        let numbers = (0..rows).map(|row| i64::try_from(row).unwrap()).collect();
        let sql = given(&mut params, rows, vec![Param::Texts(texts), Param::Numbers(numbers)]);
        (sql, params.all().iter().skip(1).map(|param| format!("{param:?}")).collect())
    }

    #[test]
    fn few_rows_are_values_and_many_are_arrays() {
        let (sql, params) = of(2);
        assert_eq!(sql, "(VALUES ($2, $3), ($4, $5))");
        assert_eq!(params, ["Text(\"0\")", "Number(0)", "Text(\"1\")", "Number(1)"]);
        let (sql, params) = of(FEW);
        assert_eq!((sql.matches("($").count(), params.len()), (FEW, 2 * FEW));
        let (sql, params) = of(FEW + 1);
        assert_eq!((&*sql, params.len()), ("unnest($2, $3)", 2));
    }
}
