#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "What a merge sets on the `Sealed` there: nothing at first."]
#[must_use = "a patch does nothing until it is merged"]
pub struct SealedPatch {
    ssn: ::core::option::Option<String>,
    salary: ::core::option::Option<Option<i64>>,
    note: ::core::option::Option<String>,
    card: ::core::option::Option<String>,
}
#[cfg(any())]
struct SealedQuery;
#[cfg(any())]
struct SealedColumns;
#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "The way to `Sealed` by the index `by_ssn`, in the type of a query."]
#[non_exhaustive]
pub enum FoundPath {}
#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "A row of the index `by_ssn` of `Sealed`."]
#[non_exhaustive]
pub struct Found {
    #[doc = "As in the entity: property `Department`."]
    pub department: String,
    #[doc = "As in the entity: property `Id`."]
    pub id: u32,
    #[doc = "As in the entity: property `Ssn`."]
    pub ssn: String,
}
#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "What filters of the index `by_ssn` can speak of: what its rows hold, and what their keys say."]
#[non_exhaustive]
pub struct FoundColumns {
    #[doc = "Property `Department`."]
    pub department: ::table_core::__private::Column<String>,
    #[doc = "Property `Id`."]
    pub id: ::table_core::__private::Column<u32>,
    #[doc = "Property `Ssn`."]
    pub ssn: ::table_core::__private::Column<String, ::table_core::__private::Blind>,
}
#[cfg(any())]
struct SealedIndexes;
#[cfg(any())]
struct SealedView;
#[allow(
    dead_code,
    missing_debug_implementations,
    non_camel_case_types,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    clippy::impl_trait_in_params,
    clippy::same_name_method,
    clippy::should_implement_trait,
    reason = "which of it is called is the user's choice; some types have no values to be shown, and some are named as fields are, in their order; names are the same wherever the user's imports lead; no caller would name the type of a key's part; a query's own methods come before an iterator's"
)]
const _: () = {
    use ::table_core::__private as __table;
    #[automatically_derived]
    impl __table::InOneTable for Sealed {}
    #[automatically_derived]
    #[doc(hidden)]
    impl __table::InPeriods for Sealed where for<'never> &'never (): __table::TableForEachPeriod<Sealed> {}
    #[automatically_derived]
    impl __table::Entity for Sealed {
        const SCHEMA: &'static __table::schema::Schema = {
            const FIELDS: &[__table::schema::Field] = &[
                <String as __table::KeyField>::FIELD.named("department", "Department"),
                <u32 as __table::KeyField>::FIELD.named("id", "Id"),
                <String as __table::Property>::FIELD
                    .named("ssn", "Ssn")
                    .sealed()
                    .scoped(__table::schema::KeyScope::Partition)
                    .blind("SsnToken", __table::schema::TokenScope::Table),
                <Option<i64> as __table::Property>::FIELD.named("salary", "Salary").sealed(),
                <String as __table::Property>::FIELD.named("note", "Note").sealed().dual(),
                <String as __table::Property>::FIELD
                    .named("card", "Card")
                    .sealed()
                    .dual()
                    .scoped(__table::schema::KeyScope::Table)
                    .blind("CardToken", __table::schema::TokenScope::Partition),
            ];
            const PARTS: [&[__table::schema::Part]; 3usize] = [
                &[__table::schema::Part::Field(
                    __table::schema::FieldPart::new(0usize, <String as __table::KeyField>::KEY, "")
                        .version(<String as __table::KeyField>::VERSION),
                )],
                &[
                    __table::schema::Part::Literal("empid_"),
                    __table::schema::Part::Field(
                        __table::schema::FieldPart::new(1usize, <u32 as __table::KeyField>::KEY, "06")
                            .version(<u32 as __table::KeyField>::VERSION),
                    ),
                ],
                &[
                    __table::schema::Part::Literal("ssn_"),
                    __table::schema::Part::Field(__table::schema::FieldPart::new(
                        2usize,
                        __table::token_key(<String as __table::Property>::OPTIONAL),
                        "blind",
                    )),
                ],
            ];
            const ROW: __table::schema::Place = __table::schema::Place::new(
                "Payroll",
                __table::schema::Template::new("{department}", PARTS[0usize]),
                __table::schema::Template::new("empid_{id:06}", PARTS[1usize]),
            );
            const INDEXES: &[__table::schema::Index] = &[__table::schema::Index::new(
                "by_ssn",
                "employee.by_ssn",
                ROW.beside(__table::schema::Template::new("ssn_{ssn:blind}", PARTS[2usize])),
            )
            .unique()
            .copies(__table::schema::Copies::Keys)];
            static DECLARED: __table::schema::Schema =
                __table::schema::Schema::new(["Sealed", "employee"], FIELDS, &[ROW]).indexes(INDEXES);
            &DECLARED
        };
        type Indexes<In: __table::AnyOrigin> = SealedIndexes<In>;
        type Columns = SealedColumns;
        type View<'view> = SealedView<'view>;
        const COLUMNS: &'static SealedColumns = &SealedColumns {
            department: __table::Column::new("Department"),
            id: __table::Column::new("Id"),
            ssn: __table::Column::new("Ssn"),
            salary: __table::Column::new("Salary"),
            note: __table::Column::new("Note"),
            card: __table::Column::new("Card"),
        };
        fn indexes<In: __table::AnyOrigin>(from: In) -> SealedIndexes<In> {
            SealedIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut __table::Values<'entity>) {
            values.push(<String as __table::KeyField>::to_property(&self.department));
            values.push(<u32 as __table::KeyField>::to_property(&self.id));
            values.push(<String as __table::Property>::to_property(&self.ssn));
            values.push(<Option<i64> as __table::Property>::to_property(&self.salary));
            values.push(<String as __table::Property>::to_property(&self.note));
            values.push(<String as __table::Property>::to_property(&self.card));
        }
        fn from_source(source: &mut __table::Source<'_>) -> __table::Result<Self> {
            ::core::result::Result::Ok(Self {
                department: source.next(<String as __table::KeyField>::TAKE)?,
                id: source.next(<u32 as __table::KeyField>::TAKE)?,
                ssn: source.next(<String as __table::Property>::TAKE)?,
                salary: source.next(<Option<i64> as __table::Property>::TAKE)?,
                note: source.next(<String as __table::Property>::TAKE)?,
                card: source.next(<String as __table::Property>::TAKE)?,
            })
        }
        type Patch = SealedPatch;
        fn exchange(&mut self, patch: &mut SealedPatch) {
            __table::exchange(&mut self.ssn, &mut patch.ssn);
            __table::exchange(&mut self.salary, &mut patch.salary);
            __table::exchange(&mut self.note, &mut patch.note);
            __table::exchange(&mut self.card, &mut patch.card);
        }
    }
    impl Sealed {
        #[doc = "The entity's key: PartitionKey `{department}`, RowKey `empid_{id:06}`. Reading it is a point query."]
        #[must_use]
        pub fn key(
            department_: impl __table::KeyArg<String>,
            id_: impl __table::KeyArg<u32>,
        ) -> __table::Key<Self> {
            __table::Key::of_parts(&[
                __table::KeyArg::<String>::to_key(&department_),
                __table::KeyArg::<u32>::to_key(&id_),
            ])
        }
        #[doc = "A partition of the table: PartitionKey `{department}`. One transaction can change entities of one partition."]
        #[must_use]
        pub fn partition(department_: impl __table::KeyArg<String>) -> __table::Partition<Self> {
            __table::Partition::of_parts(&[__table::KeyArg::<String>::to_key(&department_)])
        }
        #[doc = "A patch that sets nothing yet, for a merge. Its methods are called as the fields are; `#[entity(types)]` puts `SealedPatch` beside the struct, where `cargo doc` shows them."]
        #[inline]
        pub fn patch() -> SealedPatch {
            SealedPatch {
                ssn: ::core::option::Option::None,
                salary: ::core::option::Option::None,
                note: ::core::option::Option::None,
                card: ::core::option::Option::None,
            }
        }
        #[doc = "The key of the entity's copy in `by_ssn`: PartitionKey `{department}`, RowKey `ssn_{ssn:blind}`. Reading it is a point query for each of the store's keys that is alive."]
        #[must_use]
        pub fn by_ssn(
            department_: impl __table::KeyArg<String>,
            ssn_: impl __table::BlindArg<String>,
        ) -> __table::IndexKey<FoundPath> {
            __table::IndexKey::of_parts(&[
                __table::KeyArg::<String>::to_key(&department_),
                __table::BlindArg::<String>::to_value(&ssn_),
            ])
        }
    }
    impl SealedPatch {
        #[doc = "Sets `ssn`."]
        #[inline]
        pub fn ssn(mut self, ssn_: impl ::core::convert::Into<String>) -> Self {
            self.ssn = ::core::option::Option::Some(::core::convert::Into::into(ssn_));
            self
        }
        #[doc = "Sets `salary`."]
        #[inline]
        pub fn salary(mut self, salary_: Option<i64>) -> Self {
            self.salary = ::core::option::Option::Some(salary_);
            self
        }
        #[doc = "Sets `note`."]
        #[inline]
        pub fn note(mut self, note_: impl ::core::convert::Into<String>) -> Self {
            self.note = ::core::option::Option::Some(::core::convert::Into::into(note_));
            self
        }
        #[doc = "Sets `card`."]
        #[inline]
        pub fn card(mut self, card_: impl ::core::convert::Into<String>) -> Self {
            self.card = ::core::option::Option::Some(::core::convert::Into::into(card_));
            self
        }
        #[doc(hidden)]
        pub fn department(self, _: impl __table::SetsAKey) -> Self {
            self
        }
        #[doc(hidden)]
        pub fn id(self, _: impl __table::SetsAKey) -> Self {
            self
        }
    }
    impl ::core::fmt::Debug for SealedPatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "SealedPatch")
        }
    }
    #[doc = "The ways to query a table of `Sealed`."]
    pub struct SealedIndexes<In = __table::DynamicTable> {
        from: In,
    }
    impl<In: __table::AnyOrigin> SealedIndexes<In> {
        #[doc = "Queries by PartitionKey `{department}`, RowKey `empid_{id:06}`: the parts are given from left to right. `#[entity(types)]` puts `SealedQuery` beside the struct."]
        pub fn rows(&self) -> SealedQuery<__table::OwnRows<Sealed>, __table::InPartition<0usize>, In> {
            SealedQuery { query: __table::PathQuery::new(&self.from) }
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `ssn_{ssn:blind}`: the parts are given from left to right. `#[entity(types)]` puts `SealedQuery` beside the struct."]
        pub fn by_ssn(&self) -> SealedQuery<FoundPath, __table::InPartition<0usize>, In> {
            SealedQuery { query: __table::PathQuery::new(&self.from) }
        }
    }
    #[doc = "A query of `Sealed`, by a path, at one of its steps: `SealedQuery<OwnRows<Sealed>, At<2>>` after two parts of its own key."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct SealedQuery<By, Step, In = __table::DynamicTable> {
        query: __table::PathQuery<By, In, __table::Whole, Step>,
    }
    impl<By, Step, In: ::core::clone::Clone> ::core::clone::Clone for SealedQuery<By, Step, In> {
        fn clone(&self) -> Self {
            Self { query: ::core::clone::Clone::clone(&self.query) }
        }
    }
    #[doc(hidden)]
    impl<By: 'static, Step, In> ::core::ops::Deref for SealedQuery<By, Step, In> {
        type Target = __table::AnyQuery<By>;
        fn deref(&self) -> &__table::AnyQuery<By> {
            __table::AnyQuery::words()
        }
    }
    impl<By, Step, In> ::core::fmt::Debug for SealedQuery<By, Step, In> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "SealedQuery")
        }
    }
    impl<By, Step, In> SealedQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::AnyOrigin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        pub fn across_partitions(self) -> SealedQuery<By, __table::Ended, In>
        where
            Step: __table::Open,
        {
            SealedQuery { query: self.query.at() }
        }
        #[doc = r" Gives the entities from the last to the first; said twice, from the first again."]
        pub fn rev(self) -> Self
        where
            Step: __table::Ready + __table::Turns,
        {
            Self { query: self.query.rev() }
        }
        #[doc = r" Lets a store without a descending order hold so many rows at the most to give them from the last."]
        pub fn buffered(self, rows: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.buffered(rows) }
        }
        #[doc = r" The latest so many: the first in the order of the key, where its next part counts backwards."]
        pub fn latest(self, entities: ::core::primitive::usize) -> SealedQuery<By, __table::Newest, In>
        where
            Step: __table::InOne,
            Step::Of<Self>: __table::CountsBackwards,
        {
            SealedQuery { query: self.query.newest(entities) }
        }
        #[doc = r" Gives so many at the most."]
        pub fn top(self, entities: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.top(entities) }
        }
        #[doc = r" Gives so many at the most, as `top` does."]
        pub fn limit(self, entities: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.top(entities) }
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        pub fn filter<Test: __table::Condition>(
            self,
            filter: impl ::core::ops::FnOnce(&By::Columns) -> Test,
        ) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.filter(filter) }
        }
        #[doc = r" Reads some of the fields alone: those of a struct with `#[derive(Projection)]`."]
        pub fn select<Fields>(self) -> __table::PathQuery<By, In, __table::Selected<Fields>>
        where
            Fields: __table::Fits<By>,
            Step: __table::Ready,
        {
            self.query.select()
        }
        #[doc = r" Reads the entity itself that each row is a copy of, in the same snapshot: a point read for each."]
        pub fn entities(self) -> __table::PathQuery<By, In, __table::Entities>
        where
            Step: __table::Ready,
        {
            self.query.entities()
        }
        #[doc = r" How the query will be answered, and why."]
        pub fn explain(&self) -> __table::Result<__table::Explain>
        where
            Step: __table::Ready,
        {
            self.query.explain()
        }
    }
    impl<By, Step, In> SealedQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::Ends<By>,
    {
        #[doc = r" A page: at most so many, 1,000 at most, from the start or from where another page of the query ended."]
        pub fn page(
            &self,
            budget: impl ::core::convert::Into<__table::PageBudget>,
            after: ::core::option::Option<&__table::Continuation>,
        ) -> <In as __table::Ends<By>>::Page
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::page(&self.query, ::core::convert::Into::into(budget), after)
        }
        #[doc = r" The first that the query finds, if it finds any."]
        pub fn first(self) -> <In as __table::Ends<By>>::First
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::first(self.query)
        }
        #[doc = r" Whether the query finds any."]
        pub fn exists(self) -> <In as __table::Ends<By>>::Exists
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::exists(self.query)
        }
        #[doc = r" How many there are."]
        pub fn count(self) -> <In as __table::Ends<By>>::Count
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::count(self.query)
        }
    }
    impl<By, Step, In> SealedQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::AnyOrigin,
    {
        #[doc = r" What the query finds, in order. `for` takes a query at a known step as it is, and code for whatever step this."]
        pub fn into_iter(self) -> __table::TypedRows<By, In>
        where
            Step: __table::Ready,
            In: __table::Origin,
        {
            self.query.into_iter()
        }
    }
    __table::async_ends! { [pub] SealedQuery By Step }
    impl<'snapshot, Step: __table::Ready>
        SealedQuery<__table::OwnRows<Sealed>, Step, __table::TableIn<'snapshot>>
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        pub fn views(self) -> __table::TypedViews<'snapshot, Sealed> {
            self.query.views()
        }
    }
    impl<By, const PARTS: ::core::primitive::usize> ::core::iter::IntoIterator
        for SealedQuery<By, __table::At<PARTS>, __table::DynamicTable>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::DynamicTable>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    impl<'snapshot, By, const PARTS: ::core::primitive::usize> ::core::iter::IntoIterator
        for SealedQuery<By, __table::At<PARTS>, __table::TableIn<'snapshot>>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::TableIn<'snapshot>>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    impl<By, Order> ::core::iter::IntoIterator for SealedQuery<By, __table::Ended<Order>, __table::DynamicTable>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::DynamicTable>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    impl<'snapshot, By, Order> ::core::iter::IntoIterator
        for SealedQuery<By, __table::Ended<Order>, __table::TableIn<'snapshot>>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::TableIn<'snapshot>>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    #[allow(unused_qualifications)]
    impl<By, const PARTS: ::core::primitive::usize, In> ::core::iter::Iterator
        for SealedQuery<By, __table::InPartition<PARTS>, In>
    where
        By: __table::Path,
        __table::InPartition<PARTS>: __table::Ready,
    {
        type Item = __table::Result<By::Item>;
        fn next(&mut self) -> ::core::option::Option<Self::Item> {
            ::core::option::Option::None
        }
    }
    #[doc = "What filters of `Sealed` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    pub struct SealedColumns {
        #[doc = "Property `Department`."]
        pub department: __table::Column<String>,
        #[doc = "Property `Id`."]
        pub id: __table::Column<u32>,
        #[doc = "Property `Ssn`."]
        pub ssn: __table::Column<String, __table::Blind>,
        #[doc = "Property `Salary`."]
        pub salary: __table::Column<i64, __table::Encrypted, __table::Maybe>,
        #[doc = "Property `Note`."]
        pub note: __table::Column<String, __table::Dual>,
        #[doc = "Property `Card`."]
        pub card: __table::Column<String, __table::Blind>,
    }
    mod of_Sealed {
        pub enum department {}
    }
    impl<Step, In: __table::AnyOrigin> SealedQuery<__table::OwnRows<Sealed>, Step, In> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department_: impl __table::KeyArg<String>,
        ) -> SealedQuery<__table::OwnRows<Sealed>, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            SealedQuery { query: self.query.fixed::<String, _>(0usize, &department_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> SealedQuery<__table::OwnRows<Sealed>, Step, In> {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(
            self,
            id_: Given,
        ) -> SealedQuery<
            __table::OwnRows<Sealed>,
            <Given as __table::PartArg<u32, __table::At<2usize>, __table::Offers<true, false>>>::Step,
            In,
        >
        where
            Given: __table::PartArg<u32, __table::At<2usize>, __table::Offers<true, false>>,
            Step: __table::GoesOn + __table::ComesAfter<__table::At<1usize>, of_Sealed::department>,
        {
            SealedQuery { query: self.query.part(1usize, id_) }
        }
    }
    impl __table::Holds<__table::FieldNumber<11520974274199761607u64>> for FoundPath {}
    impl __table::Holds<__table::FieldNumber<628021283683842752u64>> for FoundPath {}
    impl __table::Holds<__table::FieldNumber<9393806343699098199u64>> for FoundPath {}
    #[automatically_derived]
    impl __table::Path for FoundPath {
        type Entity = Sealed;
        type Item = Found;
        type Columns = FoundColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(0usize);
        const COLUMNS: &'static FoundColumns = &FoundColumns {
            department: __table::Column::new("Department"),
            id: __table::Column::new("Id"),
            ssn: __table::Column::new("Ssn"),
        };
        fn read(view: &__table::RowView<'_>) -> __table::Result<Found> {
            Found::from_view(view)
        }
    }
    impl Found {
        fn from_view(view: &__table::RowView<'_>) -> __table::Result<Self> {
            let source = __table::Source::of::<FoundPath>(view)?;
            ::core::result::Result::Ok(Self {
                department: source.field(0usize, <String as __table::KeyField>::TAKE)?,
                id: source.field(1usize, <u32 as __table::KeyField>::TAKE)?,
                ssn: source.field(2usize, <String as __table::Property>::TAKE)?,
            })
        }
        #[doc = r" The key of the entity itself."]
        #[must_use]
        pub fn key(&self) -> __table::Key<Sealed> {
            __table::Key::of_parts(&[
                __table::KeyArg::<String>::to_key(&self.department),
                __table::KeyArg::<u32>::to_key(&self.id),
            ])
        }
    }
    impl ::core::fmt::Debug for Found {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::ShownRow::new(f, "Found", <Sealed as __table::Entity>::SCHEMA)
                .field(0usize, <String as __table::KeyField>::to_property(&self.department))
                .field(1usize, <u32 as __table::KeyField>::to_property(&self.id))
                .field(2usize, ::core::result::Result::Ok(__table::PropertyValue::Absent))
                .finish()
        }
    }
    impl<Step, In: __table::AnyOrigin> SealedQuery<FoundPath, Step, In> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department_: impl __table::KeyArg<String>,
        ) -> SealedQuery<FoundPath, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            SealedQuery { query: self.query.fixed::<String, _>(0usize, &department_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> SealedQuery<FoundPath, Step, In> {
        #[doc = "Fixes `ssn`, whose token stands in the row key: it is looked up by one value, and opened."]
        pub fn ssn(
            self,
            ssn_: impl __table::BlindArg<String>,
        ) -> SealedQuery<FoundPath, __table::At<2usize>, In>
        where
            Step: __table::GoesOn + __table::ComesAfter<__table::At<1usize>, of_Sealed::department>,
        {
            SealedQuery { query: self.query.blind::<String, _>(2usize, &ssn_) }
        }
    }
    #[doc = "A `Sealed` in place: each method decodes one field."]
    pub struct SealedView<'view> {
        fields: __table::FieldViews<'view>,
    }
    impl SealedView<'_> {
        #[doc = "The field `department`, parsed from the key."]
        #[inline]
        pub fn department(&self) -> __table::Result<__table::Cow<'_, ::core::primitive::str>> {
            self.fields.key_text(0usize)
        }
        #[doc = "The field `id`, parsed from the key."]
        #[inline]
        pub fn id(&self) -> __table::Result<u32> {
            self.fields.key(1usize, <u32 as __table::KeyField>::from_property)
        }
        #[doc = "The field `ssn`, decoded from the property `Ssn`."]
        #[inline]
        pub fn ssn(&self) -> __table::Result<String> {
            self.fields.sealed(2usize, <String as __table::Property>::TAKE)
        }
        #[doc = "The field `salary`, decoded from the property `Salary`."]
        #[inline]
        pub fn salary(&self) -> __table::Result<Option<i64>> {
            self.fields.sealed(3usize, <Option<i64> as __table::Property>::TAKE)
        }
        #[doc = "The field `note`, decoded from the property `Note`."]
        #[inline]
        pub fn note(&self) -> __table::Result<String> {
            self.fields.sealed(4usize, <String as __table::Property>::TAKE)
        }
        #[doc = "The field `card`, decoded from the property `Card`."]
        #[inline]
        pub fn card(&self) -> __table::Result<String> {
            self.fields.sealed(5usize, <String as __table::Property>::TAKE)
        }
    }
    #[automatically_derived]
    impl<'view> __table::EntityView<'view> for SealedView<'view> {
        fn new(fields: __table::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &__table::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for SealedView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "SealedView")
        }
    }
    const _: () = {
        __table::checks::property(
            "department",
            <String as __table::KeyField>::NESTED,
            <String as __table::KeyField>::CONTENT,
        );
        __table::checks::property(
            "id",
            <u32 as __table::KeyField>::NESTED,
            <u32 as __table::KeyField>::CONTENT,
        );
        __table::checks::sealed_property(
            "ssn",
            <String as __table::Property>::NESTED,
            <String as __table::Property>::CONTENT,
            false,
            true,
        );
        __table::checks::sealed_property(
            "salary",
            <Option<i64> as __table::Property>::NESTED,
            <Option<i64> as __table::Property>::CONTENT,
            false,
            false,
        );
        __table::checks::sealed_property(
            "note",
            <String as __table::Property>::NESTED,
            <String as __table::Property>::CONTENT,
            true,
            false,
        );
        __table::checks::sealed_property(
            "card",
            <String as __table::Property>::NESTED,
            <String as __table::Property>::CONTENT,
            true,
            true,
        );
    };
    const _: () = __table::checks::encrypt();
    const _: () =
        __table::checks::blind("ssn", <String as __table::Property>::EDM, <String as __table::Property>::FEW);
    const _: () = __table::checks::blind(
        "card",
        <String as __table::Property>::EDM,
        <String as __table::Property>::FEW,
    );
    const _: () = __table::checks::partition(<Sealed as __table::Entity>::SCHEMA, false);
    const _: () = __table::checks::row(<Sealed as __table::Entity>::SCHEMA);
    const _: () = __table::checks::index_row(<Sealed as __table::Entity>::SCHEMA, 0usize);
};
