//! The tiers of tests, each with its short form, which CI runs, and its long one.

use std::fs;

use crate::command::Command;
use crate::once;
use crate::workspace::root;

/// A tier of tests, by its flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    Fast,
    Ui,
    DefaultFeatures,
    AllFeatures,
    Tools,
    Async,
    Server,
    Azure,
    Postgres,
    Cli,
    Reach,
    Examples,
    Crash,
    Flips,
    Power,
    Models,
    Soak,
    Fuzz,
    Protocols,
    Miri,
}

/// Kinds of places of a store's file, whose bits the long form flips each by itself.
const PLACES: &str = "Meta Main Small Template FreeList Queues Pending Blobs BranchHeader BranchOffset BranchNode \
                      BranchKey LeafHeader LeafOffset LeafNode LargeHeader structure any";

/// Tests whose operations are chosen by chance, beside those of `--models`, by their programs.
const EXPLORERS: [(&str, &str); 5] = [
    ("derived", "eventual::propagation copied::following"),
    ("maintenance", "jobs::random jobs::apart"),
    ("structures", "series::random periods::model wide::random lists::random summaries::random"),
    ("typed", "reads::model"),
    ("versions", "changing::versions::random changing::versions::apart changing::versions::derived"),
];

/// How many operations explorers do in the short form, where `cargo test` has fewer.
const EXPLORERS_SHORT: &str = "TABLE_CORE_READS=10 TABLE_PERIOD_OPERATIONS=100000 TABLE_CORE_LISTS=100000 \
                               SERIES_OPERATIONS=100000 WIDE_OPERATIONS=100000";

/// How many operations each explorer does in the long form.
const EXPLORERS_LONG: &str = "TABLE_CORE_JOBS=1000000 TABLE_CORE_APART=250000 TABLE_CORE_VERSIONS=300000 \
                              TABLE_CORE_READS=1000 SERIES_OPERATIONS=1000000 TABLE_PERIOD_OPERATIONS=1000000 \
                              WIDE_OPERATIONS=1000000 TABLE_CORE_LISTS=1000000 TABLE_CORE_SUMMARIES=1000000 \
                              EVENTUAL_STEPS=1000000 DERIVED_STEPS=1000000";

/// How often processes are killed in the long form.
const KILLS_LONG: &str = "CRASH_KILLS=2000 CRASH_KILL_SECONDS=1800 CRASH_STAFF_KILLS=1000 CRASH_QUEUE_KILLS=200 \
                          CRASH_BLOB_KILLS=200 CRASH_LIST_KILLS=60 CRASH_LOG_KILLS=100 CRASH_PERIOD_KILLS=200 \
                          CRASH_VAULT_KILLS=200 CRASH_BANK_KILLS=300 CRASH_ELSEWHERE_KILLS=300 \
                          CRASH_EVENTUAL_KILLS=300 CRASH_DERIVED_KILLS=300 LOCKSTEP_STEPS=200000";

impl Tier {
    pub(crate) const EACH: [Self; 20] = [
        Self::Fast,
        Self::Ui,
        Self::DefaultFeatures,
        Self::AllFeatures,
        Self::Tools,
        Self::Async,
        Self::Server,
        Self::Azure,
        Self::Postgres,
        Self::Cli,
        Self::Reach,
        Self::Examples,
        Self::Crash,
        Self::Flips,
        Self::Power,
        Self::Models,
        Self::Soak,
        Self::Fuzz,
        Self::Protocols,
        Self::Miri,
    ];

    /// What `--all` runs: not what others run, what builds the project many times, or what needs another toolchain.
    pub(crate) fn all() -> Vec<Self> {
        let is_in_all = |tier: &Self| !matches!(tier, Self::Reach | Self::Protocols | Self::Miri);
        Self::EACH.into_iter().filter(is_in_all).collect()
    }

    /// Returns the flag that names the tier.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Fast => "--fast",
            Self::Ui => "--ui",
            Self::DefaultFeatures => "--default-features",
            Self::AllFeatures => "--all-features",
            Self::Tools => "--tools",
            Self::Async => "--async",
            Self::Server => "--server",
            Self::Azure => "--azure",
            Self::Postgres => "--postgres",
            Self::Cli => "--cli",
            Self::Reach => "--reach",
            Self::Examples => "--examples",
            Self::Crash => "--crash",
            Self::Flips => "--flips",
            Self::Power => "--power",
            Self::Models => "--models",
            Self::Soak => "--soak",
            Self::Fuzz => "--fuzz",
            Self::Protocols => "--protocols",
            Self::Miri => "--miri",
        }
    }

    /// Returns the tier that a flag names.
    pub(crate) fn of_flag(flag: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|tier| tier.flag() == flag)
    }

    /// Runs the tier's commands, up to the first that fails.
    pub(crate) fn run(self, is_long: bool) -> Result<(), String> {
        self.commands(is_long)?.iter().try_for_each(Command::run)?;
        if matches!(self, Self::Fast) { once::check() } else { Ok(()) }
    }

    fn commands(self, is_long: bool) -> Result<Vec<Command>, String> {
        let slow = |filters| integration("slow", filters, is_long);
        let explorer = || unit("queues::tests::explorer", is_long);
        let form = |command: Command, short, long| command.defaults(if is_long { long } else { short });
        Ok(match self {
            Self::Fast => vec![test(false)],
            Self::Ui => vec![test(false).arguments("--test ui")],
            // The workspace's features are those of all its packages together: alone each crate has its own.
            Self::DefaultFeatures => {
                let command = if is_long { "test --locked -p" } else { "check --all-targets --locked -p" };
                let packages = ["table-engine", "lmdb-verify", "table-lmdb", "table-core", "table-derive"];
                packages.into_iter().map(|package| Command::cargo(command).argument(package)).collect()
            }
            Self::AllFeatures => {
                let packages = "-p table-engine -p lmdb-verify -p table-lmdb";
                vec![Command::cargo("test --locked --all-features --lib").arguments(packages)]
            }
            Self::Tools => vec![Command::cargo("test --locked -p table-bench -p xtask")],
            // The packages that build runtimes, in one command: what both depend on is built once.
            Self::Async => {
                let command = Command::cargo("test --locked -p asynchronous-tests -p web-example");
                vec![command.arguments(if is_long { "--release" } else { "" })]
            }
            Self::Server => {
                let command =
                    Command::cargo("test --locked -p table-server -p server-example --all-features");
                let command = command.arguments(if is_long { "--release" } else { "" });
                vec![form(command, "", "TABLE_SERVER_KILLS=100")]
            }
            Self::Azure => vec![script("crates/table-azure/test.sh", is_long)],
            Self::Postgres => vec![script("crates/table-postgres/test.sh", is_long)],
            Self::Cli => vec![script("crates/table-cli/test.sh", is_long)],
            Self::Reach if is_long => {
                let tiers = [Self::Async, Self::Server, Self::Azure, Self::Postgres, Self::Cli];
                let commands: Result<Vec<_>, _> = tiers.iter().map(|tier| tier.commands(true)).collect();
                commands?.concat()
            }
            Self::Reach => vec![script("crates/reach.sh", false)],
            Self::Examples => examples()?,
            Self::Crash => {
                vec![form(slow("crash:: --skip crash::flips --skip crash::key_flips"), "", KILLS_LONG)]
            }
            Self::Flips if is_long => long_flips(),
            Self::Flips => vec![slow("crash::flips crash::key_flips")],
            Self::Power => vec![form(slow("power:: faults:: hostile::"), "", "POWER_IMAGES=1500")],
            Self::Models => vec![
                form(slow("model::"), "", "TABLE_CORE_STEPS=10000000"),
                form(slow("copies::"), "", "TABLE_CORE_COPIES=10000000"),
                form(explorer(), "", "TABLE_CORE_QUEUE_STEPS=1000000"),
            ],
            Self::Soak => {
                let programs = EXPLORERS.map(|(program, filters)| integration(program, filters, is_long));
                let explorers = programs.map(|command| form(command, EXPLORERS_SHORT, EXPLORERS_LONG));
                let blobs = unit("blobs::tests", is_long);
                let blobs = form(blobs, "TABLE_CORE_BLOBS=125", "TABLE_CORE_BLOBS=20000");
                let codec = unit("odata::tests", is_long);
                let codec = form(codec, "TABLE_CORE_ODATA=50000", "TABLE_CORE_ODATA=1000000");
                explorers.into_iter().chain([blobs, codec]).collect()
            }
            Self::Fuzz => {
                let executions = if is_long { "10000000" } else { "200000" };
                let fuzz = Command::cargo("run --quiet --release --locked -p table-fuzz -- all --executions");
                vec![fuzz.argument(executions)]
            }
            Self::Protocols => {
                vec![Command::cargo("run --quiet --locked -p integration-tests --bin break-protocols")]
            }
            Self::Miri => vec![
                miri("table-engine", "model::text"),
                miri("lmdb-verify", "tree::leaves::tests::a_flipped_bit tree::leaves::tests::a_page"),
            ],
        })
    }
}

/// Returns the command that runs integration tests. The long form is optimised and prints what the tests count.
///
/// No package is named, as for `cargo test`: the features are those of the same packages, and nothing is built twice.
fn integration(program: &str, filters: &str, is_long: bool) -> Command {
    let command = test(is_long).argument("--test").argument(program).argument("--").arguments(filters);
    if is_long { command.arguments("--nocapture --test-threads 2") } else { command }
}

/// Returns the script of a crate's own, which starts the servers that its tests take.
fn script(path: &str, is_long: bool) -> Command {
    Command::new("bash").argument(path).arguments(if is_long { "--long" } else { "" })
}

/// Returns the command that runs unit tests.
fn unit(filter: &str, is_long: bool) -> Command {
    test(is_long).arguments("--lib --").argument(filter)
}

fn test(is_long: bool) -> Command {
    Command::cargo("test --locked").arguments(if is_long { "--quiet --release" } else { "" })
}

fn long_flips() -> Vec<Command> {
    let named = std::env::var("CRASH_AIM").ok();
    let places = named.as_deref().unwrap_or(PLACES);
    let test = "crash::flips::after_a_flipped_bit_in_the_structure";
    let flipped = |place| {
        let command = integration("slow", test, true).variable("CRASH_AIM", place);
        command.defaults("CRASH_STRUCTURE_FLIPS=10000 CRASH_FLIP_ROWS=800")
    };
    // A kind of rows has spaces in its name.
    let mut commands: Vec<_> = match named {
        Some(_) => vec![flipped(places)],
        None => places.split_whitespace().map(flipped).collect(),
    };
    commands.push(integration("slow", "crash::key_flips", true).defaults("CRASH_KEY_FLIPS=10000"));
    commands.push(integration("rows", "verify::", true).defaults("VERIFY_STEP=1 VERIFY_RANDOM=20000"));
    commands
}

/// Returns the commands that run each example, whose output is for people.
fn examples() -> Result<Vec<Command>, String> {
    let folder = root().join("examples/src/bin");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    let mut commands: Vec<Command> = names
        .iter()
        .map(|name| Command::cargo("run --quiet --locked -p examples --bin").argument(name))
        .collect();
    // What these print are figures; a small run shows that they come to their end. No package is named, so that they are those
    // that `cargo test` has built.
    for example in ["rotation -- 2000 200", "seal_open -- 50", "sealed_fields -- 50"] {
        commands.push(Command::cargo("run --quiet --locked --example").arguments(example));
    }
    Ok(commands.into_iter().map(Command::silent).collect())
}

/// Returns the command that interprets what makes text of bytes and walks over leaves. LMDB is C, which Miri does not
/// interpret: what calls it is left out.
fn miri(package: &str, filters: &str) -> Command {
    Command::new("rustup")
        .arguments("run nightly cargo miri test --locked --lib -p")
        .argument(package)
        .argument("--")
        .arguments(filters)
        .variable("MIRIFLAGS", "-Zmiri-disable-isolation")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lines(tier: Tier, is_long: bool) -> Vec<String> {
        tier.commands(is_long).unwrap().iter().map(Command::to_string).collect()
    }

    #[test]
    fn a_flag_names_one_tier() {
        for tier in Tier::EACH {
            assert_eq!(Tier::of_flag(tier.flag()), Some(tier));
            assert!(!tier.commands(false).unwrap().is_empty() && !tier.commands(true).unwrap().is_empty());
        }
        assert_eq!(Tier::of_flag("fast"), None);
    }

    #[test]
    fn forms_differ_by_their_variables() {
        assert_eq!(
            lines(Tier::Crash, false),
            ["cargo test --locked --test slow -- crash:: --skip crash::flips --skip crash::key_flips"]
        );
        let [long] = lines(Tier::Crash, true).try_into().unwrap();
        assert!(long.starts_with("CRASH_KILLS=2000 CRASH_KILL_SECONDS=1800"), "{long}");
        assert!(long.contains(" --release ") && long.ends_with("--nocapture --test-threads 2"), "{long}");
    }

    #[test]
    fn the_long_form_flips_bits_of_each_place() {
        let flips = lines(Tier::Flips, true);
        assert_eq!(flips.len(), PLACES.split_whitespace().count() + 2);
        assert!(flips.iter().any(|line| line.starts_with("CRASH_AIM=FreeList CRASH_STRUCTURE_FLIPS=10000")));
    }

    #[test]
    fn every_example_is_run() {
        let examples = lines(Tier::Examples, false);
        assert!(examples.iter().any(|line| line.ends_with("--bin tour")), "{examples:?}");
        assert!(examples.len() > 20, "{examples:?}");
    }

    /// A filter that no test has runs nothing, and says so to nobody.
    #[test]
    fn every_filter_names_tests_that_are_there() {
        let mut filters: Vec<(&[&str], String)> = Vec::new();
        let mut programs: BTreeSet<(String, String)> = BTreeSet::new();
        for line in Tier::EACH.into_iter().flat_map(|tier| [lines(tier, false), lines(tier, true)]).flatten()
        {
            let folders: &[&str] = if line.contains(" --test ") {
                &["tests/it"]
            } else {
                &["crates/table-engine/src", "crates/lmdb-verify/src", "crates/table-lmdb/src"]
            };
            let words = line.split_once(" -- ").map_or("", |(_, words)| words).split(' ');
            if let Some((_, rest)) = line.split_once(" --test ") {
                let program = rest.split(' ').next().unwrap();
                programs.extend(words.clone().filter(|word| word.contains("::")).map(|word| {
                    let module = word.split("::").next().unwrap();
                    (program.to_owned(), module.to_owned())
                }));
            }
            filters.extend(words.filter(|word| word.contains("::")).map(|word| (folders, word.to_owned())));
        }
        assert!(filters.len() > 40, "{filters:?}");
        for (folders, filter) in filters {
            let is_there = folders.iter().any(|folder| is_there(folder, &filter));
            assert!(is_there, "{folders:?} have no test `{filter}`");
        }
        assert!(programs.len() > 10, "{programs:?}");
        for (program, module) in programs {
            let root = root().join("tests/it").join(&program).with_extension("rs");
            let text = fs::read_to_string(root).unwrap();
            assert!(text.contains(&format!("\nmod {module};\n")), "`{program}` has no module `{module}`");
        }
    }

    /// Returns whether a folder has a module of this path, or one with a function whose name begins so.
    fn is_there(folder: &str, filter: &str) -> bool {
        let (modules, function) = filter.rsplit_once("::").unwrap();
        let text = |modules: &str| {
            let place = root().join(folder).join(modules.replace("::", "/"));
            let files = [place.with_extension("rs"), place.join("mod.rs")];
            files.into_iter().find_map(|file| fs::read_to_string(file).ok())
        };
        let is_module = text(filter.trim_end_matches("::")).is_some();
        is_module || text(modules).is_some_and(|text| text.contains(&format!("fn {function}")))
    }
}
