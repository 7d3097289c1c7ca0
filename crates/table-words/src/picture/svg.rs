//! Pictures as SVG: the chart that books on keyed tables draw, with a line for each kind of row beside its keys.

use super::{Design, DesignKey, DesignRow, KeyPiece, RowRole, push};

/// Where a picture stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a file: it has colours of its own, light or dark as its viewer is.
    File,
    /// In a page, whose colours it has.
    Page,
}

const WIDTH: usize = 700;
/// Where the columns begin.
const PARTITION: usize = 0;
const ROW: usize = 168;
const ENTITY: usize = 378;
/// Between the border of a cell and what stands there.
const PAD: usize = 12;
const LINE: usize = 17;
const TITLE: usize = 40;
const HEAD: usize = 26;
/// Around a picture in a file, which has a background.
const MARGIN: usize = 16;

/// How a piece looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Title,
    Head,
    /// What is read first: the name of a kind, a field of a key.
    Strong,
    /// What is read second: text of a key, a type.
    Faint,
    Plain,
}

/// The colours of a file, in both themes.
const STYLE: &str = "<style>\
    svg{--back:#fff;--ink:#1f2328;--faint:#59636e;--line:#d1d9e0;--tint:#eef4fb;--mark:#0969da}\
    @media(prefers-color-scheme:dark){svg{--back:#0d1117;--ink:#f0f6fc;--faint:#9198a1;--line:#3d444d;--tint:#131d2c;--mark:#4493f8}}\
    .back{fill:var(--back)}.ink{fill:var(--ink)}.faint{fill:var(--faint)}.line{stroke:var(--line)}\
    .tint{fill:var(--tint)}.mark{fill:var(--mark)}.pill{fill:none;stroke:var(--line)}\
    </style>";

const CODE: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
const WORDS: &str = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif";

pub(super) fn draw(design: &Design, place: Place) -> String {
    let mut picture = Picture { place, body: String::new(), y: TITLE };
    picture.title(design);
    picture.head();
    let mut rows = design.rows.as_slice();
    let mut is_first = true;
    while let Some(first) = rows.first() {
        let is_beside = |row: &&DesignRow| row.partition == first.partition && row.table == first.table;
        let count = rows.iter().take_while(is_beside).count().max(1);
        let (group, rest) = rows.split_at_checked(count).unwrap_or((rows, &[]));
        picture.group(group, is_first);
        (rows, is_first) = (rest, false);
    }
    picture.finish(design)
}

struct Picture {
    place: Place,
    body: String,
    /// How far down it is drawn.
    y: usize,
}

/// A piece of a line.
#[derive(Clone)]
struct Span {
    text: String,
    look: Look,
}

impl Picture {
    fn title(&mut self, design: &Design) {
        let entity = Span { text: design.title().to_owned(), look: Look::Title };
        let mut about = format!("  table {}", design.table);
        if design.entity.is_some() {
            push(&mut about, format_args!(" · kind {}", design.kind));
        }
        if design.version > 1 {
            push(&mut about, format_args!(" · version {}", design.version));
        }
        let about = Span { text: about, look: Look::Faint };
        self.text_at(PARTITION, 24, &[entity, about]);
    }

    fn head(&mut self) {
        self.rule(self.y, PARTITION, WIDTH);
        for (at, title) in [(PARTITION, "Partition key"), (ROW, "Row key"), (ENTITY, "Row")] {
            let title = Span { text: title.to_owned(), look: Look::Head };
            self.text_at(at + PAD, self.y + 17, &[title]);
        }
        self.y += HEAD;
        self.rule(self.y, PARTITION, WIDTH);
    }

    /// Draws the rows of one partition key.
    fn group(&mut self, rows: &[DesignRow], is_first: bool) {
        let Some(first) = rows.first() else { return };
        let top = self.y;
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                self.rule(self.y, ROW, WIDTH);
            }
            self.row(row);
        }
        let mut lines = wrapped(&spans_of_key(&first.partition), columns(ROW - PARTITION));
        if !is_first {
            let table = first
                .table
                .as_ref()
                .map_or_else(|| "another partition".to_owned(), |table| format!("table {table}"));
            lines.extend(wrapped(&[vec![Span { text: table, look: Look::Faint }]], columns(ROW - PARTITION)));
        }
        let needed = lines.len() * LINE + PAD;
        self.y = self.y.max(top + needed);
        for (at, line) in lines.iter().enumerate() {
            self.text_at(PARTITION + PAD, top + 20 + at * LINE, line);
        }
        self.rule(self.y, PARTITION, WIDTH);
    }

    fn row(&mut self, row: &DesignRow) {
        let top = self.y;
        let keys = wrapped(&spans_of_key(&row.row), columns(ENTITY - ROW));
        let held = wrapped(&spans_of_held(row), columns(WIDTH - ENTITY));
        let mut pills = Vec::new();
        let (mut x, mut line) = (ENTITY + PAD, 0);
        let mut name = row.kind.clone();
        if let RowRole::Part(part) = row.role {
            push(&mut name, format_args!(", part {part}"));
        }
        let names = wrapped(&[vec![Span { text: name, look: Look::Strong }]], columns(WIDTH - ENTITY));
        if let Some(last) = names.last() {
            line = names.len() - 1;
            x += width(last) + 10;
        }
        // The table stands beside the partition key.
        for note in row.notes().into_iter().filter(|note| !is_of_table(note, row)) {
            let note = shortened(&note, 44);
            let wide = 16 + note.chars().map(breadth).sum::<usize>() / 10;
            if x + wide > WIDTH - PAD && x > ENTITY + PAD {
                (x, line) = (ENTITY + PAD, line + 1);
            }
            pills.push((x, line, wide, note));
            x += wide + 6;
        }
        let lines = keys.len().max(line + 1 + held.len());
        self.y = top + lines * LINE + PAD;
        if row.role == RowRole::Entity {
            self.tint(top, self.y);
        }
        for (at, spans) in keys.iter().enumerate() {
            self.text_at(ROW + PAD, top + 20 + at * LINE, spans);
        }
        for (at, spans) in names.iter().enumerate() {
            self.text_at(ENTITY + PAD, top + 20 + at * LINE, spans);
        }
        for (x, at, wide, note) in pills {
            self.pill([x, top + 8 + at * LINE, wide], &note);
        }
        for (at, spans) in held.iter().enumerate() {
            self.text_at(ENTITY + PAD, top + 20 + (line + 1 + at) * LINE, spans);
        }
    }

    fn paint(&self, class: &str) -> String {
        match (self.place, class) {
            (Place::File, class) => format!("class=\"{class}\""),
            (Place::Page, "ink") => "fill=\"currentColor\"".to_owned(),
            (Place::Page, "faint") => "fill=\"currentColor\" fill-opacity=\".7\"".to_owned(),
            (Place::Page, "line") => "stroke=\"currentColor\" stroke-opacity=\".25\"".to_owned(),
            (Place::Page, "tint") => "fill=\"currentColor\" fill-opacity=\".06\"".to_owned(),
            (Place::Page, "mark") => "fill=\"currentColor\" fill-opacity=\".6\"".to_owned(),
            (Place::Page, _) => "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".35\"".to_owned(),
        }
    }

    fn rule(&mut self, y: usize, from: usize, to: usize) {
        let paint = self.paint("line");
        push(&mut self.body, format_args!("<path d=\"M{from} {y}.5H{to}\" {paint}/>"));
    }

    /// Draws the ground of the entity's own row, and a bar beside it.
    fn tint(&mut self, top: usize, bottom: usize) {
        let (tint, mark, height) = (self.paint("tint"), self.paint("mark"), bottom - top);
        let wide = WIDTH - ROW;
        push(
            &mut self.body,
            format_args!("<rect x=\"{ROW}\" y=\"{top}\" width=\"{wide}\" height=\"{height}\" {tint}/>"),
        );
        push(
            &mut self.body,
            format_args!("<rect x=\"{ROW}\" y=\"{top}\" width=\"3\" height=\"{height}\" {mark}/>"),
        );
    }

    fn pill(&mut self, [x, y, wide]: [usize; 3], text: &str) {
        let paint = self.paint("pill");
        push(
            &mut self.body,
            format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"16\" rx=\"8\" {paint}/>"),
        );
        let ink = self.paint("ink");
        let (x, y) = (x + wide / 2, y + 12);
        push(
            &mut self.body,
            format_args!(
                "<text x=\"{x}\" y=\"{y}\" font-family=\"{WORDS}\" font-size=\"11\" text-anchor=\"middle\" {ink}>{}</text>",
                escaped(text)
            ),
        );
    }

    fn text_at(&mut self, x: usize, y: usize, spans: &[Span]) {
        // Spaces stay as they are, so that one piece ends where the next begins.
        push(
            &mut self.body,
            format_args!("<text x=\"{x}\" y=\"{y}\" xml:space=\"preserve\" font-size=\"12\">"),
        );
        for Span { text, look } in spans {
            let (paint, font) = match look {
                Look::Title => {
                    ("ink", format!("font-family=\"{WORDS}\" font-size=\"16\" font-weight=\"600\""))
                }
                Look::Head => ("faint", format!("font-family=\"{WORDS}\" font-weight=\"600\"")),
                Look::Strong => ("ink", format!("font-family=\"{CODE}\" font-weight=\"600\"")),
                Look::Faint => ("faint", format!("font-family=\"{CODE}\"")),
                Look::Plain => ("ink", format!("font-family=\"{CODE}\"")),
            };
            let paint = self.paint(paint);
            push(&mut self.body, format_args!("<tspan {font} {paint}>{}</tspan>", escaped(text)));
        }
        self.body.push_str("</text>");
    }

    fn finish(self, design: &Design) -> String {
        let height = self.y + 1;
        let title = escaped(&format!("The rows of {} in table {}", design.title(), design.table));
        let open = |left: usize, top: usize, wide: usize, high: usize| {
            let shift = if left == 0 { String::new() } else { format!("-{left} -{top} ") };
            let shift = if shift.is_empty() { "0 0 ".to_owned() } else { shift };
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"{shift}{wide} {high}\" width=\"{wide}\" \
                 style=\"max-width:100%\"><title>{title}</title>"
            )
        };
        match self.place {
            Place::Page => format!("{}{}</svg>", open(0, 0, WIDTH, height), self.body),
            Place::File => {
                let (wide, high) = (WIDTH + 2 * MARGIN, height + 2 * MARGIN);
                format!(
                    "{}{STYLE}<rect x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{wide}\" height=\"{high}\" class=\"back\"/>{}</svg>\n",
                    open(MARGIN, MARGIN, wide, high),
                    self.body
                )
            }
        }
    }
}

/// Returns how many characters a column of this width has room for.
const fn columns(wide: usize) -> usize {
    // The fonts' letters are at most 7.25 wide.
    (wide - PAD - 6) * 100 / 725
}

/// Returns how many letters wide a text is: those of the far east are as wide as two.
fn units(text: &str) -> usize {
    text.chars().map(breadth_of).sum()
}

fn breadth_of(c: char) -> usize {
    if c >= '\u{1100}' { 2 } else { 1 }
}

fn width(spans: &[Span]) -> usize {
    spans.iter().map(|span| units(&span.text)).sum::<usize>() * 725 / 100
}

fn is_of_table(note: &str, row: &DesignRow) -> bool {
    row.table.as_ref().is_some_and(|table| note.strip_prefix("in table ") == Some(table))
}

/// Returns about ten times the breadth of a letter in a pill.
fn breadth(letter: char) -> usize {
    match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | '(' | ')' => 42,
        'm' | 'w' | 'M' | 'W' => 104,
        letter if letter >= '\u{1100}' => 115,
        letter if letter.is_uppercase() => 76,
        _ => 67,
    }
}

fn shortened(text: &str, most: usize) -> String {
    if units(text) <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if units(&short) + 2 > most {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

fn spans_of_key(key: &DesignKey) -> Vec<Vec<Span>> {
    let span = |piece: &KeyPiece| {
        let look = if matches!(piece, KeyPiece::Field(_)) { Look::Strong } else { Look::Faint };
        vec![Span { text: piece.to_string(), look }]
    };
    key.pieces.iter().map(span).collect()
}

/// Returns the properties of a row, each with its type behind it.
fn spans_of_held(row: &DesignRow) -> Vec<Vec<Span>> {
    if row.holds.is_empty() && row.role == RowRole::Copy {
        return vec![vec![Span { text: "the key alone".to_owned(), look: Look::Faint }]];
    }
    let count = row.holds.len();
    let span = |(at, held): (usize, &super::Held)| {
        let end = if at + 1 < count { ",  " } else { "" };
        vec![
            Span { text: format!("{} ", held.name), look: Look::Plain },
            Span { text: format!("{}{end}", held.what), look: Look::Faint },
        ]
    };
    row.holds.iter().enumerate().map(span).collect()
}

/// Returns pieces in lines of at most so many letters. A piece is broken where it alone is longer: behind a space if it has one
/// there.
fn wrapped(pieces: &[Vec<Span>], most: usize) -> Vec<Vec<Span>> {
    let mut lines = Lines { done: Vec::new(), line: Vec::new(), used: 0, most };
    for piece in pieces {
        let wide = piece.iter().map(|span| units(&span.text)).sum::<usize>();
        let spaces = piece.last().map_or(0, |last| last.text.len() - last.text.trim_end().len());
        lines.make_room(wide - spaces);
        for span in piece {
            // Words, each with the spaces behind it.
            for word in span.text.split_inclusive(' ') {
                // Spaces alone stay at the end of a line.
                if !word.trim_end().is_empty() {
                    lines.make_room(units(word.trim_end()));
                }
                word.chars().for_each(|c| lines.push(c, span.look));
            }
        }
    }
    lines.finish()
}

struct Lines {
    done: Vec<Vec<Span>>,
    line: Vec<Span>,
    /// How wide the last line is.
    used: usize,
    most: usize,
}

impl Lines {
    /// Begins a new line unless this one has room for so much.
    fn make_room(&mut self, wide: usize) {
        if self.used > 0 && self.used + wide > self.most {
            self.done.push(std::mem::take(&mut self.line));
            self.used = 0;
        }
    }

    fn push(&mut self, c: char, look: Look) {
        if c != ' ' {
            self.make_room(breadth_of(c));
        }
        self.used += breadth_of(c);
        match self.line.last_mut() {
            Some(last) if last.look == look => last.text.push(c),
            _ => self.line.push(Span { text: c.to_string(), look }),
        }
    }

    fn finish(mut self) -> Vec<Vec<Span>> {
        if !self.line.is_empty() {
            self.done.push(self.line);
        }
        self.done
    }
}

/// Returns a text as it stands in XML, without what no XML may hold.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() || is_direction(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Returns whether a character turns the direction of what follows.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
