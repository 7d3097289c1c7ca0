#[cfg(any())]
struct DepartmentPatch;
#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "A query of `Department`, by a path, at one of its steps: `DepartmentQuery<OwnRows<Department>, At<2>>` after two parts of its own key."]
#[must_use = "a query does nothing until it is iterated"]
struct DepartmentQuery<By, Step, In = ::table_core::__private::DynamicTable> {
    query: ::table_core::__private::PathQuery<By, In, ::table_core::__private::Whole, Step>,
}
#[allow(
    dead_code,
    missing_debug_implementations,
    unused_qualifications,
    clippy::arbitrary_source_item_ordering,
    rustdoc::broken_intra_doc_links,
    reason = "as in the block below; a field's documentation may link to what is known where it stands"
)]
#[doc = "What filters of `Department` can speak of: what its rows hold, and what their keys say."]
#[non_exhaustive]
struct Known {
    #[doc = "Property `Name`."]
    name: ::table_core::__private::Column<String>,
    #[doc = "Property `HeadCount`."]
    head_count: ::table_core::__private::Column<u32>,
}
#[cfg(any())]
struct DepartmentIndexes;
#[cfg(any())]
struct DepartmentView;
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
    impl __table::InOneTable for Department {}
    #[automatically_derived]
    #[doc(hidden)]
    impl __table::InPeriods for Department where for<'never> &'never (): __table::TableForEachPeriod<Department> {}
    #[automatically_derived]
    impl __table::Entity for Department {
        const SCHEMA: &'static __table::schema::Schema = {
            const FIELDS: &[__table::schema::Field] = &[
                <String as __table::KeyField>::FIELD.named("name", "Name"),
                <u32 as __table::Property>::FIELD.named("head_count", "HeadCount"),
            ];
            const PARTS: [&[__table::schema::Part]; 2usize] = [
                &[__table::schema::Part::Field(
                    __table::schema::FieldPart::new(0usize, <String as __table::KeyField>::KEY, "")
                        .version(<String as __table::KeyField>::VERSION),
                )],
                &[__table::schema::Part::Literal("department")],
            ];
            const ROW: __table::schema::Place = __table::schema::Place::new(
                "Company",
                __table::schema::Template::new("{name}", PARTS[0usize]),
                __table::schema::Template::new("department", PARTS[1usize]),
            );
            static DECLARED: __table::schema::Schema =
                __table::schema::Schema::new(["Department", "department"], FIELDS, &[ROW]);
            &DECLARED
        };
        type Indexes<In: __table::AnyOrigin> = DepartmentIndexes<In>;
        type Columns = Known;
        type View<'view> = DepartmentView<'view>;
        const COLUMNS: &'static Known =
            &Known { name: __table::Column::new("Name"), head_count: __table::Column::new("HeadCount") };
        fn indexes<In: __table::AnyOrigin>(from: In) -> DepartmentIndexes<In> {
            DepartmentIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut __table::Values<'entity>) {
            values.push(<String as __table::KeyField>::to_property(&self.name));
            values.push(<u32 as __table::Property>::to_property(&self.head_count));
        }
        fn from_source(source: &mut __table::Source<'_>) -> __table::Result<Self> {
            ::core::result::Result::Ok(Self {
                name: source.next(<String as __table::KeyField>::TAKE)?,
                head_count: source.next(<u32 as __table::Property>::TAKE)?,
            })
        }
        type Patch = DepartmentPatch;
        fn exchange(&mut self, patch: &mut DepartmentPatch) {
            __table::exchange(&mut self.head_count, &mut patch.head_count);
        }
    }
    impl Department {
        #[doc = "The entity's key: PartitionKey `{name}`, RowKey `department`. Reading it is a point query."]
        #[must_use]
        fn key(name_: impl __table::KeyArg<String>) -> __table::Key<Self> {
            __table::Key::of_parts(&[__table::KeyArg::<String>::to_key(&name_)])
        }
        #[doc = "A partition of the table: PartitionKey `{name}`. One transaction can change entities of one partition."]
        #[must_use]
        fn partition(name_: impl __table::KeyArg<String>) -> __table::Partition<Self> {
            __table::Partition::of_parts(&[__table::KeyArg::<String>::to_key(&name_)])
        }
        #[doc = "A patch that sets nothing yet, for a merge. Its methods are called as the fields are; `#[entity(types)]` puts `DepartmentPatch` beside the struct, where `cargo doc` shows them."]
        #[inline]
        fn patch() -> DepartmentPatch {
            DepartmentPatch { head_count: ::core::option::Option::None }
        }
    }
    #[doc = "What a merge sets on the `Department` there: nothing at first."]
    #[must_use = "a patch does nothing until it is merged"]
    struct DepartmentPatch {
        head_count: ::core::option::Option<u32>,
    }
    impl DepartmentPatch {
        #[doc = "Sets `head_count`."]
        #[inline]
        fn head_count(mut self, head_count_: u32) -> Self {
            self.head_count = ::core::option::Option::Some(head_count_);
            self
        }
        #[doc(hidden)]
        fn name(self, _: impl __table::SetsAKey) -> Self {
            self
        }
    }
    impl ::core::fmt::Debug for DepartmentPatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "DepartmentPatch")
        }
    }
    #[doc = "The ways to query a table of `Department`."]
    struct DepartmentIndexes<In = __table::DynamicTable> {
        from: In,
    }
    impl<In: __table::AnyOrigin> DepartmentIndexes<In> {
        #[doc = "Queries by PartitionKey `{name}`, RowKey `department`: the parts are given from left to right. `#[entity(types)]` puts `DepartmentQuery` beside the struct."]
        fn rows(&self) -> DepartmentQuery<__table::OwnRows<Department>, __table::InPartition<0usize>, In> {
            DepartmentQuery { query: __table::PathQuery::new(&self.from) }
        }
    }
    impl<By, Step, In: ::core::clone::Clone> ::core::clone::Clone for DepartmentQuery<By, Step, In> {
        fn clone(&self) -> Self {
            Self { query: ::core::clone::Clone::clone(&self.query) }
        }
    }
    #[doc(hidden)]
    impl<By: 'static, Step, In> ::core::ops::Deref for DepartmentQuery<By, Step, In> {
        type Target = __table::AnyQuery<By>;
        fn deref(&self) -> &__table::AnyQuery<By> {
            __table::AnyQuery::words()
        }
    }
    impl<By, Step, In> ::core::fmt::Debug for DepartmentQuery<By, Step, In> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "DepartmentQuery")
        }
    }
    impl<By, Step, In> DepartmentQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::AnyOrigin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        fn across_partitions(self) -> DepartmentQuery<By, __table::Ended, In>
        where
            Step: __table::Open,
        {
            DepartmentQuery { query: self.query.at() }
        }
        #[doc = r" Gives the entities from the last to the first; said twice, from the first again."]
        fn rev(self) -> Self
        where
            Step: __table::Ready + __table::Turns,
        {
            Self { query: self.query.rev() }
        }
        #[doc = r" Lets a store without a descending order hold so many rows at the most to give them from the last."]
        fn buffered(self, rows: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.buffered(rows) }
        }
        #[doc = r" The latest so many: the first in the order of the key, where its next part counts backwards."]
        fn latest(self, entities: ::core::primitive::usize) -> DepartmentQuery<By, __table::Newest, In>
        where
            Step: __table::InOne,
            Step::Of<Self>: __table::CountsBackwards,
        {
            DepartmentQuery { query: self.query.newest(entities) }
        }
        #[doc = r" Gives so many at the most."]
        fn top(self, entities: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.top(entities) }
        }
        #[doc = r" Gives so many at the most, as `top` does."]
        fn limit(self, entities: ::core::primitive::usize) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.top(entities) }
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        fn filter<Test: __table::Condition>(
            self,
            filter: impl ::core::ops::FnOnce(&By::Columns) -> Test,
        ) -> Self
        where
            Step: __table::Ready,
        {
            Self { query: self.query.filter(filter) }
        }
        #[doc = r" Reads some of the fields alone: those of a struct with `#[derive(Projection)]`."]
        fn select<Fields>(self) -> __table::PathQuery<By, In, __table::Selected<Fields>>
        where
            Fields: __table::Fits<By>,
            Step: __table::Ready,
        {
            self.query.select()
        }
        #[doc = r" Reads the entity itself that each row is a copy of, in the same snapshot: a point read for each."]
        fn entities(self) -> __table::PathQuery<By, In, __table::Entities>
        where
            Step: __table::Ready,
        {
            self.query.entities()
        }
        #[doc = r" How the query will be answered, and why."]
        fn explain(&self) -> __table::Result<__table::Explain>
        where
            Step: __table::Ready,
        {
            self.query.explain()
        }
    }
    impl<By, Step, In> DepartmentQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::Ends<By>,
    {
        #[doc = r" A page: at most so many, 1,000 at most, from the start or from where another page of the query ended."]
        fn page(
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
        fn first(self) -> <In as __table::Ends<By>>::First
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::first(self.query)
        }
        #[doc = r" Whether the query finds any."]
        fn exists(self) -> <In as __table::Ends<By>>::Exists
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::exists(self.query)
        }
        #[doc = r" How many there are."]
        fn count(self) -> <In as __table::Ends<By>>::Count
        where
            Step: __table::Ready,
        {
            <In as __table::Ends<By>>::count(self.query)
        }
    }
    impl<By, Step, In> DepartmentQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::AnyOrigin,
    {
        #[doc = r" What the query finds, in order. `for` takes a query at a known step as it is, and code for whatever step this."]
        fn into_iter(self) -> __table::TypedRows<By, In>
        where
            Step: __table::Ready,
            In: __table::Origin,
        {
            self.query.into_iter()
        }
    }
    __table::async_ends! { [] DepartmentQuery By Step }
    impl<'snapshot, Step: __table::Ready>
        DepartmentQuery<__table::OwnRows<Department>, Step, __table::TableIn<'snapshot>>
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        fn views(self) -> __table::TypedViews<'snapshot, Department> {
            self.query.views()
        }
    }
    impl<By, const PARTS: ::core::primitive::usize> ::core::iter::IntoIterator
        for DepartmentQuery<By, __table::At<PARTS>, __table::DynamicTable>
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
        for DepartmentQuery<By, __table::At<PARTS>, __table::TableIn<'snapshot>>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::TableIn<'snapshot>>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    impl<By, Order> ::core::iter::IntoIterator
        for DepartmentQuery<By, __table::Ended<Order>, __table::DynamicTable>
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
        for DepartmentQuery<By, __table::Ended<Order>, __table::TableIn<'snapshot>>
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
        for DepartmentQuery<By, __table::InPartition<PARTS>, In>
    where
        By: __table::Path,
        __table::InPartition<PARTS>: __table::Ready,
    {
        type Item = __table::Result<By::Item>;
        fn next(&mut self) -> ::core::option::Option<Self::Item> {
            ::core::option::Option::None
        }
    }
    impl<Step, In: __table::AnyOrigin> DepartmentQuery<__table::OwnRows<Department>, Step, In> {
        #[doc = "Fixes `name`, which stands in the partition key."]
        fn name(
            self,
            name_: impl __table::KeyArg<String>,
        ) -> DepartmentQuery<__table::OwnRows<Department>, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            DepartmentQuery { query: self.query.fixed::<String, _>(0usize, &name_) }
        }
    }
    #[doc = "A `Department` in place: each method decodes one field."]
    struct DepartmentView<'view> {
        fields: __table::FieldViews<'view>,
    }
    impl DepartmentView<'_> {
        #[doc = "The field `name`, parsed from the key."]
        #[inline]
        fn name(&self) -> __table::Result<__table::Cow<'_, ::core::primitive::str>> {
            self.fields.key_text(0usize)
        }
        #[doc = "The field `head_count`, decoded from the property `HeadCount`."]
        #[inline]
        fn head_count(&self) -> __table::Result<u32> {
            self.fields.made(1usize, <u32 as __table::Property>::TAKE)
        }
    }
    #[automatically_derived]
    impl<'view> __table::EntityView<'view> for DepartmentView<'view> {
        fn new(fields: __table::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &__table::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for DepartmentView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "DepartmentView")
        }
    }
    const _: () = {
        __table::checks::property(
            "name",
            <String as __table::KeyField>::NESTED,
            <String as __table::KeyField>::CONTENT,
        );
        __table::checks::property(
            "head_count",
            <u32 as __table::Property>::NESTED,
            <u32 as __table::Property>::CONTENT,
        );
    };
    const _: () = __table::checks::partition(<Department as __table::Entity>::SCHEMA, false);
    const _: () = __table::checks::row(<Department as __table::Entity>::SCHEMA);
};
