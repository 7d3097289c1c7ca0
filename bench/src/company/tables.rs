//! What was measured, as Markdown, JSON and a chart.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::chart;
use super::engine::Maker;
use super::quiet::{Quiet, Watch};
use crate::measure::{self, Times};
use crate::report::{self, Unit};
use crate::{Arguments, Result};

/// One workload: what it is called, and what its figures mean.
pub(super) struct Table {
    id: &'static str,
    pub(super) title: String,
    pub(super) unit: Unit,
    clock: &'static str,
}

impl Table {
    pub(super) fn new(id: &'static str, title: &str, unit: Unit) -> Self {
        Self { id, title: title.to_owned(), unit, clock: "processor time" }
    }

    pub(super) fn clock(self, clock: &'static str) -> Self {
        Self { clock, ..self }
    }
}

/// A workload with its figures. The first times are the floor's, the last the floor's again.
pub(super) struct Measured {
    pub(super) table: Table,
    pub(super) times: Vec<Times>,
    /// The share of the processors that others took meanwhile.
    others: Option<f64>,
}

impl Measured {
    pub(super) fn of(&self, engine: &str) -> Option<&Times> {
        self.times.iter().find(|times| times.name == engine)
    }

    pub(super) fn floor(&self) -> Option<&Times> {
        self.times.first()
    }

    /// Half of the distance between the quartiles, as a share of the median.
    fn spread(times: &Times) -> f64 {
        let quartiles = measure::quantile(&times.rounds, 0.75) - measure::quantile(&times.rounds, 0.25);
        quartiles / 2.0 / measure::median(&times.rounds)
    }

    /// How far half of the floor's second runs differ from its first, either way.
    fn noise(&self) -> (f64, f64) {
        match (self.times.first(), self.times.last()) {
            (Some(floor), Some(again)) => measure::noise(again, floor),
            _ => (f64::NAN, f64::NAN),
        }
    }
}

/// All that a run finds.
pub(super) struct Report {
    only: Vec<String>,
    pub(super) makers: Vec<Maker>,
    measured: Vec<Measured>,
    /// Bytes on disk after loading, by engine.
    sizes: Vec<(&'static str, u64)>,
    says: Vec<String>,
    quiet: Quiet,
    rows: u64,
    rounds: usize,
    /// Where it is written, each time that there is more of it.
    out: Option<PathBuf>,
    finished: bool,
}

impl Report {
    pub(super) fn new(arguments: &Arguments, makers: &[Maker]) -> Self {
        Self {
            only: arguments.only.clone(),
            makers: makers.to_vec(),
            measured: Vec::new(),
            sizes: Vec::new(),
            says: Vec::new(),
            quiet: Quiet::within(arguments.wait),
            rows: arguments.rows,
            rounds: arguments.rounds,
            out: arguments.out.clone(),
            finished: false,
        }
    }

    pub(super) fn wants(&self, id: &str) -> bool {
        // Those that come from one run.
        let id = id.strip_suffix("-reads").or_else(|| id.strip_suffix("-writes")).unwrap_or(id);
        let id = if id.starts_with("growth") { "growth" } else { id };
        self.only.is_empty() || self.only.iter().any(|only| only == id)
    }

    pub(super) fn say(&mut self, what: &str) {
        eprintln!("{what}");
        self.says.push(what.to_owned());
    }

    pub(super) fn place(&mut self, what: &str, place: &Path) {
        self.say(&format!("{what}: {}.", report::machine_line(place)));
    }

    pub(super) fn quiet(&mut self) {
        self.quiet.wait();
    }

    /// Measures a workload if it was asked for.
    pub(super) fn measure(
        &mut self,
        table: Table,
        run: impl FnOnce(&Table) -> Result<Vec<Times>>,
    ) -> Result<()> {
        if !self.wants(table.id) {
            return Ok(());
        }
        self.quiet.wait();
        let watch = Watch::start();
        let times = run(&table).map_err(|error| format!("{}: {error}", table.title))?;
        self.add(table, times, watch.others())
    }

    pub(super) fn add(&mut self, table: Table, times: Vec<Times>, others: Option<f64>) -> Result<()> {
        let measured = Measured { table, times, others };
        eprintln!("{}", self.line(&measured));
        self.measured.push(measured);
        self.save()
    }

    /// What the files of an engine take.
    pub(super) fn size(&mut self, maker: &Maker, dir: &Path) -> Result<()> {
        self.sizes.push((maker.name, allocated(dir)?));
        Ok(())
    }

    fn engines(&self) -> impl Iterator<Item = &'static str> {
        self.makers.iter().map(|maker| maker.name)
    }

    fn line(&self, measured: &Measured) -> String {
        let mut line = format!("| {} |", measured.table.title);
        for engine in self.engines() {
            let cell = measured.of(engine).zip(measured.floor()).map(|(times, floor)| {
                let time = measured.table.unit.show(measure::median(&times.rounds));
                if engine == "floor" {
                    time
                } else {
                    format!("{time} **{:.2}**", measure::ratio(times, floor))
                }
            });
            line.extend([" ", &cell.unwrap_or_default(), " |"]);
        }
        let (low, high) = measured.noise();
        format!("{line} {low:.2}–{high:.2} |")
    }

    fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        if !self.finished {
            writeln!(text, "This run did not come to its end.\n")?;
        }
        for says in &self.says {
            writeln!(text, "{says}\n")?;
        }
        writeln!(
            text,
            "{} employees, {} rounds for reads and writes, fewer for what takes long. Medians, and in bold the median of the rounds' ratios to the floor.\n",
            self.rows, self.rounds
        )?;
        let heads: Vec<_> = self.engines().collect();
        writeln!(
            text,
            "| workload | {} | noise |\n|---|{}---|",
            heads.join(" | "),
            "---:|".repeat(heads.len())
        )?;
        for measured in &self.measured {
            writeln!(text, "{}", self.line(measured))?;
        }
        self.size_line(&mut text)?;
        writeln!(
            text,
            "\nSpread: half the distance between the quartiles, as a share of the median; and what others took of the processors meanwhile.\n"
        )?;
        writeln!(
            text,
            "| workload | {} | others | clock |\n|---|{}---:|---|",
            heads.join(" | "),
            "---:|".repeat(heads.len())
        )?;
        for measured in &self.measured {
            write!(text, "| {} |", measured.table.title)?;
            for engine in self.engines() {
                match measured.of(engine) {
                    Some(times) => write!(text, " {:.1} % |", 100.0 * Measured::spread(times))?,
                    None => write!(text, " |")?,
                }
            }
            match measured.others {
                Some(others) => write!(text, " {:.0} % |", 100.0 * others)?,
                None => write!(text, " |")?,
            }
            writeln!(text, " {} |", measured.table.clock)?;
        }
        writeln!(text, "\n| engine | what | sync |\n|---|---|---|")?;
        for maker in &self.makers {
            writeln!(text, "| {} | {} | {} |", maker.name, maker.what, maker.sync)?;
        }
        Ok(text)
    }

    fn size_line(&self, text: &mut String) -> Result<()> {
        let Some((_, floor)) = self.sizes.first() else { return Ok(()) };
        write!(text, "| size on disk after loading |")?;
        for engine in self.engines() {
            match self.sizes.iter().find(|(name, _)| *name == engine) {
                Some((_, bytes)) => {
                    let (bytes, floor) = (measure::count_of(bytes >> 10), measure::count_of(floor >> 10));
                    write!(text, " {:.1} MiB", bytes / 1024.0)?;
                    if engine != "floor" {
                        write!(text, " **{:.2}**", bytes / floor)?;
                    }
                    write!(text, " |")?;
                }
                None => write!(text, " |")?,
            }
        }
        writeln!(text, " |")?;
        Ok(())
    }

    fn json(&self) -> Value {
        let workloads: Vec<_> = self
            .measured
            .iter()
            .map(|measured| {
                let engines: serde_json::Map<_, _> = measured
                    .times
                    .iter()
                    .map(|times| {
                        let quantile = |share| measure::quantile(&times.rounds, share);
                        let ratio = measured.floor().map(|floor| measure::ratio(times, floor));
                        let figures = json!({
                            "median_ns": quantile(0.5),
                            "quartiles_ns": [quantile(0.25), quantile(0.75)],
                            "ratio_to_floor": ratio,
                            "rounds": times.rounds.len(),
                        });
                        (times.name.to_owned(), figures)
                    })
                    .collect();
                let (low, high) = measured.noise();
                json!({
                    "id": measured.table.id,
                    "title": measured.table.title,
                    "clock": measured.table.clock,
                    "noise": [low, high],
                    "others": measured.others,
                    "engines": engines,
                })
            })
            .collect();
        let sizes: serde_json::Map<_, _> =
            self.sizes.iter().map(|(name, bytes)| ((*name).to_owned(), json!(bytes))).collect();
        json!({
            "finished": self.finished,
            "employees": self.rows,
            "run": self.says,
            "workloads": workloads,
            "bytes_on_disk": sizes,
        })
    }

    /// Prints the tables, and writes them where they are wanted.
    pub(super) fn finish(mut self) -> Result<()> {
        self.finished = true;
        println!("{}", self.markdown()?);
        self.save()
    }

    /// Writes what there is so far, so that a run which is stopped leaves what it had.
    fn save(&self) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        std::fs::create_dir_all(out)?;
        std::fs::write(out.join("company.md"), self.markdown()?)?;
        std::fs::write(out.join("company.json"), format!("{:#}\n", self.json()))?;
        std::fs::write(out.join("company.svg"), chart::draw(&self.measured, &self.makers)?)?;
        Ok(())
    }
}

/// The bytes that files take on disk, whatever they say of their length: a map is mostly holes.
fn allocated(path: &Path) -> Result<u64> {
    let meta = std::fs::symlink_metadata(path)?;
    if !meta.is_dir() {
        return Ok(meta.blocks() * 512);
    }
    let mut bytes = 0;
    for entry in std::fs::read_dir(path)? {
        bytes += allocated(&entry?.path())?;
    }
    Ok(bytes)
}
