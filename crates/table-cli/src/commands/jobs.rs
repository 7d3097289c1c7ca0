//! `tables jobs`: long work that was begun and has not ended.

use clap::{Args, Subcommand};
use table_core::Tables;
use table_core::typed::JobInfo;

use super::repair::{Mended, repair};
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `jobs`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Jobs {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with a job.
#[derive(Debug, Subcommand)]
enum Action {
    /// Go on with a job: a repair, or what the struct of its kind is there for
    Resume(Named),
    /// Give a job up: what it has done stays done
    Cancel(Named),
}

/// A job, as it is listed.
#[derive(Debug, Args)]
struct Named {
    /// Its table
    table: String,
    /// Its name, as in: rebuild employee by_email
    #[arg(required = true)]
    job: Vec<String>,
}

impl Jobs {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match &self.action {
            None => list(session),
            Some(Action::Resume(named)) => named.resume(session),
            Some(Action::Cancel(named)) => {
                session.demand_write("jobs cancel")?;
                let tables = session.tables()?;
                let job = named.find(&tables)?;
                tables.cancel_job(&job)?;
                session.note(format!("`{}` over table `{}` is given up", job.name, job.table));
                Ok(Exit::Done)
            }
        }
    }
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let jobs = session.tables()?.jobs()?;
    let mut lines = session.output().lines(&["table", "job", "begun", "done", "total", "changed", "deletes"]);
    for job in jobs {
        lines.push(vec![
            Cell::Text(job.table),
            Cell::Text(job.name),
            Cell::text(job.begun.to_string()),
            Cell::count(job.done),
            Cell::count(job.total),
            Cell::count(job.changed),
            if job.asked.is_empty() { Cell::Null } else { Cell::Text(job.asked) },
        ])?;
    }
    lines.finish()?;
    Ok(Exit::Done)
}

impl Named {
    fn find(&self, tables: &Tables) -> Result<JobInfo, Failure> {
        let name = self.job.join(" ");
        let jobs = tables.jobs()?;
        let found =
            jobs.into_iter().find(|job| job.table.eq_ignore_ascii_case(&self.table) && job.name == name);
        found.ok_or_else(|| {
            Failure::NotFound(format!("no job `{name}` over table `{}` was begun", self.table))
        })
    }

    fn resume(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("jobs resume")?;
        let tables = session.tables()?;
        let job = self.find(&tables)?;
        let mut words = job.name.split(' ');
        let (word, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_declared = session.declared(&job.table, kind).is_some();
        if !is_declared && word == "repair" {
            return repair_by_layout(session, &tables, &job);
        }
        let Some(declared) = session.declared(&job.table, kind) else {
            return Err(Failure::Refused(format!(
                "`{}` goes on by the struct of `{kind}`, which this program has not: one that adds it by \
                 `Cli::new().kind::<..>()` has, or `tables jobs cancel` gives the job up where that can be",
                job.name
            )));
        };
        let changed = match word {
            "rebuild" => declared.rebuild(&tables)?,
            "repair" => declared.repair(&tables)?.mended,
            "re-encrypt" => declared.reencrypt(&tables)?,
            _ => {
                return Err(Failure::Refused(format!(
                    "`{}` goes on where the program asks for it again: what it is to do is not noted whole",
                    job.name
                )));
            }
        };
        session.note(format!("`{}` has ended: {changed} changed", job.name));
        Ok(Exit::Done)
    }
}

/// Goes on with a repair without the struct of its kind: the copies that what is noted of the kind says are mended, and the job
/// has ended if none is left.
fn repair_by_layout(session: &mut Session<'_>, tables: &Tables, job: &JobInfo) -> Result<Exit, Failure> {
    let Mended { mended, left } = repair(session)?;
    if left > 0 {
        return Err(Failure::Refused(format!(
            "`{}` has not ended: {mended} copies are mended, and {left} are left, which take the struct: a program that adds it by \
             `Cli::new().kind::<..>()` goes on",
            job.name
        )));
    }
    tables.cancel_job(job)?;
    session.note(format!("`{}` has ended: {mended} changed", job.name));
    Ok(Exit::Done)
}
