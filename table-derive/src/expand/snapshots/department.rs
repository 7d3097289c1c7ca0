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
                },
                ::table_core::schema::Field {
                    name: "head_count",
                    property: "HeadCount",
                    edm: <u32 as ::table_core::__private::Property>::EDM,
                    optional: <u32 as ::table_core::__private::Property>::OPTIONAL,
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
        type Indexes = DepartmentIndexes;
        fn indexes(table: ::table_core::__private::DynamicTable) -> DepartmentIndexes {
            DepartmentIndexes { table }
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
    struct DepartmentIndexes {
        table: ::table_core::__private::DynamicTable,
    }
    impl ::core::fmt::Debug for DepartmentIndexes {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.table, f)
        }
    }
    impl DepartmentIndexes {
        #[doc = "Queries by PartitionKey `{name}`, RowKey `department`: the parts are given from left to right."]
        #[must_use]
        fn rows(&self) -> DepartmentRowsQuery<::table_core::__private::At<0>> {
            DepartmentRowsQuery {
                query: ::table_core::__private::PathQuery::new(::core::clone::Clone::clone(&self.table)),
                step: ::core::marker::PhantomData,
            }
        }
    }
    #[doc(hidden)]
    #[derive(Debug)]
    enum DepartmentRowsPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for DepartmentRowsPath {
        type Entity = Department;
        type Item = ::table_core::Stored<Department>;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::None;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Stored<Department>> {
            ::table_core::__private::read_stored(view)
        }
    }
    #[doc = "What filters of `DepartmentRowsQuery` can speak of: the properties that its rows hold."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    struct DepartmentRowsColumns {
        #[doc = "Property `HeadCount`."]
        head_count: ::table_core::__private::Column<u32>,
    }
    impl DepartmentRowsColumns {
        const ALL: Self = Self { head_count: ::table_core::__private::Column::new("HeadCount") };
    }
    #[doc = "A query by RowKey `department`, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    struct DepartmentRowsQuery<Step> {
        query: ::table_core::__private::PathQuery<DepartmentRowsPath>,
        step: ::core::marker::PhantomData<Step>,
    }
    impl<Step> ::core::fmt::Debug for DepartmentRowsQuery<Step> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "DepartmentRowsQuery").finish_non_exhaustive()
        }
    }
    impl DepartmentRowsQuery<::table_core::__private::At<0usize>> {
        #[doc = "Fixes `name`, which stands in the partition key."]
        fn name(
            self,
            name: impl ::table_core::__private::KeyArg<String>,
        ) -> DepartmentRowsQuery<::table_core::__private::At<1usize>> {
            DepartmentRowsQuery {
                query: self.query.fixed::<String>(0usize, &name),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl ::table_core::__private::Ready<DepartmentRowsPath> for ::table_core::__private::At<1usize> {}
    impl<Step: ::table_core::__private::Ready<DepartmentRowsPath>> DepartmentRowsQuery<Step> {
        #[doc = r" Gives the entities from the last to the first."]
        fn rev(mut self) -> Self {
            self.query = self.query.rev();
            self
        }
        #[doc = r" Gives so many at the most."]
        fn top(mut self, entities: ::core::primitive::usize) -> Self {
            self.query = self.query.top(entities);
            self
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        fn filter(
            mut self,
            filter: impl ::core::ops::FnOnce(&DepartmentRowsColumns) -> ::table_core::Filter,
        ) -> Self {
            self.query = self.query.filter(filter(&DepartmentRowsColumns::ALL));
            self
        }
        #[doc = r" How the query will be answered, and why."]
        fn explain(&self) -> ::table_core::Result<::table_core::Explain> {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        fn count(self) -> ::table_core::Result<::core::primitive::u64> {
            self.query.count()
        }
    }
    impl<Step: ::table_core::__private::Ready<DepartmentRowsPath>> ::core::iter::IntoIterator
        for DepartmentRowsQuery<Step>
    {
        type Item = ::table_core::Result<::table_core::Stored<Department>>;
        type IntoIter = ::table_core::__private::TypedRows<DepartmentRowsPath>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.rows()
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
