//! Posts: a row for each pair of elements of two lists, and a unique one for each element of a set; more rows than a
//! transaction takes; an index of what may be absent; escaped partitions; fields with a default, and not stored.

use std::collections::BTreeSet;

use integration_tests::random::Random;
use table_core::{Entity, ErrorKind, Key, Partition, Patch, Table};

use super::shape::{Row, Shape, TEXTS, escaped, json, text};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Posts", kind = "post")]
#[key(partition = "{blog:escaped}", row = "post_{id:offset}")]
#[index(by_pair, row = "pair_{tags[]:escaped}!{places[]}_{id:offset}", copy = keys, as(tag, place))]
#[index(by_slug, row = "slug_{slugs[]}", unique, copy(title), as = slug)]
#[index(by_parent, row = "parent_{parent:04}_{id:offset}", copy(title))]
pub(super) struct Post {
    blog: String,
    id: i8,
    #[property(json)]
    tags: Vec<String>,
    places: Vec<u8>,
    #[property(json)]
    slugs: BTreeSet<String>,
    #[property(skip)]
    shown: u32,
    parent: Option<u64>,
    title: String,
    #[property(default)]
    votes: i32,
}

const SLUGS: [&str; 5] = ["a", "ab", "a!", "", "\u{1f600}"];

impl Shape for Post {
    fn random(random: &mut Random) -> Self {
        let (tags, places) = match random.below(24) {
            // Too many for one transaction, and at the very limit.
            0 => (11, 10),
            1 => (10, 10),
            2 => (9, 9),
            3 => (6, 6),
            _ => (random.below(3), random.below(4)),
        };
        let tags: Vec<_> = match tags {
            0..4 => (0..tags).map(|_| text(random)).collect(),
            _ => (0..tags).map(|tag| format!("t{tag}")).collect(),
        };
        let places = match places {
            0..4 => (0..places).map(|_| random.below(3) as u8 * 100).collect(),
            _ => (0..places as u8).collect(),
        };
        let mut slugs: BTreeSet<_> =
            (0..random.below(3)).map(|_| SLUGS[random.below(5) as usize].to_owned()).collect();
        if random.below(30) == 0 {
            slugs.insert("a/b".to_owned());
        }
        Self {
            blog: TEXTS[random.below(3) as usize + 4].to_owned(),
            id: [i8::MIN, -2, -1, 0, 1, i8::MAX][random.below(6) as usize],
            tags,
            places,
            slugs,
            shown: 0,
            parent: [None, Some(0), Some(9_999), Some(10_000)][random.below(4) as usize]
                .filter(|parent| *parent < 10_000 || random.below(8) == 0),
            title: text(random),
            votes: random.below(2) as i32,
        }
    }

    fn partition_key(&self) -> String {
        escaped(&self.blog)
    }

    fn row_key(&self) -> String {
        format!("post_{:03}", i32::from(self.id) + 128)
    }

    fn rows(&self) -> Result<Vec<Row>, ErrorKind> {
        let (id, tags) = (i32::from(self.id) + 128, self.tags.iter().collect::<BTreeSet<_>>());
        let places: BTreeSet<_> = self.places.iter().collect();
        let row = Row::new("post", self.row_key())
            .with("Tags", json(&self.tags))
            .with("Places", self.places.clone())
            .with("Slugs", json(&self.slugs))
            .maybe("Parent", self.parent.map(|parent| parent as i64))
            .with("Title", self.title.as_str())
            .with("Votes", self.votes);
        let mut rows = vec![row];
        if tags.len() * places.len() > 100 {
            return Err(ErrorKind::BatchLength);
        }
        for tag in &tags {
            for place in &places {
                rows.push(Row::new("post.by_pair", format!("pair_{}!{place:03}_{id:03}", escaped(tag))));
            }
        }
        for slug in &self.slugs {
            if slug.contains('/') {
                return Err(ErrorKind::InvalidKey);
            }
            rows.push(
                Row::unique("post.by_slug", format!("slug_{slug}"))
                    .with("Id", i32::from(self.id))
                    .with("Title", self.title.as_str()),
            );
        }
        if let Some(parent) = self.parent {
            if parent > 9_999 {
                return Err(ErrorKind::ValueOutOfRange);
            }
            rows.push(
                Row::new("post.by_parent", format!("parent_{parent:04}_{id:03}"))
                    .with("Title", self.title.as_str()),
            );
        }
        // Even if it got them one after another.
        if rows.len() > 100 { Err(ErrorKind::BatchLength) } else { Ok(rows) }
    }

    fn key(&self) -> Key<Self> {
        Self::key(&self.blog, self.id)
    }

    fn partition(&self) -> Partition<Self> {
        Self::partition(self.blog.as_str())
    }

    fn set_partition(&mut self, other: &Self) {
        self.blog.clone_from(&other.blog);
    }

    fn set_row(&mut self, other: &Self) {
        self.id = other.id;
    }

    fn set_unique(&mut self, other: &Self) {
        self.slugs.clone_from(&other.slugs);
    }

    fn set(&mut self, other: &Self, mask: u64) {
        let Self { blog: _, id: _, tags, places, slugs, shown: _, parent, title, votes } = self;
        for bit in (0..6).filter(|bit| mask >> bit & 1 == 1) {
            match bit {
                0 => tags.clone_from(&other.tags),
                1 => places.clone_from(&other.places),
                2 => slugs.clone_from(&other.slugs),
                3 => *parent = other.parent,
                4 => title.clone_from(&other.title),
                _ => *votes = other.votes,
            }
        }
    }

    fn patch(other: &Self, mask: u64) -> Patch<Self> {
        (0..6).filter(|bit| mask >> bit & 1 == 1).fold(Self::patch(), |patch, bit| match bit {
            0 => patch.tags(other.tags.clone()),
            1 => patch.places(other.places.clone()),
            2 => patch.slugs(other.slugs.clone()),
            3 => patch.parent(other.parent),
            4 => patch.title(other.title.as_str()),
            _ => patch.votes(other.votes),
        })
    }

    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random) {
        let probe = Self::random(random);
        let of_blog = || entities.iter().copied().filter(|post| post.blog == probe.blog);
        let slug = SLUGS[random.below(5) as usize];
        let found = table.get(Self::by_slug(&probe.blog, slug)).unwrap();
        let expected = of_blog().find(|post| post.slugs.contains(slug));
        let found = found.map(|row| (row.id, row.title.clone()));
        assert_eq!(found, expected.map(|post| (post.id, post.title.clone())));

        let tag = text(random);
        let found = table.by_pair().blog(&probe.blog).tag(&tag).place(100..).into_iter();
        let mut found: Vec<_> = found.map(|row| row.unwrap().id).collect();
        found.sort_unstable();
        let mut expected: Vec<_> = of_blog()
            .filter(|post| post.tags.contains(&tag))
            .flat_map(|post| {
                let places: BTreeSet<_> = post.places.iter().filter(|place| **place >= 100).collect();
                places.into_iter().map(|_| post.id)
            })
            .collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
