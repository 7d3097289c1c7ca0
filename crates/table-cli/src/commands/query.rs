//! `tables query`: rows that a filter finds.

use clap::Args;
use table_core::introspect::RowOf;
use table_core::{DynamicEntity, Filter, Query as Asked, prop};

use crate::failure::{Exit, Failure};
use crate::hints::Hints;
use crate::kinds::{ENTITY_TYPE, Kinds};
use crate::output::Cell;
use crate::paging::{Found, Pages, Place, Unreadable};
use crate::rows::{RowPrinter, asked};
use crate::session::Session;
use crate::target::Target;
use crate::terms::terms;

/// The arguments of `query`.
#[derive(Debug, Args)]
pub(crate) struct Query {
    /// TABLE, or TABLE/KIND for its entities alone
    #[arg(value_name = "TABLE")]
    target: Target,
    /// What to find, as in "PartitionKey eq 'Sales' and Age ge 40"
    filter: Vec<String>,
    /// Print these properties alone: Age,Email
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    select: Option<Vec<String>>,
    /// Find entities of this kind alone, as TABLE/KIND does
    #[arg(long)]
    kind: Option<String>,
    /// Print so many at most
    #[arg(long, value_name = "N", conflicts_with = "page")]
    top: Option<usize>,
    /// Print how many there are, and none of them
    #[arg(long, conflicts_with_all = ["page", "top", "select"])]
    count: bool,
    /// Print copies, and parts of wide entities, too
    #[arg(long)]
    copies: bool,
    /// Print so many, and where the next page begins
    #[arg(long, value_name = "N")]
    page: Option<usize>,
    /// Begin where another page ended
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
    /// From the last to the first
    #[arg(long)]
    rev: bool,
}

impl Query {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let table = session.table(&self.target.table)?;
        let kinds = session.kinds()?;
        let query = self.query(&kinds)?;
        let after = self.after.as_deref().map(str::parse::<Place>).transpose()?;
        let pages = Pages::new(&table, &query);
        let mut pages = if self.rev { pages.reverse() } else { pages }.after(after);
        if self.count {
            return self.print_count(session, &kinds, pages);
        }
        let opens = session.options().keys.is_some();
        let printer = RowPrinter::new(&kinds, &table, opens).select(self.select.clone());
        let mut left = self.page.or(self.top).unwrap_or(usize::MAX);
        let (mut damaged, mut count): (u64, u64) = (0, 0);
        let mut records = session.output().records(&["PartitionKey", "RowKey"]);
        let mut print_all = || {
            while left > 0 {
                let Some(rows) = pages.next(left)? else { break };
                for found in rows {
                    let record = match found {
                        Found::Row(row) if self.shows(&kinds, &row) => printer.record(row)?,
                        Found::Unreadable(found) if self.shows_unreadable(&kinds, &found) => {
                            damaged += u64::from(found.error.kind().is_damage());
                            vec![
                                ("PartitionKey".to_owned(), Cell::Text(found.partition)),
                                ("RowKey".to_owned(), Cell::Text(found.row)),
                                ("unreadable".to_owned(), Cell::text(found.error.reason())),
                            ]
                        }
                        _ => continue,
                    };
                    records.push(record)?;
                    count += 1;
                    left = left.saturating_sub(1);
                }
            }
            Ok::<_, Failure>(())
        };
        let done = print_all();
        let left_out = records.finish()?;
        if left_out > 0 {
            session.note(format!(
                "{left_out} values have no column: name the properties by --select, or take --format jsonl"
            ));
        }
        if let (Err(Failure::Store(error)), false) = (&done, self.rev)
            && error.kind().is_damage()
        {
            session.note("rows behind the damaged one may be read from the other end: --rev");
        }
        done?;
        let hints = Hints { kinds: &kinds, table: &self.target.table };
        for hint in hints.of_names(self.select.as_deref().unwrap_or_default()) {
            session.note(hint);
        }
        if let (0, None, Some(filter)) = (count, &self.after, self.filter()?) {
            for hint in hints.of_terms(&terms(&filter)) {
                session.note(hint);
            }
        }
        if let (Some(rest), true) = (pages.rest(), self.page.is_some()) {
            session.note(format!("more: --after {rest}"));
        }
        if damaged > 0 {
            session.note(format!("{damaged} rows are damaged: `tables check` tells what else is"));
            return Ok(Exit::Damaged);
        }
        Ok(Exit::Done)
    }

    fn print_count(
        &self,
        session: &mut Session<'_>,
        kinds: &Kinds,
        mut pages: Pages<'_>,
    ) -> Result<Exit, Failure> {
        let (mut count, mut unreadable, mut is_damaged) = (0_u64, 0_u64, false);
        while let Some(rows) = pages.next(usize::MAX)? {
            for found in rows {
                match found {
                    Found::Row(row) => count += u64::from(self.shows(kinds, &row)),
                    Found::Unreadable(found) if self.shows_unreadable(kinds, &found) => {
                        unreadable += 1;
                        is_damaged |= found.error.kind().is_damage();
                    }
                    Found::Unreadable(_) => {}
                }
            }
        }
        session.output().facts(vec![("count".to_owned(), Cell::count(count))])?;
        if unreadable > 0 {
            session.note(format!("{unreadable} rows can't be read, and are not among them"));
        }
        Ok(if is_damaged { Exit::Damaged } else { Exit::Done })
    }

    /// Returns the kind whose entities alone are asked for.
    fn kind(&self) -> Option<&str> {
        self.kind.as_deref().or_else(|| self.target.path())
    }

    fn filter(&self) -> Result<Option<Filter>, Failure> {
        // Its words may be those of the line.
        let filter = self.filter.join(" ");
        Ok(if filter.trim().is_empty() { None } else { Some(Filter::parse(&filter)?) })
    }

    fn query(&self, kinds: &Kinds) -> Result<Asked, Failure> {
        let mut query = Asked::new();
        if let Some(filter) = self.filter()? {
            query = query.filter(filter);
        }
        if let Some(kind) = self.kind() {
            let entity_type = kinds.find(&self.target.table, kind)?.entity_type();
            // Rows of its indexes have another, so those are wanted by --copies alone.
            if !self.copies {
                query = query.filter(prop(ENTITY_TYPE).eq(entity_type));
            }
        }
        if self.count {
            query = query.select([ENTITY_TYPE]);
        } else if let Some(select) = &self.select {
            query = query.select(asked(select));
        }
        Ok(query)
    }

    /// Returns whether a row that can't be read is to be printed: what it is, its keys say.
    fn shows_unreadable(&self, kinds: &Kinds, found: &Unreadable) -> bool {
        match (kinds.identify_keys(&self.target.table, &found.partition, &found.row), self.kind()) {
            (None, _) => true,
            (Some((kind, _)), Some(name)) if kind.kind() != name => false,
            (Some((_, of)), _) => self.copies || of == RowOf::Entity,
        }
    }

    /// Returns whether a row is to be printed.
    fn shows(&self, kinds: &Kinds, row: &DynamicEntity) -> bool {
        match (kinds.identify(&self.target.table, row), self.kind()) {
            (None, kind) => kind.is_none(),
            (Some((found, _)), Some(kind)) if found.kind() != kind => false,
            (Some((_, of)), _) => self.copies || of == RowOf::Entity,
        }
    }
}
