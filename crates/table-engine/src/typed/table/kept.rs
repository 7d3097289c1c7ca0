//! Layouts that a user's tests keep as files beside the source, so that a change of one shows in review.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use crate::schema::{self, Layout, Schema};

/// Compares the layouts of entities with those that are kept in a folder beside the source, in a test: a change of a layout
/// then shows in review.
///
/// Each layout is a text file, `employee.layout` for the kind `employee`. What differs is reported line by line, with what it
/// takes: nothing, a rebuild of an index, or a word in the declaration. `UPDATE_LAYOUTS=1 cargo test` writes the files.
///
/// ```
/// # use table_core::Entity;
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "department")]
/// #[key(partition = "{name}", row = "department")]
/// struct Department {
///     name: String,
///     head_count: u32,
/// }
///
/// # let _: fn() = || {
/// // In a test; the folder lies beside this file.
/// table_core::assert_layouts!("layouts", Department);
/// # };
/// ```
#[macro_export]
macro_rules! assert_layouts {
    ($folder:expr, $($entity:ty),+ $(,)?) => {
        if let ::core::result::Result::Err(differences) = $crate::__private::kept_layouts(
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::file!(),
            $folder,
            &[$(<$entity as $crate::Entity>::SCHEMA),+],
        ) {
            ::core::panic!("{differences}");
        }
    };
}

/// The variable that has the files written.
const UPDATE: &str = "UPDATE_LAYOUTS";

/// Compares the layouts of entities with those that are kept in a folder beside a source file, or writes them if
/// `UPDATE_LAYOUTS=1` says so. It returns what differs, and what that takes.
///
/// `package` is the folder of the package, and `source` the file as the compiler names it: from the package or from a
/// folder above it, whichever the compiler was started in.
#[inline]
pub fn kept_layouts(
    package: &str,
    source: &str,
    folder: &str,
    schemas: &[&'static Schema],
) -> Result<(), String> {
    let folder = beside(Path::new(package), Path::new(source)).join(folder);
    let updates = std::env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    compare(&folder, schemas, updates)
}

/// Returns the folder of the source file.
#[inline]
fn beside(package: &Path, source: &Path) -> PathBuf {
    let found = package.ancestors().map(|above| above.join(source)).find(|path| path.is_file());
    found.and_then(|path| path.parent().map(Path::to_path_buf)).unwrap_or_else(|| package.to_path_buf())
}

#[inline]
fn compare(folder: &Path, schemas: &[&'static Schema], updates: bool) -> Result<(), String> {
    let mut differences = String::new();
    for schema in schemas {
        let path = folder.join(schema.kind).with_extension("layout");
        let mut declared = schema::layout(schema);
        declared.push('\n');
        let kept = match fs::read_to_string(&path) {
            Ok(kept) => Some(kept.replace("\r\n", "\n")),
            Err(error) if error.kind() == IoErrorKind::NotFound => None,
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        if kept.as_deref() == Some(&*declared) {
            continue;
        }
        if updates {
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &declared));
            written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            continue;
        }
        // Writing to a `String` can't fail.
        let _: std::fmt::Result = match kept {
            None => writeln!(
                differences,
                "`{}` of the struct `{}` has no layout in {}",
                schema.kind,
                schema.entity,
                path.display()
            ),
            Some(kept) => writeln!(differences, "{}", difference(kept.trim_end(), schema, &path)),
        };
    }
    if differences.is_empty() {
        return Ok(());
    }
    let _: std::fmt::Result =
        write!(differences, "if that is meant, `{UPDATE}=1 cargo test` writes the layouts that are declared");
    Err(differences)
}

/// Returns a layout that is kept and what is declared, line by line, and what the difference takes.
#[inline]
fn difference(kept: &str, schema: &'static Schema, path: &Path) -> String {
    let (lines, takes) = if let Some(kept) = Layout::parse(kept, schema.kind) {
        let found = schema::differences_in(schema.table(), &kept, schema);
        let mut lines = found.map(|found| found.lines).unwrap_or_default();
        if lines.is_empty() {
            // What structs read makes no rows unreadable.
            lines = different_lines(&kept.to_string(), &schema::layout(schema));
        }
        (lines, schema::takes(&kept, schema))
    } else {
        let takes = "the text is no layout: write it anew";
        (different_lines(kept, &schema::layout(schema)), vec![takes.to_owned()])
    };
    format!(
        "`{}` of the struct `{}` is declared otherwise than in {} (- kept, + declared):\n  {}\nit takes:\n  {}",
        schema.kind,
        schema.entity,
        path.display(),
        lines.join("\n  "),
        takes.join("\n  ")
    )
}

/// Returns the lines that one of two texts alone has.
fn different_lines(kept: &str, declared: &str) -> Vec<String> {
    let only = |sign: char, of: &str, other: &str| -> Vec<String> {
        let lines = of.lines().filter(|line| other.lines().all(|there| there != *line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    [only('-', kept, declared), only('+', declared, kept)].concat()
}
