//! Every page of a state, once.
//!
//! A search or a scan can't tell that a page is used twice, that a page in use is in the list of free ones, that a
//! field which LMDB alone goes by is wrong, or that a key of a branch is not between those that others begin or end with.
//! The pages are read where they are mapped, in the snapshot in which the rest of a check reads.
//!
//! [`verify`](crate::raw_pages::verify) reads the file and asks for more, since nothing else has been looked at by then. A page that
//! is neither used nor free is no problem: it costs room, and a copy of the environment takes it along.

use std::ops::ControlFlow;

use heed::RoTxn;

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::free_list::can_be_right;
use crate::header::Header;
use crate::page_set::PageSet;
use crate::pages::{BIG_DATA, HEADER, OVERFLOW, SUB_DATABASE};
use crate::raw_pages::{DEEPEST, FIRST_PAGE, Kind};
use crate::reader::PageReader;
use crate::tree::{KeyBounds, NO_PAGE, Node, Page, TreeRecord, described, described_with_flags};

struct Whole<'e, 't> {
    reader: &'e PageReader,
    txn: &'t RoTxn<'t>,
    header: Header,
    seen: PageSet,
    trees: Vec<Tree>,
    /// Pages to look at.
    pending: Vec<Pending<'t>>,
    report: PagesReport,
}

/// A tree as LMDB's record of it has it. LMDB goes by what it says, and so do proofs that an entry is absent.
struct Tree {
    kind: Kind,
    depth: u32,
    entries: u64,
    /// The entries of its leaves that were met.
    met: u64,
}

/// A page to look at.
struct Pending<'t> {
    number: u64,
    /// How many pages are above it in its tree.
    above: u32,
    /// The tree's place among those that are known.
    tree: usize,
    bounds: KeyBounds<'t>,
}

impl PageReader {
    /// Looks at every page that a snapshot can reach, and at the list of the pages that are free in it.
    pub fn check_pages<'t>(&self, txn: &'t RoTxn<'t>) -> PagesReport {
        self.check_pages_of(txn, txn.id())
    }

    /// Refuses to have a value changed or removed whose pages may be others', too. LMDB frees the pages that the value's first
    /// says it is the first of, and as many as it says that there are: a damaged number makes pages free that are in use.
    ///
    /// A value that shrank in the very transaction that wrote it has more pages than it takes. So a greater number is no
    /// damage by itself: then every page is looked at, which is seldom and takes long.
    pub fn check_run(&self, txn: &RoTxn<'_>, state: usize, value: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let pages = self.pages();
        if self.met.are_all() || pages.of(value).is_none() {
            return Ok(());
        }
        if !pages.is_own(value) {
            return Err(Error::map(pages.number(value), "the page of a value says that it is another"));
        }
        if !pages.has_spare(value)? {
            return Ok(());
        }
        let run = pages.run_of(value);
        if !self.met.pages().has(run.start) {
            self.check_pages_of(txn, state).problems.into_iter().next().map_or(Ok(()), Err)?;
            let mut met = self.met.pages();
            run.for_each(|number| met.add(number));
        }
        Ok(())
    }

    /// Looks at every page of the state that a transaction sees, or began with.
    #[cold]
    fn check_pages_of<'t>(&self, txn: &'t RoTxn<'t>, state: usize) -> PagesReport {
        let none = PagesReport { problems: Vec::new(), are_whole: true };
        // Two commits later the header is gone.
        let state = u64::try_from(state).unwrap_or(u64::MAX);
        let Some(header) = self.header(state) else { return none };
        let mut whole = Whole {
            reader: self,
            txn,
            header,
            seen: PageSet::up_to(header.last_page),
            trees: Vec::new(),
            pending: Vec::new(),
            report: none,
        };
        for (record, kind) in header.trees.iter().zip([Kind::Free, Kind::Main]) {
            // The list of free pages has flags, and databases have none: of theirs `described` sees to that.
            let described = described_with_flags(record).ok_or_else(wrong_record);
            let done = described.and_then(|(_, described)| whole.tree(kind, described));
            whole.note(done);
        }
        while let Some(page) = whole.pending.pop() {
            let done = whole.page(&page);
            whole.note(done);
        }
        if whole.report.problems.is_empty() && whole.trees.iter().any(|tree| tree.met != tree.entries) {
            whole.note_readable(Err(wrong_record()));
        }
        let done = whole.free_list();
        whole.note_readable(done);
        whole.report
    }
}

/// The outcome of a look at the pages of a state.
#[derive(Debug)]
pub struct PagesReport {
    /// The problems, up to a hundred.
    pub problems: Vec<Error>,
    /// Whether the entries of each page lie on it and fill it, and each page is used once. Otherwise LMDB may end the process
    /// that has it go there.
    pub are_whole: bool,
}

/// The most problems that are kept.
const MOST_PROBLEMS: usize = 100;

impl<'t> Whole<'_, 't> {
    /// Notes what is wrong with a page or a tree, and goes on to the others.
    fn note(&mut self, done: Result<()>) {
        self.report.are_whole &= done.is_ok();
        self.note_readable(done);
    }

    /// Notes what was found wrong in pages that LMDB can go through.
    fn note_readable(&mut self, done: Result<()>) {
        if let Err(error) = done
            && self.report.problems.len() < MOST_PROBLEMS
        {
            self.report.problems.push(error);
        }
    }

    /// Takes in the list of free pages, none of which may be known yet.
    fn free_list(&mut self) -> Result<()> {
        let (reader, txn, header) = (self.reader, self.txn, self.header);
        let mut done = Ok(());
        let complete = reader.each_list(txn, &header, |freed_by, list| {
            done = if can_be_right(&header, freed_by, list) {
                list.iter().try_for_each(|number| self.claim(u64::from_le_bytes(*number), 1))
            } else {
                Err(corrupt("the list of free pages is damaged".into()))
            };
            if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        done?;
        if complete { Ok(()) } else { Err(corrupt("the list of free pages can't be read".into())) }
    }

    /// Takes note of a tree, whose pages are looked at later.
    fn tree(&mut self, kind: Kind, TreeRecord { depth, entries, root }: TreeRecord) -> Result<()> {
        if root == NO_PAGE {
            return if (depth, entries) == (0, 0) { Ok(()) } else { Err(wrong_record()) };
        }
        let tree = self.trees.len();
        self.trees.push(Tree { kind, depth, entries, met: 0 });
        self.visit(Pending { number: root, above: 0, tree, bounds: KeyBounds::default() })
    }

    fn visit(&mut self, page: Pending<'t>) -> Result<()> {
        self.claim(page.number, 1)?;
        if page.above >= DEEPEST {
            return Err(Error::map(
                Some(page.number),
                format!("page {} lies deeper than any tree", page.number),
            ));
        }
        self.pending.push(page);
        Ok(())
    }

    /// Marks pages as known; none of them may be known yet.
    fn claim(&mut self, first: u64, count: u64) -> Result<()> {
        let claimed = self.claim_each(first, count);
        // A page that belongs to another tree has entries of another kind.
        self.report.are_whole &= claimed.is_ok();
        claimed
    }

    fn claim_each(&mut self, first: u64, count: u64) -> Result<()> {
        let end = first.checked_add(count).filter(|end| *end <= self.header.last_page + 1);
        let Some(end) = end.filter(|_| first >= FIRST_PAGE) else {
            return Err(corrupt(format!(
                "{count} pages from {first} on are referred to, and the last page is number {}",
                self.header.last_page
            )));
        };
        for number in first..end {
            if !self.seen.add(number) {
                return Err(Error::map(
                    Some(number),
                    format!("page {number} is used twice, or in use and free"),
                ));
            }
        }
        Ok(())
    }

    fn page(&mut self, &Pending { number, above, tree, bounds }: &Pending<'t>) -> Result<()> {
        let damaged = || Error::map(Some(number), format!("page {number} is damaged"));
        let Some(page) = self.whole_page(number) else {
            return Err(damaged());
        };
        let kind = self.trees.get(tree).ok_or_else(damaged)?.kind;
        // What lies below, or beside, is looked at all the same: whether LMDB can go there hangs on each page.
        if !keys_rise(&page, kind, bounds) {
            self.note_readable(Err(damaged()));
        }
        if page.is_branch() {
            for at in 0..page.len() {
                let node = page.node(at).ok_or_else(damaged)?;
                // LMDB never reads the first key of a branch: its entry leads to every key below the second.
                let low = if at == 0 { bounds.low } else { Some(node.key) };
                let bounds = KeyBounds { low, high: page.key(at + 1).or(bounds.high) };
                let visited = self.visit(Pending { number: node.child(), above: above + 1, tree, bounds });
                self.note(visited);
            }
            return Ok(());
        }
        let tree = self.trees.get_mut(tree).ok_or_else(damaged)?;
        tree.met += u64::try_from(page.len()).unwrap_or(u64::MAX);
        if above + 1 != tree.depth {
            self.note(Err(wrong_record()));
        }
        for at in 0..page.len() {
            let node = page.node(at).ok_or_else(damaged)?;
            match self.entry(&node, kind) {
                Some(right) => self.note_readable(right),
                None => self.note(Err(damaged())),
            }
        }
        Ok(())
    }

    /// Looks at an entry of a leaf, and at what it leads to. `None` if no entry can be so.
    fn entry(&mut self, node: &Node<'_>, kind: Kind) -> Option<Result<()>> {
        let is_main = kind == Kind::Main;
        match (node.flags, is_main && self.reader.names().have(node.key)) {
            (0, false) => Some(Ok(())),
            (BIG_DATA, false) => Some(self.value(Fields(node.rest).u64()?, u64::from(node.size))),
            // A program may have made databases of other names.
            (SUB_DATABASE, _) if is_main => {
                let record = node.rest.get(..usize::try_from(node.size).ok()?)?;
                let visited = self.tree(Kind::Named, described(record)?);
                // Its pages have not been looked at.
                self.report.are_whole &= visited.is_ok();
                Some(visited)
            }
            // A database that is not said to be one can't be opened. An entry that is said to be one LMDB reads as ever, and
            // refuses to remove; one that is said to have several values ends the process.
            _ => None,
        }
    }

    /// Returns the page of this number, if its entries lie on it and fill it.
    fn whole_page(&self, number: u64) -> Option<Page<'t>> {
        let bytes = self.reader.page(self.txn, number)?;
        Page::parse(bytes, number).filter(Page::is_whole)
    }

    /// Looks at the first page of a value of `size` bytes, and claims all its pages.
    fn value(&mut self, first: u64, size: u64) -> Result<()> {
        let damaged = || Error::map(Some(first), format!("page {first} does not start a value"));
        let head = self.reader.span(self.txn, first, HEADER).ok_or_else(damaged)?;
        let mut fields = Fields(head);
        let own = fields.u64().ok_or_else(damaged)?;
        fields.bytes(4).ok_or_else(damaged)?;
        let pages = u64::from(fields.u32().ok_or_else(damaged)?);
        let room = pages.saturating_mul(self.header.page_size);
        let header = u64::try_from(HEADER).unwrap_or_default();
        if own != first || flags(head) != Some(OVERFLOW) || size + header > room {
            return Err(damaged());
        }
        self.claim(first, pages)
    }
}

/// Returns whether the keys of a page rise, and stay between those that lead to it.
fn keys_rise(page: &Page<'_>, kind: Kind, KeyBounds { low, high }: KeyBounds<'_>) -> bool {
    // The first key of a branch stands for none. On a leaf the first may be the very key that leads there.
    let (first, mut before) =
        if page.is_branch() { (1, low.map(|low| (low, false))) } else { (0, low.map(|low| (low, true))) };
    (first..page.len()).all(|at| {
        let Some(key) = page.key(at) else { return false };
        let rises = before.replace((key, false)).is_none_or(|(before, may_equal)| {
            let order = kind.compare(before, key);
            order.is_lt() || may_equal && order.is_eq()
        });
        rises && high.is_none_or(|high| kind.compare(key, high).is_lt())
    })
}

/// Returns the kind of page that a page says it is.
fn flags(page: &[u8]) -> Option<u16> {
    let mut fields = Fields(page);
    fields.bytes(10)?;
    fields.u16()
}

#[cold]
fn wrong_record() -> Error {
    corrupt("LMDB's record of a database says of it what its pages don't".into())
}

#[cold]
fn corrupt(what: String) -> Error {
    Error::map(None, what)
}
