//! `tables explain`: what a query reads, and what would make it read less.

use std::time::Instant;

use clap::Args;
use table_core::query::QueryClass;
use table_core::{ErrorKind, Filter, Query, Tables, prop};

use crate::advice::advise;
use crate::failure::{Exit, Failure};
use crate::kinds::ENTITY_TYPE;
use crate::output::{Cell, Record};
use crate::paging::Pages;
use crate::session::Session;
use crate::target::Target;
use crate::terms::{Term, terms};
use crate::times;

/// The arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// TABLE, or TABLE/KIND for its entities alone
    #[arg(value_name = "TABLE")]
    target: Target,
    /// What to find, as in "PartitionKey eq 'Sales' and Age ge 40"
    filter: Vec<String>,
    /// Ask for entities of this kind alone, as TABLE/KIND does
    #[arg(long)]
    kind: Option<String>,
    /// Run it, and say how many rows were read
    #[arg(long)]
    run: bool,
}

impl Explain {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let table = session.table(&self.target.table)?;
        let kinds = session.kinds()?;
        let mut query = Query::new();
        let mut asked: Vec<Term> = Vec::new();
        let text = self.filter.join(" ");
        if !text.trim().is_empty() {
            let filter = Filter::parse(&text)?;
            asked = terms(&filter);
            query = query.filter(filter);
        }
        let of_kind = self.kind.as_deref().or_else(|| self.target.path());
        if let Some(kind) = of_kind {
            query = query.filter(prop(ENTITY_TYPE).eq(kinds.find(&self.target.table, kind)?.entity_type()));
        }
        let explain = table.explain(&query)?;
        let bounds = |text: &str| if text == "all" { Cell::Null } else { Cell::text(text) };
        let mut facts: Record = vec![
            ("class".to_owned(), Cell::text(explain.class().to_string())),
            ("partitions".to_owned(), bounds(explain.partition())),
            ("rows".to_owned(), bounds(explain.row())),
            ("filter".to_owned(), Cell::shown(explain.filter())),
            ("why".to_owned(), Cell::shown(Some(explain.reasons().join("; ")).filter(|why| !why.is_empty()))),
        ];
        if self.run {
            run(&tables, &table, &query, &mut facts)?;
        }
        let mut advice: Vec<String> = Vec::new();
        if explain.class() > QueryClass::Point {
            for kind in kinds.in_table(&self.target.table).filter(|kind| kind.lies_here()) {
                if of_kind.is_none_or(|name| name == kind.kind()) {
                    advice.extend(advise(kind, &asked, &explain));
                }
            }
        }
        facts.push((
            "advice".to_owned(),
            Cell::shown(Some(advice.join("\n")).filter(|text| !text.is_empty())),
        ));
        // A line for people is left out where it would say nothing.
        if session.output().is_for_people() {
            facts.retain(|(_, cell)| *cell != Cell::Null);
        }
        session.output().facts(facts)?;
        Ok(Exit::Done)
    }
}

/// Runs the query, and adds what that took.
fn run(
    tables: &Tables,
    table: &table_core::DynamicTable,
    query: &Query,
    facts: &mut Record,
) -> Result<(), Failure> {
    let read = || match tables.metrics() {
        Ok(metrics) => Ok(Some(metrics.rows_read)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    };
    let (before, begun) = (read()?, Instant::now());
    let mut returned: u64 = 0;
    let mut pages = Pages::new(table, query);
    while let Some(rows) = pages.next(usize::MAX)? {
        returned = returned.saturating_add(u64::try_from(rows.len()).unwrap_or(u64::MAX));
    }
    let took = begun.elapsed();
    let rows_read = before.zip(read()?).map(|(before, after)| after.saturating_sub(before));
    facts.push(("rows read".to_owned(), rows_read.map_or(Cell::Null, Cell::count)));
    facts.push(("rows returned".to_owned(), Cell::count(returned)));
    facts.push(("took".to_owned(), Cell::Text(times::printed(took))));
    Ok(())
}
