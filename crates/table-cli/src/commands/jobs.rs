//! `tables jobs`: long work that was begun and has not ended.

use clap::{Args, Subcommand};
use table_core::Tables;
use table_core::introspect::{IndexCondition, IndexInfo};
use table_core::typed::{Job, JobInfo};

use super::repair::{cure, is_obstacle};
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
    /// Go on with a job, by the struct of its kind or by what is noted of that
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
                named.cancel(session, &tables, &job)?;
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
        if let Some(found) = found {
            return Ok(found);
        }
        let begun: Vec<_> =
            tables.jobs()?.into_iter().map(|job| format!("{} {}", job.table, job.name)).collect();
        let begun = if begun.is_empty() { "none".to_owned() } else { begun.join(", ") };
        let table = &self.table;
        Err(Failure::NotFound(format!("no job `{name}` over table `{table}` was begun; there are: {begun}")))
    }

    /// Gives a job up. That of an index changes its state, too, which takes what is noted of the kind.
    fn cancel(&self, session: &mut Session<'_>, tables: &Tables, job: &JobInfo) -> Result<(), Failure> {
        let mut words = job.name.split(' ');
        let (Some("rebuild"), Some(kind), Some(_)) = (words.next(), words.next(), words.next()) else {
            return Ok(tables.cancel_job(job)?);
        };
        let kinds = session.kinds()?;
        let noted = kinds.find(&self.table, kind)?;
        let is_ready =
            |index: &&IndexInfo| index.condition.as_ref().is_none_or(|is| *is == IndexCondition::Ready);
        let others: Vec<_> = noted.indexes();
        let unready = others.iter().filter(|index| !is_ready(index)).count();
        if unready > 1 {
            return Err(Failure::Refused(format!(
                "`{kind}` has {unready} indexes that are not made, and they are given up together: go on with the job, or give \
                 it up in a program, by `Job::cancel`"
            )));
        }
        match noted.rebuild(tables).and_then(Job::cancel) {
            Err(error) if is_obstacle(&error) => {
                Err(Failure::Refused(format!("`{}` can't be given up: {}", job.name, cure(kind, &error))))
            }
            done => Ok(done?),
        }
    }

    fn resume(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("jobs resume")?;
        let tables = session.tables()?;
        let job = self.find(&tables)?;
        let mut words = job.name.split(' ');
        let (word, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let changed = if let Some(declared) = session.declared(&job.table, kind) {
            match word {
                "rebuild" => declared.rebuild(&tables)?,
                "repair" => declared.repair(&tables)?.mended,
                "re-encrypt" => declared.reencrypt(&tables)?,
                _ => return Err(not_noted(&job)),
            }
        } else {
            let kinds = session.kinds()?;
            let noted = kinds.find(&job.table, kind)?;
            let done = match word {
                "rebuild" => noted.rebuild(&tables).and_then(Job::run).map(|done| done.changed),
                "repair" => noted.repair(&tables).and_then(Job::run).map(|done| done.mended),
                "re-encrypt" => noted.reencrypt(&tables).and_then(Job::run).map(|done| done.changed),
                _ => return Err(not_noted(&job)),
            };
            match done {
                Err(error) if is_obstacle(&error) => {
                    return Err(Failure::Refused(format!(
                        "`{}` can't go on: {}",
                        job.name,
                        cure(kind, &error)
                    )));
                }
                done => done?,
            }
        };
        session.note(format!("`{}` has ended: {changed} changed", job.name));
        Ok(Exit::Done)
    }
}

/// Returns the failure of a job of which the store has not noted what it is to do.
fn not_noted(job: &JobInfo) -> Failure {
    Failure::Refused(format!(
        "`{}` goes on where the program that began it asks for it again: what it is to do is not noted whole",
        job.name
    ))
}
