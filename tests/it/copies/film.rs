//! Films: a unique index, one that copies a field, a row for each actor, and one that is sparse twice over.

use std::collections::BTreeSet;

use integration_tests::random::Random;
use table_core::{Entity, ErrorKind, Key, Partition, Patch, Table};

use super::shape::{Row, Shape, TEXTS, escaped, json, text};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Films", kind = "film")]
#[key(partition = "{studio}", row = "film_{id:04}")]
#[index(by_title, row = "title_{title:escaped}", unique)]
#[index(by_year, row = "year_{year:04}_{id:04}", copy(rating))]
#[index(by_actor, row = "actor_{actors[]:escaped}!{id:04}", copy = keys, as = actor)]
#[index(by_award, row = "award_{award}_{id:04}", when = Film::is_listed)]
pub(super) struct Film {
    studio: String,
    id: u32,
    title: String,
    year: u16,
    rating: i32,
    #[property(json)]
    actors: Vec<String>,
    award: Option<u32>,
    listed: bool,
}

impl Film {
    fn is_listed(&self) -> bool {
        self.listed
    }
}

impl Shape for Film {
    fn random(random: &mut Random) -> Self {
        Self {
            studio: ["east", "west"][random.below(2) as usize].to_owned(),
            id: random.below(12) as u32,
            title: format!("{}{}", text(random), random.below(3)),
            year: 1990 + random.below(4) as u16,
            rating: random.below(5) as i32,
            actors: (0..random.below(4)).map(|_| text(random)).collect(),
            award: (random.below(2) == 0).then(|| random.below(3) as u32),
            listed: random.below(2) == 0,
        }
    }

    fn partition_key(&self) -> String {
        self.studio.clone()
    }

    fn row_key(&self) -> String {
        format!("film_{:04}", self.id)
    }

    fn rows(&self) -> Result<Vec<Row>, ErrorKind> {
        let id = self.id;
        let actors = || json(&self.actors);
        let mut rows = vec![
            Row::new("film", self.row_key())
                .with("Title", self.title.as_str())
                .with("Year", i32::from(self.year))
                .with("Rating", self.rating)
                .with("Actors", actors())
                .maybe("Award", self.award)
                .with("Listed", self.listed),
            Row::unique("film.by_title", format!("title_{}", escaped(&self.title)))
                .with("Id", id)
                .with("Year", i32::from(self.year))
                .with("Rating", self.rating)
                .with("Actors", actors())
                .maybe("Award", self.award)
                .with("Listed", self.listed),
            Row::new("film.by_year", format!("year_{:04}_{id:04}", self.year)).with("Rating", self.rating),
        ];
        for actor in self.actors.iter().collect::<BTreeSet<_>>() {
            rows.push(Row::new("film.by_actor", format!("actor_{}!{id:04}", escaped(actor))));
        }
        if let (Some(award), true) = (self.award, self.listed) {
            rows.push(
                Row::new("film.by_award", format!("award_{award:010}_{id:04}"))
                    .with("Title", self.title.as_str())
                    .with("Year", i32::from(self.year))
                    .with("Rating", self.rating)
                    .with("Actors", actors())
                    .with("Listed", self.listed),
            );
        }
        Ok(rows)
    }

    fn key(&self) -> Key<Self> {
        Self::key(self.studio.as_str(), self.id)
    }

    fn partition(&self) -> Partition<Self> {
        Self::partition(&self.studio)
    }

    fn set_partition(&mut self, other: &Self) {
        self.studio.clone_from(&other.studio);
    }

    fn set_row(&mut self, other: &Self) {
        self.id = other.id;
    }

    fn set_unique(&mut self, other: &Self) {
        self.title.clone_from(&other.title);
    }

    fn set(&mut self, other: &Self, mask: u64) {
        let other = other.clone();
        let Self { studio: _, id: _, title, year, rating, actors, award, listed } = self;
        for bit in (0..6).filter(|bit| mask >> bit & 1 == 1) {
            match bit {
                0 => title.clone_from(&other.title),
                1 => *year = other.year,
                2 => *rating = other.rating,
                3 => actors.clone_from(&other.actors),
                4 => *award = other.award,
                _ => *listed = other.listed,
            }
        }
    }

    fn patch(other: &Self, mask: u64) -> Patch<Self> {
        (0..6).filter(|bit| mask >> bit & 1 == 1).fold(Self::patch(), |patch, bit| match bit {
            0 => patch.title(other.title.as_str()),
            1 => patch.year(other.year),
            2 => patch.rating(other.rating),
            3 => patch.actors(other.actors.clone()),
            4 => patch.award(other.award),
            _ => patch.listed(other.listed),
        })
    }

    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random) {
        let probe = Self::random(random);
        let studio = probe.studio.as_str();
        let of_studio = || entities.iter().copied().filter(|film| film.studio == studio);
        let by_title = table.get(Self::by_title(studio, probe.title.as_str())).unwrap();
        let expected = of_studio().find(|film| film.title == probe.title);
        assert_eq!(by_title.as_deref(), expected);

        let years = table.by_year().studio(studio).year(1991..=1992).into_iter();
        let years: Vec<_> = years.map(|row| row.map(|row| (row.year, row.id, row.rating)).unwrap()).collect();
        let mut expected: Vec<_> = of_studio()
            .filter(|film| (1991..=1992).contains(&film.year))
            .map(|film| (film.year, film.id, film.rating))
            .collect();
        expected.sort_unstable();
        assert_eq!(years, expected);

        let actor = TEXTS[random.below(9) as usize];
        let found = table.by_actor().studio(studio).actor(actor).into_iter();
        let found: Vec<_> = found.map(|row| row.unwrap().id).collect();
        let expected: Vec<_> =
            of_studio().filter(|f| f.actors.iter().any(|a| a == actor)).map(|f| f.id).collect();
        assert_eq!(found, expected);
    }
}
