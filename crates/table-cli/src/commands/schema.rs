//! `tables schema`: how kinds are declared, drawn.

use clap::{Args, ValueEnum};
use table_core::introspect::KindInfo;
use table_core::schema::Form;

use crate::failure::{Exit, Failure};
use crate::kinds::Kinds;
use crate::session::Session;
use crate::target::Target;

/// The arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// TABLE, or TABLE/KIND; all tables if it is left out
    target: Option<Target>,
    /// How to draw it
    #[arg(long = "as", value_enum, default_value_t = Drawing::Text)]
    drawing: Drawing,
}

/// How a kind is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// Its rows, and what is read for each question that they answer
    Text,
    /// The text as tables of Markdown
    Markdown,
    /// For programs
    Json,
    /// A picture
    Svg,
    /// A diagram for a README
    Mermaid,
    /// What the store has noted, line by line
    Layout,
}

impl Schema {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let kinds = session.kinds()?;
        let found = self.kinds(session, &kinds)?;
        if self.drawing == Drawing::Json {
            let drawn: Vec<_> = found.iter().map(|kind| kind.design().drawn(Form::Json)).collect();
            // A list, however many there are: a program need not look.
            session.output().text(&format!("[{}]", drawn.join(",\n")))?;
            return Ok(Exit::Done);
        }
        let drawn: Vec<_> = found.iter().map(|kind| self.draw(kind).trim_end().to_owned()).collect();
        if !drawn.is_empty() {
            session.output().text(&drawn.join("\n\n"))?;
        }
        Ok(Exit::Done)
    }

    fn kinds<'k>(
        &'k self,
        session: &mut Session<'_>,
        kinds: &'k Kinds,
    ) -> Result<Vec<&'k KindInfo>, Failure> {
        let Some(target) = &self.target else {
            return Ok(kinds.all().iter().filter(|kind| kind.lies_here()).collect());
        };
        if target.has_kind() {
            return Ok(vec![target.find_kind(kinds)?]);
        }
        // A table that is not there is told from one without kinds.
        session.table(&target.table)?;
        let found: Vec<_> = kinds.in_table(&target.table).collect();
        if found.is_empty() {
            session.note(format!("no kind of entities is declared in table `{}`", target.table));
        }
        Ok(found)
    }

    fn draw(&self, kind: &KindInfo) -> String {
        let design = kind.design();
        match self.drawing {
            Drawing::Text => format!("{}\n\n{}", design.drawn(Form::Text), design.access_text()),
            Drawing::Markdown => format!("{}\n\n{}", design.drawn(Form::Markdown), design.access_markdown()),
            Drawing::Json => design.drawn(Form::Json),
            Drawing::Svg => design.drawn(Form::Svg),
            Drawing::Mermaid => design.drawn(Form::Mermaid),
            Drawing::Layout => format!("{}/{}\n{}", kind.table(), kind.kind(), kind.layout()),
        }
    }
}
