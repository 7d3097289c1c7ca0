//! The command line.

use crate::check::Check;
use crate::tiers::Tier;

/// What `cargo xtask help` prints.
pub(crate) const USAGE: &str = "\
The project's own commands: cargo xtask COMMAND [FLAG..]

test       runs tiers of tests: --fast if none is named
  --fast       `cargo test`, the command for every change
  --ui         messages of the compiler
  --default-features
               each crate with its own features alone: compiled; tested in the long form
  --all-features
               the core with all its features
  --tools      the packages that `cargo test` leaves out
  --async      calls that are awaited, and the service of `examples/web`
  --server     the server of the Table service's protocol, and `examples/server`
  --azure      tables on servers of the Table service's protocol, and `examples/azure`
  --postgres   tables on a PostgreSQL server, which it starts
  --cli        the command line, and its pages in a browser
  --reach      those from --async to --cli, whose short form takes one build
  --examples   every example program
  --crash      processes that are killed
  --flips      damaged files, a bit at a time
  --power      power failures and failing system calls, on a recorded disk
  --models     random operations against models
  --soak       random operations on what is declared: jobs, versions, periods, lists, copies
  --protocols  steps left out of the code, which its tests must notice
  --fuzz       damaged bytes for every decoder and parser
  --miri       the code that walks over bytes, interpreted (needs nightly Rust)
  --all        every tier but --reach, --protocols and --miri
  --long       the long forms, optimised: hours on two processors
  --target aarch64
               `cargo test` for 64-bit ARM under qemu
check      runs the checks that execute no test; with flags, these alone
  --formatting --lints --peers --oldest --systems
  --dependencies   licences, advisories, and who may use what (needs cargo-deny)
  --semver         the public API beside the last tag's (needs cargo-semver-checks)
docs       builds the API's pages with warnings as errors, and the guide if mdBook is there
release    checks that the published packages fit, and packs them: a dry run
  --list       prints their names in the order of publishing
bench      measures on a quiet machine and writes the tables: half an hour
  --instructions   counts instructions alone
  --compile        what entities cost the compiler
figures    counts lines, files, habits, words, and the arrows between crates
help       prints this
";

/// A command with its flags.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    /// Tiers of tests, in this order.
    Test {
        tiers: Vec<Tier>,
        long: bool,
    },
    TestAarch64,
    Check(Vec<Check>),
    Bench(Script),
    Docs,
    Release {
        list: bool,
    },
    Figures,
}

/// A script that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Everything,
    Instructions,
    Compile,
}

impl Script {
    /// Returns where the script lies.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Everything => "bench/run.sh",
            Self::Instructions => "bench/callgrind.sh",
            Self::Compile => "bench/compile.sh",
        }
    }
}

impl Request {
    /// Reads the words after `cargo xtask`. A mistake is said in a sentence.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut words = words.iter().map(String::as_str);
        let command = words.next().unwrap_or("help");
        let flags: Vec<&str> = words.collect();
        let none = |request| match flags.first() {
            None => Ok(request),
            Some(flag) => Err(unknown(flag, command)),
        };
        match command {
            "help" | "--help" | "-h" => Ok(Self::Help),
            "test" => Self::test(&flags),
            "check" => Self::check(&flags),
            "bench" => Self::bench(&flags),
            "docs" => none(Self::Docs),
            "release" if flags == ["--list"] => Ok(Self::Release { list: true }),
            "release" => none(Self::Release { list: false }),
            "figures" => none(Self::Figures),
            other => Err(format!("there is no command `{other}`")),
        }
    }

    fn test(flags: &[&str]) -> Result<Self, String> {
        if flags.first() == Some(&"--target") || flags.iter().any(|flag| flag.starts_with("--target=")) {
            return match flags {
                ["--target", "aarch64"] | ["--target=aarch64"] => Ok(Self::TestAarch64),
                ["--target", "aarch64", ..] => Err("`--target aarch64` takes no other flag".into()),
                _ => Err("`--target` takes `aarch64`".into()),
            };
        }
        let (mut tiers, mut long) = (Vec::new(), false);
        for flag in flags {
            match (*flag, Tier::of_flag(flag)) {
                ("--long", _) => long = true,
                ("--all", _) => tiers.extend(Tier::all()),
                (_, Some(tier)) => tiers.push(tier),
                _ => return Err(unknown(flag, "test")),
            }
        }
        if long && tiers.is_empty() {
            return Err("`--long` is of tiers: name one, or `--all`".into());
        }
        if tiers.is_empty() {
            tiers.push(Tier::Fast);
        }
        if let Some(tier) = (1..tiers.len()).find_map(|at| {
            let (before, rest) = tiers.split_at(at);
            rest.first().filter(|tier| before.contains(tier))
        }) {
            return Err(format!("`{}` is named twice", tier.flag()));
        }
        Ok(Self::Test { tiers, long })
    }

    fn check(flags: &[&str]) -> Result<Self, String> {
        if flags.is_empty() {
            return Ok(Self::Check(Check::USUAL.to_vec()));
        }
        let check = |flag: &&str| Check::of_flag(flag).ok_or_else(|| unknown(flag, "check"));
        flags.iter().map(check).collect::<Result<_, _>>().map(Self::Check)
    }

    fn bench(flags: &[&str]) -> Result<Self, String> {
        match flags {
            [] => Ok(Self::Bench(Script::Everything)),
            ["--instructions"] => Ok(Self::Bench(Script::Instructions)),
            ["--compile"] => Ok(Self::Bench(Script::Compile)),
            [flag, ..] => Err(unknown(flag, "bench")),
        }
    }
}

fn unknown(flag: &str, command: &str) -> String {
    format!("`{command}` has no flag `{flag}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words)
    }

    fn test(tiers: &[Tier], long: bool) -> Request {
        Request::Test { tiers: tiers.to_vec(), long }
    }

    #[test]
    fn commands_are_read() {
        for line in ["", "help", "--help", "-h"] {
            assert_eq!(parse(line), Ok(Request::Help));
        }
        assert_eq!(parse("docs"), Ok(Request::Docs));
        assert_eq!(parse("figures"), Ok(Request::Figures));
        assert_eq!(parse("release"), Ok(Request::Release { list: false }));
        assert_eq!(parse("release --list"), Ok(Request::Release { list: true }));
        assert_eq!(parse("bench"), Ok(Request::Bench(Script::Everything)));
        assert_eq!(parse("bench --compile"), Ok(Request::Bench(Script::Compile)));
        assert_eq!(parse("check"), Ok(Request::Check(Check::USUAL.to_vec())));
        assert_eq!(parse("check --semver --lints"), Ok(Request::Check(vec![Check::Semver, Check::Lints])));
    }

    #[test]
    fn tiers_are_read() {
        assert_eq!(parse("test"), Ok(test(&[Tier::Fast], false)));
        assert_eq!(parse("test --power --ui"), Ok(test(&[Tier::Power, Tier::Ui], false)));
        assert_eq!(parse("test --fuzz --long"), Ok(test(&[Tier::Fuzz], true)));
        assert_eq!(parse("test --all --long"), Ok(test(&Tier::all(), true)));
        assert_eq!(parse("test --target aarch64"), Ok(Request::TestAarch64));
        assert_eq!(parse("test --target=aarch64"), Ok(Request::TestAarch64));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, mistake) in [
            ("tests", "there is no command `tests`"),
            ("test --crashes", "`test` has no flag `--crashes`"),
            ("test crash", "`test` has no flag `crash`"),
            ("test --long", "`--long` is of tiers: name one, or `--all`"),
            ("test --ui --power --ui", "`--ui` is named twice"),
            ("test --all --ui", "`--ui` is named twice"),
            ("test --target", "`--target` takes `aarch64`"),
            ("test --target arm", "`--target` takes `aarch64`"),
            ("test --target aarch64 --ui", "`--target aarch64` takes no other flag"),
            ("check --all", "`check` has no flag `--all`"),
            ("docs --open", "`docs` has no flag `--open`"),
            ("release --publish", "`release` has no flag `--publish`"),
            ("bench company", "`bench` has no flag `company`"),
        ] {
            assert_eq!(parse(line), Err(mistake.into()), "{line}");
        }
    }

    #[test]
    fn the_help_names_every_flag() {
        let flags = Tier::EACH.map(Tier::flag).into_iter().chain(Check::USUAL.map(Check::flag));
        for flag in flags.chain(["--dependencies", "--semver", "--list", "--instructions", "--compile"]) {
            assert!(USAGE.contains(flag), "{flag}");
        }
    }
}
