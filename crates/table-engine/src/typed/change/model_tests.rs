//! What a change brings about in other entities' rows, tried in every interleaving of two writers, and tried without each of
//! the conditions of its plan, which must go wrong: copies that change with their source, and summaries.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;

/// Returns whether no world that can come of this one is wrong, and how many there are.
fn explore<W: Clone + Ord + Debug>(
    first: W,
    next: impl Fn(&W) -> Vec<W>,
    is_wrong: impl Fn(&W) -> bool,
) -> (bool, usize) {
    let (mut seen, mut left) = (BTreeSet::from([first.clone()]), VecDeque::from([first]));
    while let Some(world) = left.pop_front() {
        if is_wrong(&world) {
            return (false, seen.len());
        }
        for next in next(&world) {
            if seen.insert(next.clone()) {
                left.push_back(next);
            }
        }
    }
    (true, seen.len())
}

/// A row that changes, with a number for each of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<T> {
    version: u8,
    is: T,
}

impl<T> Row<T> {
    fn becomes(self, is: T) -> Self {
        Self { version: self.version + 1, is }
    }
}

mod copies {
    use super::*;

    /// What plans demand.
    #[derive(Clone, Copy)]
    struct Rules {
        /// A change of the source demands that the dependents are still those that were found.
        range: bool,
        /// A change of a dependent demands that the source which was looked up is still that one.
        source: bool,
    }

    /// Whether the dependent refers to the source, and the copy that it holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Dependent {
        refers: bool,
        copy: Option<u8>,
    }

    type SourceRow = Row<Option<u8>>;
    type HolderRow = Row<Option<Dependent>>;
    /// What is to be, and the source and the dependent as they were read.
    type Plan<T> = Option<(T, SourceRow, HolderRow)>;

    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct World {
        source: SourceRow,
        dependent: HolderRow,
        /// Plans that are not carried out yet.
        of_source: Plan<Option<u8>>,
        of_holder: Plan<Option<Dependent>>,
        left: (u8, u8),
    }

    impl World {
        /// Carries out the change of the source, with that of the dependent if it was one.
        fn change_source(&self, rules: Rules) -> Self {
            let mut after = self.clone();
            let Some((wanted, source, dependent)) = after.of_source.take() else { return after };
            let refers = |dependent: HolderRow| dependent.is.is_some_and(|dependent| dependent.refers);
            // The rows of the index by which dependents are found, with their versions.
            let found = |dependent: HolderRow| refers(dependent).then_some(dependent.version);
            if source != self.source || rules.range && found(dependent) != found(self.dependent) {
                return after;
            }
            if refers(dependent) {
                // Its own row is written under a condition in any case.
                if dependent != self.dependent {
                    return after;
                }
                let dependent = dependent.is.map(|dependent| Dependent { copy: wanted, ..dependent });
                after.dependent = self.dependent.becomes(dependent);
            }
            after.source = self.source.becomes(wanted);
            after.left.0 -= 1;
            after
        }

        /// Carries out the change of the dependent.
        fn change_holder(&self, rules: Rules) -> Self {
            let mut after = self.clone();
            let Some((wanted, source, dependent)) = after.of_holder.take() else { return after };
            let referred = dependent.is.is_some_and(|dependent| dependent.refers);
            let looks_up = wanted.is_some_and(|wanted| wanted.refers) && !referred;
            if dependent != self.dependent || rules.source && looks_up && source != self.source {
                return after;
            }
            after.dependent = self.dependent.becomes(wanted);
            after.left.1 -= 1;
            after
        }

        fn next(&self, rules: Rules) -> Vec<Self> {
            let mut next = Vec::new();
            if self.of_source.is_some() {
                next.push(self.change_source(rules));
            } else if self.left.0 > 0 {
                let wanted = [None, Some(1), Some(2)].into_iter().filter(|wanted| *wanted != self.source.is);
                let plan = |wanted| Some((wanted, self.source, self.dependent));
                next.extend(wanted.map(|wanted| Self { of_source: plan(wanted), ..self.clone() }));
            }
            if self.of_holder.is_some() {
                next.push(self.change_holder(rules));
            } else if self.left.1 > 0 {
                for refers in [None, Some(false), Some(true)] {
                    let was = self.dependent.is.filter(|was| was.refers);
                    let wanted = refers.map(|refers| Dependent {
                        refers,
                        // A dependent that refers to it as before holds what it held.
                        copy: if refers { was.map_or(self.source.is, |was| was.copy) } else { None },
                    });
                    next.push(Self {
                        of_holder: Some((wanted, self.source, self.dependent)),
                        ..self.clone()
                    });
                }
            }
            next
        }

        fn is_wrong(&self) -> bool {
            let copy = |dependent: Dependent| if dependent.refers { self.source.is } else { None };
            self.dependent.is.is_some_and(|dependent| dependent.copy != copy(dependent))
        }
    }

    fn is_right(rules: Rules) -> (bool, usize) {
        let first = World {
            source: Row { version: 0, is: None },
            dependent: Row { version: 0, is: None },
            of_source: None,
            of_holder: None,
            left: (2, 3),
        };
        explore(first, |world| world.next(rules), World::is_wrong)
    }

    #[test]
    fn a_holder_holds_what_its_source_says_after_any_order_of_writes() {
        let (is_right, worlds) = is_right(Rules { range: true, source: true });
        assert!(is_right && worlds > 100, "{worlds} worlds");
    }

    #[test]
    fn no_demand_can_be_left_out() {
        assert!(!is_right(Rules { range: false, source: true }).0, "the dependents that were found");
        assert!(!is_right(Rules { range: true, source: false }).0, "the source that was looked up");
    }
}

mod summaries {
    use super::*;

    /// How plans change the sum.
    #[derive(Clone, Copy)]
    struct Rules {
        /// The store adds to it in the transaction; if not, the plan says what it comes to.
        adds: bool,
        /// The plan demands the entity as it was read.
        expects: bool,
    }

    /// Which entity is to change, what was read of it and of the sum, and what it is to be.
    type Plan = Option<(usize, Row<Option<i8>>, i8, Option<i8>)>;

    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct World {
        /// What two entities give to the sum, if they are there.
        entities: [Row<Option<i8>>; 2],
        sum: i8,
        /// Those of two writers.
        plans: [Plan; 2],
        left: u8,
    }

    impl World {
        fn carry_out(&self, rules: Rules, writer: usize) -> Self {
            let mut after = self.clone();
            let Some((at, read, sum, wanted)) = after.plans[writer].take() else { return after };
            if rules.expects && read != self.entities[at] {
                return after;
            }
            let delta = wanted.unwrap_or(0) - read.is.unwrap_or(0);
            after.sum = if rules.adds { self.sum + delta } else { sum + delta };
            after.entities[at] = self.entities[at].becomes(wanted);
            after.left -= 1;
            after
        }

        fn next(&self, rules: Rules) -> Vec<Self> {
            let mut next = Vec::new();
            for writer in 0..self.plans.len() {
                if self.plans[writer].is_some() {
                    if self.left > 0 {
                        next.push(self.carry_out(rules, writer));
                    }
                    continue;
                }
                for (at, entity) in self.entities.iter().enumerate() {
                    for wanted in [None, Some(1), Some(3)] {
                        let mut planned = self.clone();
                        planned.plans[writer] = Some((at, *entity, self.sum, wanted));
                        next.push(planned);
                    }
                }
            }
            next
        }

        fn is_wrong(&self) -> bool {
            self.sum != self.entities.iter().map(|entity| entity.is.unwrap_or(0)).sum::<i8>()
        }
    }

    fn is_right(rules: Rules) -> (bool, usize) {
        let none = Row { version: 0, is: None };
        let first = World { entities: [none; 2], sum: 0, plans: [None; 2], left: 3 };
        explore(first, |world| world.next(rules), World::is_wrong)
    }

    #[test]
    fn a_summary_says_what_its_entities_come_to_after_any_order_of_writes() {
        let (is_right, worlds) = is_right(Rules { adds: true, expects: true });
        assert!(is_right && worlds > 1_000, "{worlds} worlds");
    }

    #[test]
    fn neither_step_can_be_left_out() {
        assert!(!is_right(Rules { adds: false, expects: true }).0, "the sum in the transaction");
        assert!(!is_right(Rules { adds: true, expects: false }).0, "the entity that was read");
    }
}
