//! A statement that is being made: named parts, one after another, and what is asked of them in the end.

use crate::connection::Call;
use crate::param::Params;

/// The parts of a statement and their parameters.
#[derive(Default)]
pub(crate) struct Builder {
    parts: Vec<String>,
    /// What must hold, or the statement is an error and changes nothing.
    pub(crate) demands: Vec<String>,
    pub(crate) params: Params,
}

impl Builder {
    /// Adds a part, and returns its name. What no other part and no demand asks for is carried out only if it writes.
    pub(crate) fn part(&mut self, sql: &str) -> String {
        let name = format!("c{}", self.parts.len());
        self.parts.push(format!("{name} AS ({sql})"));
        name
    }

    /// Returns the statement, which gives one row if all that is demanded holds, and is an error otherwise.
    pub(crate) fn finish(self) -> Call {
        let demands = if self.demands.is_empty() { "true".to_owned() } else { self.demands.join(" AND ") };
        self.select(&format!("SELECT 1 / (CASE WHEN {demands} THEN 1 ELSE 0 END)"))
    }

    /// Returns the statement that ends with this question, whatever is demanded.
    pub(crate) fn select(self, question: &str) -> Call {
        let mut sql = String::new();
        if !self.parts.is_empty() {
            sql = format!("WITH {} ", self.parts.join(", "));
        }
        sql.push_str(question);
        Call { sql, params: self.params }
    }
}
