//! Steps of the protocols by which indexes and versions come and go, each with a way to leave it out.
//!
//! What explores a protocol shows nothing if it can't fail. `break-protocols` leaves each step out of a copy of the sources and
//! has the test run that must fail then. A test keeps the places up to date: each text stands in its file once.

use std::fs;
use std::path::Path;

/// A step that can be left out.
#[derive(Debug)]
pub struct Step {
    /// What goes without it.
    pub without: &'static str,
    /// Each place where the code becomes another: the file, what stands there, and what stands there then.
    pub changes: &'static [[&'static str; 3]],
    /// The tests that must fail, as the test program is asked for them.
    pub tests: &'static [&'static str],
    /// The variables of the environment that the tests get.
    pub variable: Option<(&'static str, &'static str)>,
}

const JOBS: &[&str] = &["jobs::random::"];
const VERSIONS: &[&str] = &["changing::versions::random::"];

const fn step(
    without: &'static str,
    changes: &'static [[&'static str; 3]],
    tests: &'static [&'static str],
) -> Step {
    Step { without, changes, tests, variable: None }
}

/// All of them.
pub const STEPS: &[Step] = &[
    step(
        "an index that changes is filled at once, and what it had is not removed before",
        &[[
            "crates/table-engine/src/schema/index_states/index.rs",
            "(_, On::Rebuild) => Self::Purge,",
            "(_, On::Rebuild) => Self::Backfill,",
        ]],
        JOBS,
    ),
    step(
        "the transaction does not compare the epoch that a plan states",
        &[[
            "crates/table-lmdb/src/write/apply.rs",
            "if !group.epochs.iter().all(|epoch| touched.state.is_epoch(epoch)) {",
            "if group.epochs.iter().any(|epoch| epoch.kind.is_empty()) {",
        ]],
        &["jobs::random::", "changing::versions::random::"],
    ),
    step(
        "writers leave an index alone that is being filled",
        &[[
            "crates/table-engine/src/schema/index_states/index.rs",
            "matches!(self, Self::Backfill | Self::Blocked(_) | Self::Ready { .. })",
            "matches!(self, Self::Ready { .. })",
        ]],
        JOBS,
    ),
    step(
        "an index is read before it is ready",
        &[[
            "crates/table-engine/src/schema/index_states/index_mask.rs",
            "is_ready && (self.since == 0",
            "self.looks || !self.looks || is_ready && (self.since == 0",
        ]],
        JOBS,
    ),
    step(
        "a program that does not declare an index writes while others keep it",
        &[[
            "crates/table-engine/src/schema/index_states/index_mask.rs",
            "if !is_known && index_states.index(noted, &index.name).is_kept() {",
            "if !is_known && index.name.is_empty() {",
        ]],
        JOBS,
    ),
    step(
        "so does one that declares it otherwise",
        &[[
            "crates/table-engine/src/schema/index_states/index_mask.rs",
            "if state.is_kept() && !is_same {",
            "if state.is_kept() && !is_same && index.name.is_empty() {",
        ]],
        JOBS,
    ),
    step(
        "a change does not look where copies of a unique index are that is being filled",
        &[[
            "crates/table-engine/src/typed/change/read_set.rs",
            "if index.unique && self.index_mask.keeps(number) && self.index_mask.is_backfilling(number) {",
            "if index.unique && index.name.is_empty() {",
        ]],
        JOBS,
    ),
    Step {
        without: "how far a job is is written by a transaction of its own, after that of the step",
        changes: &[
            [
                "crates/table-engine/src/typed/job/mod.rs",
                "loader.add_step(step).map_err(|refused| refused.error)?;",
                "drop(step);",
            ],
            [
                "crates/table-engine/src/typed/job/mod.rs",
                "let failed = failures(loader.carry_out()?);",
                "let failed = failures(loader.carry_out()?);\n\
                 std::thread::sleep(std::time::Duration::from_millis(2));\n\
                 if failed.is_empty() { self.table.exec().jobs()?.keep(&name, to.as_ref())?; }",
            ],
        ],
        tests: &["jobs::killed::", "changing::versions::killed::each_row"],
        variable: Some(("CRASH_JOBS", "200")),
    },
    step(
        "a step of a job happens by halves when one of its plans is refused",
        &[[
            "crates/table-lmdb/src/write/group.rs",
            "let written = some_done && !(has_step && some_refused);",
            "let written = some_done && (has_step || !has_step);",
        ]],
        &["jobs::deleted::"],
    ),
    step(
        "a repair adds what a summary lacked in another epoch of its kind",
        &[[
            "crates/table-engine/src/typed/job/repair_summaries.rs",
            "expected == at && *of == epoch.number",
            "expected == at && *of <= epoch.number",
        ]],
        &["jobs::mended::"],
    ),
    step(
        "copies that lie in another table are not made again when that is dropped",
        &[[
            "crates/table-engine/src/schema/index_states/index.rs",
            "| (Self::Ready { .. } | Self::Backfill | Self::Blocked(_), On::RowsDropped) => Self::Backfill,",
            "| (Self::Blocked(_), On::RowsDropped) => Self::Backfill,\n\
             (Self::Ready { .. } | Self::Backfill, On::RowsDropped) => self.clone(),",
        ]],
        &["elsewhere::"],
    ),
    step(
        "indexes stay ready when entities are converted",
        &[[
            "crates/table-engine/src/schema/index_states/mod.rs",
            "        if begins {\n",
            "        if begins && noted.kind.is_empty() {\n",
        ]],
        VERSIONS,
    ),
    step(
        "an entity is not looked for under the key that it had before it was converted",
        &[[
            "crates/table-engine/src/typed/read/missed.rs",
            "let Some(places) = places_of(schema, keys) else { return Err(error) };",
            "let Some(mut places) = places_of(schema, keys) else { return Err(error) };\nplaces.clear();",
        ]],
        VERSIONS,
    ),
    step(
        "entities are scanned while some lie where their previous version has them",
        &[[
            "crates/table-engine/src/schema/index_states/index_mask.rs",
            "None => Rows::Pending(first),",
            "None => Rows::Readable(first),",
        ]],
        VERSIONS,
    ),
    step(
        "a program of a previous version goes on reading",
        // It is refused twice: by what it declares, and by what the rows are in the snapshot that it reads.
        &[
            [
                "crates/table-engine/src/schema/layout/outdated.rs",
                "        return Some(Outdated::PreviousVersion(noted.version()));\n",
                "        return None;\n",
            ],
            [
                "crates/table-engine/src/schema/index_states/index_mask.rs",
                "        return Rows::Unknown(noted.version());\n",
                "        return Rows::Own;\n",
            ],
        ],
        VERSIONS,
    ),
    step(
        "copies of previous versions are not removed",
        &[
            [
                "crates/table-engine/src/typed/job/convert.rs",
                "let is_copy = phase == CONVERTING && schema.is_previous_copy(kind);",
                "let is_copy = phase == u8::MAX && schema.is_previous_copy(kind);",
            ],
            [
                "crates/table-engine/src/typed/job/purge.rs",
                "found == kind || schema.is_previous_copy(found)",
                "found == kind || schema.kind.is_empty() && schema.is_previous_copy(found)",
            ],
        ],
        VERSIONS,
    ),
];

impl Step {
    /// Leaves the step out of the sources below this directory. An error says what stands there no more, or more than once.
    pub fn leave_out(&self, root: &Path) -> Result<(), String> {
        for [file, from, to] in self.changes {
            let path = root.join(file);
            let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
            if text.matches(from).count() != 1 {
                return Err(format!("{file} has not just once: {from}"));
            }
            fs::write(&path, text.replacen(from, to, 1)).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(())
    }
}
