//! What stays as it was when a shell is begun anew: how lines are printed.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::output::Format;

/// The settings that last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) format: Option<Format>,
}

impl Settings {
    /// Reads the settings; those that can't be read are as if they had not been made.
    pub(super) fn load() -> Self {
        let text = path("settings").and_then(|path| fs::read_to_string(path).ok());
        Self::parse(text.as_deref().unwrap_or_default())
    }

    /// Keeps the settings.
    pub(super) fn save(self) -> io::Result<()> {
        let Some(path) = path("settings") else { return Ok(()) };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, self.to_text())
    }

    fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        for line in text.lines() {
            if let Some(("format", value)) =
                line.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
            {
                settings.format = Format::from_str(value, true).ok();
            }
        }
        settings
    }

    fn to_text(self) -> String {
        let format = self.format.as_ref().and_then(ValueEnum::to_possible_value);
        format.map_or_else(String::new, |format| format!("format = {}\n", format.get_name()))
    }
}

/// Returns where a file of the shell lies, in the user's directory for state; `None` if it is not known where that is.
pub(super) fn path(file: &str) -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = given("XDG_STATE_HOME").or_else(|| Some(given("HOME")?.join(".local").join("state")))?;
    Some(state.join("tables").join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_kept() {
        let csv = Settings { format: Some(Format::Csv) };
        assert_eq!(Settings::parse(&csv.to_text()), csv);
        assert_eq!(Settings::parse("format = nonsense\nother = 1\nno line"), Settings::default());
        assert_eq!(Settings::default().to_text(), "");
    }
}
