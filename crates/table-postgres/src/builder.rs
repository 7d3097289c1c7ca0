//! A statement that is being made: named parts, one after another, and what is asked of them in the end.

use crate::connection::Call;
use crate::param::Params;

/// The parts of a statement and their parameters.
#[derive(Default)]
pub(crate) struct Builder {
    /// How many parts there are, and their text.
    count: usize,
    parts: String,
    /// What must hold, or the statement is an error and changes nothing.
    pub(crate) demands: Vec<String>,
    pub(crate) params: Params,
}

impl Builder {
    /// Adds a part, and returns its name. What no other part and no demand asks for is carried out only if it writes.
    pub(crate) fn part(&mut self, sql: &str) -> String {
        let name = format!("c{}", self.count);
        self.count += 1;
        // Room for what comes behind: a text that grows by and by is copied as often.
        self.parts.reserve(sql.len() + 256);
        for text in [if self.parts.is_empty() { "WITH " } else { ", " }, &name, " AS (", sql, ")"] {
            self.parts.push_str(text);
        }
        name
    }

    /// Returns the statement, which gives one row if all that is demanded holds, and is an error otherwise.
    pub(crate) fn finish(mut self) -> Call {
        let mut question = "SELECT 1 / (CASE WHEN ".to_owned();
        for (at, demand) in std::mem::take(&mut self.demands).iter().enumerate() {
            if at > 0 {
                question.push_str(" AND ");
            }
            question.push_str(demand);
        }
        if question.ends_with("WHEN ") {
            question.push_str("true");
        }
        question.push_str(" THEN 1 ELSE 0 END)");
        self.select(&question)
    }

    /// Returns the statement that ends with this question, whatever is demanded.
    pub(crate) fn select(self, question: &str) -> Call {
        let mut sql = self.parts;
        if !sql.is_empty() {
            sql.push(' ');
        }
        sql.push_str(question);
        Call { sql, params: self.params }
    }
}
