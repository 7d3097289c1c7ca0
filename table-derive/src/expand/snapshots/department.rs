#[allow(clippy::impl_trait_in_params, reason = "no caller would name such a type")]
const _: () = {
    #[automatically_derived]
    impl ::table_core::__private::Entity for Department {
        const SCHEMA: &'static ::table_core::schema::Schema = &::table_core::schema::Schema {
            entity: "Department",
            table: "Company",
            kind: "department",
            version: 1u32,
            fields: &[
                ::table_core::schema::Field {
                    name: "name",
                    property: "Name",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "head_count",
                    property: "HeadCount",
                    edm: <u32 as ::table_core::__private::Property>::EDM,
                    optional: <u32 as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
            ],
            partition: ::table_core::schema::Template {
                source: "{name}",
                parts: &[::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                    field: 0usize,
                    key: <String as ::table_core::__private::KeyPart>::KEY,
                    format: ::table_core::schema::Format::Plain,
                    each: false,
                })],
            },
            row: ::table_core::schema::Template {
                source: "department",
                parts: &[::table_core::schema::Part::Literal("department")],
            },
            indexes: &[],
        };
        const EXACT: ::core::primitive::bool = <String as ::table_core::__private::Property>::EXACT
            && <u32 as ::table_core::__private::Property>::EXACT;
        type Indexes<From: ::table_core::__private::Origin> = DepartmentIndexes<From>;
        type Rows = DepartmentRowsPath;
        type View<'view> = DepartmentView<'view>;
        fn indexes<From: ::table_core::__private::Origin>(from: From) -> DepartmentIndexes<From> {
            DepartmentIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut ::table_core::__private::Values<'entity>) {
            values.push(<String as ::table_core::__private::Property>::to_property(&self.name));
            values.push(<u32 as ::table_core::__private::Property>::to_property(&self.head_count));
        }
        fn from_source(source: &mut ::table_core::__private::Source<'_>) -> ::table_core::Result<Self> {
            ::core::result::Result::Ok(Self {
                name: source.next(<String as ::table_core::__private::Property>::from_property)?,
                head_count: source.next(<u32 as ::table_core::__private::Property>::from_property)?,
            })
        }
        type Patch = DepartmentPatch;
        fn exchange(&mut self, patch: &mut DepartmentPatch) {
            ::table_core::__private::exchange(&mut self.head_count, &mut patch.head_count);
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl Department {
        #[doc = "The entity's key: PartitionKey `{name}`, RowKey `department`. Reading it is a point query."]
        #[must_use]
        fn key(name: impl ::table_core::__private::KeyArg<String>) -> ::table_core::__private::Key<Self> {
            ::table_core::__private::Key::new(&[::table_core::__private::KeyArg::<String>::to_key(&name)])
        }
        #[doc = "A partition of the table: PartitionKey `{name}`. One transaction can change entities of one partition."]
        #[must_use]
        fn partition(
            name: impl ::table_core::__private::KeyArg<String>,
        ) -> ::table_core::__private::Partition<Self> {
            ::table_core::__private::Partition::new(&[::table_core::__private::KeyArg::<String>::to_key(
                &name,
            )])
        }
        #[doc = r" A patch that sets nothing yet, for a merge."]
        fn patch() -> DepartmentPatch {
            DepartmentPatch { head_count: ::core::option::Option::None }
        }
    }
    #[doc = "What a merge sets on the `Department` there: nothing at first."]
    #[must_use = "a patch does nothing until it is merged"]
    struct DepartmentPatch {
        head_count: ::core::option::Option<u32>,
    }
    #[allow(dead_code, reason = "which fields are set is the user's choice")]
    impl DepartmentPatch {
        #[doc = "Sets `head_count`."]
        fn head_count(mut self, head_count: u32) -> Self {
            self.head_count = ::core::option::Option::Some(head_count);
            self
        }
    }
    impl ::core::fmt::Debug for DepartmentPatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "DepartmentPatch").finish_non_exhaustive()
        }
    }
    #[doc = "The ways to query a table of `Department`."]
    struct DepartmentIndexes<From = ::table_core::__private::DynamicTable> {
        from: From,
    }
    impl<From: ::core::fmt::Debug> ::core::fmt::Debug for DepartmentIndexes<From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.from, f)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin> DepartmentIndexes<From> {
        #[doc = "Queries by PartitionKey `{name}`, RowKey `department`: the parts are given from left to right."]
        fn rows(&self) -> DepartmentQuery<DepartmentRowsPath, ::table_core::__private::At<0>, From> {
            DepartmentQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
    }
    #[doc = "A query of `Department`, by a path, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    struct DepartmentQuery<Path, Step, From = ::table_core::__private::DynamicTable> {
        query: ::table_core::__private::PathQuery<Path, From>,
        step: ::core::marker::PhantomData<fn() -> Step>,
    }
    impl<Path, Step, From> DepartmentQuery<Path, Step, From> {
        fn __of(query: ::table_core::__private::PathQuery<Path, From>) -> Self {
            Self { query, step: ::core::marker::PhantomData }
        }
    }
    impl<Path, Step, From: ::core::clone::Clone> ::core::clone::Clone for DepartmentQuery<Path, Step, From> {
        fn clone(&self) -> Self {
            Self::__of(::core::clone::Clone::clone(&self.query))
        }
    }
    impl<Path, Step, From> ::core::fmt::Debug for DepartmentQuery<Path, Step, From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "DepartmentQuery").finish_non_exhaustive()
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<Path, Step, From> DepartmentQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Department>,
        From: ::table_core::__private::Origin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        fn across_partitions(self) -> DepartmentQuery<Path, ::table_core::__private::Ended, From>
        where
            Path: ::table_core::__private::Open<Step>,
        {
            DepartmentQuery::__of(self.query)
        }
        #[doc = r" Gives the entities from the last to the first; said twice, from the first again."]
        fn rev(self) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
            Step: ::table_core::__private::Turns,
        {
            Self::__of(self.query.rev())
        }
        #[doc = r" Gives so many at the most."]
        fn top(self, entities: ::core::primitive::usize) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            Self::__of(self.query.top(entities))
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        fn filter(self, filter: impl ::core::ops::FnOnce(&Path::Columns) -> ::table_core::Filter) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            Self::__of(self.query.filter(filter))
        }
        #[doc = r" Reads some of the fields alone: those of a struct with `#[derive(Projection)]`."]
        fn select<Fields>(
            self,
        ) -> ::table_core::__private::PathQuery<Path, From, ::table_core::__private::Selected<Fields>>
        where
            Fields: ::table_core::__private::Projection<Entity = Department>,
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.select()
        }
        #[doc = r" Reads the entity itself that each row is a copy of, in the same snapshot: a point read for each."]
        fn entities(self) -> ::table_core::__private::PathQuery<Path, From, ::table_core::__private::Entities>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.entities()
        }
        #[doc = r" A page: at most so many, 1,000 at most, from the start or from where another page of the query ended."]
        fn page(
            &self,
            size: ::core::primitive::usize,
            after: ::core::option::Option<&::table_core::Continuation>,
        ) -> ::table_core::Result<::table_core::Page<Path::Item>>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.page(size, after)
        }
        #[doc = r" How the query will be answered, and why."]
        fn explain(&self) -> ::table_core::Result<::table_core::Explain>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        fn count(self) -> ::table_core::Result<::core::primitive::u64>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.count()
        }
    }
    #[allow(dead_code, reason = "whether it is called is the user's choice")]
    impl<'snapshot, Step> DepartmentQuery<DepartmentRowsPath, Step, ::table_core::__private::TableIn<'snapshot>>
    where
        DepartmentRowsPath: ::table_core::__private::Ready<Step>,
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        fn views(self) -> ::table_core::__private::TypedViews<'snapshot, Department> {
            self.query.views()
        }
    }
    impl<Path, Step, From> ::core::iter::IntoIterator for DepartmentQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Department>,
        Path: ::table_core::__private::Ready<Step>,
        From: ::table_core::__private::Origin,
    {
        type Item = ::table_core::Result<Path::Item>;
        type IntoIter = ::table_core::__private::TypedRows<Path, From>;
        fn into_iter(self) -> Self::IntoIter {
            ::core::iter::IntoIterator::into_iter(self.query)
        }
    }
    #[doc = "What filters of `Department` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    struct DepartmentColumns {
        #[doc = "Property `Name`."]
        name: ::table_core::__private::Column<String>,
        #[doc = "Property `HeadCount`."]
        head_count: ::table_core::__private::Column<u32>,
    }
    impl DepartmentColumns {
        const ALL: Self = Self {
            name: ::table_core::__private::Column::new("Name"),
            head_count: ::table_core::__private::Column::new("HeadCount"),
        };
    }
    #[doc(hidden)]
    #[derive(Debug)]
    enum DepartmentRowsPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for DepartmentRowsPath {
        type Entity = Department;
        type Item = ::table_core::Stored<Department>;
        type Columns = DepartmentColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::None;
        const COLUMNS: &'static DepartmentColumns = &DepartmentColumns::ALL;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Stored<Department>> {
            ::table_core::__private::read_stored(view)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        DepartmentQuery<DepartmentRowsPath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `name`, which stands in the partition key."]
        fn name(
            self,
            name: impl ::table_core::__private::KeyArg<String>,
        ) -> DepartmentQuery<DepartmentRowsPath, ::table_core::__private::At<1usize>, From> {
            DepartmentQuery::__of(self.query.fixed::<String>(0usize, &name))
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for DepartmentRowsPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for DepartmentRowsPath {}
    #[doc = "A `Department` in place: each method decodes one field."]
    struct DepartmentView<'view> {
        fields: ::table_core::__private::FieldViews<'view>,
    }
    #[allow(dead_code, reason = "which fields are read is the user's choice")]
    impl DepartmentView<'_> {
        #[doc = "The field `name`, parsed from the key."]
        fn name(&self) -> ::table_core::Result<::table_core::__private::Cow<'_, ::core::primitive::str>> {
            self.fields.key_text(0usize)
        }
        #[doc = "The field `head_count`, decoded from the property `HeadCount`."]
        fn head_count(&self) -> ::table_core::Result<u32> {
            self.fields.stored(1usize, <u32 as ::table_core::__private::Property>::from_property)
        }
    }
    #[automatically_derived]
    impl<'view> ::table_core::__private::EntityView<'view> for DepartmentView<'view> {
        fn new(fields: ::table_core::__private::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &::table_core::__private::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for DepartmentView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "DepartmentView").finish_non_exhaustive()
        }
    }
    const _: () = ::table_core::__private::checks::property(
        "name",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::property(
        "head_count",
        <u32 as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::template(
        <Department as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Partition,
    );
    const _: () = ::table_core::__private::checks::template(
        <Department as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Row,
    );
    const _: () =
        ::table_core::__private::checks::identity(<Department as ::table_core::__private::Entity>::SCHEMA);
    const _: () = ::table_core::__private::checks::hot_partition(
        <Department as ::table_core::__private::Entity>::SCHEMA,
    );
};
