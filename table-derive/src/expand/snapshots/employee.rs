#[cfg(any())]
struct EmployeePatch;
#[cfg(any())]
struct EmployeeQuery;
#[cfg(any())]
struct EmployeeColumns;
#[cfg(any())]
struct EmployeeByEmail;
#[cfg(any())]
struct EmployeeByEmailPath;
#[cfg(any())]
struct EmployeeByNamePath;
#[cfg(any())]
struct EmployeeByName;
#[cfg(any())]
struct EmployeeByNameColumns;
#[cfg(any())]
struct EmployeeIndexes;
#[cfg(any())]
struct EmployeeView;
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
    impl __table::InOneTable for Employee {}
    #[automatically_derived]
    #[doc(hidden)]
    impl __table::InPeriods for Employee where for<'never> &'never (): __table::TableForEachPeriod<Employee> {}
    #[automatically_derived]
    impl __table::Entity for Employee {
        const SCHEMA: &'static __table::schema::Schema = {
            const FIELDS: &[__table::schema::Field] = &[
                <String as __table::KeyField>::FIELD.named("department", "Department"),
                <u32 as __table::KeyField>::FIELD.named("id", "Id"),
                <String as __table::KeyField>::FIELD.named("last_name", "LastName"),
                <String as __table::KeyField>::FIELD.named("email", "Email"),
                <i32 as __table::Property>::FIELD
                    .named("age", "Age")
                    .or(|| __table::schema::absent_value::<i32>(__table::default_of::<i32>())),
            ];
            const PARTS: [&[__table::schema::Part]; 4usize] = [
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
                    __table::schema::Part::Literal("email_"),
                    __table::schema::Part::Field(
                        __table::schema::FieldPart::new(3usize, <String as __table::KeyField>::KEY, "")
                            .version(<String as __table::KeyField>::VERSION),
                    ),
                ],
                &[
                    __table::schema::Part::Literal("name_"),
                    __table::schema::Part::Field(
                        __table::schema::FieldPart::new(2usize, <String as __table::KeyField>::KEY, "")
                            .version(<String as __table::KeyField>::VERSION),
                    ),
                    __table::schema::Part::Literal("_"),
                    __table::schema::Part::Field(
                        __table::schema::FieldPart::new(1usize, <u32 as __table::KeyField>::KEY, "06")
                            .version(<u32 as __table::KeyField>::VERSION),
                    ),
                ],
            ];
            const ROW: __table::schema::Place = __table::schema::Place::new(
                "Company",
                __table::schema::Template::new("{department}", PARTS[0usize]),
                __table::schema::Template::new("empid_{id:06}", PARTS[1usize]),
            );
            const INDEXES: &[__table::schema::Index] = &[
                __table::schema::Index::new(
                    "by_email",
                    "employee.by_email",
                    ROW.beside(__table::schema::Template::new("email_{email}", PARTS[2usize])),
                )
                .unique(),
                __table::schema::Index::new(
                    "by_name",
                    "employee.by_name",
                    ROW.beside(__table::schema::Template::new("name_{last_name}_{id:06}", PARTS[3usize])),
                )
                .copies(__table::schema::Copies::Some(&[3usize]))
                .sparse(),
            ];
            static DECLARED: __table::schema::Schema =
                __table::schema::Schema::new(["Employee", "employee"], FIELDS, &[ROW]).indexes(INDEXES);
            &DECLARED
        };
        type Indexes<In: __table::AnyOrigin> = EmployeeIndexes<In>;
        type Columns = EmployeeColumns;
        type View<'view> = EmployeeView<'view>;
        const COLUMNS: &'static EmployeeColumns = &EmployeeColumns {
            department: __table::Column::new("Department"),
            id: __table::Column::new("Id"),
            last_name: __table::Column::new("LastName"),
            email: __table::Column::new("Email"),
            age: __table::Column::new("Age"),
        };
        fn indexes<In: __table::AnyOrigin>(from: In) -> EmployeeIndexes<In> {
            EmployeeIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut __table::Values<'entity>) {
            values.push(<String as __table::KeyField>::to_property(&self.department));
            values.push(<u32 as __table::KeyField>::to_property(&self.id));
            values.push(<String as __table::KeyField>::to_property(&self.last_name));
            values.push(<String as __table::KeyField>::to_property(&self.email));
            values.push(<i32 as __table::Property>::to_property(&self.age));
        }
        fn from_source(source: &mut __table::Source<'_>) -> __table::Result<Self> {
            ::core::result::Result::Ok(Self {
                department: source.next(<String as __table::KeyField>::TAKE)?,
                id: source.next(<u32 as __table::KeyField>::TAKE)?,
                last_name: source.next(<String as __table::KeyField>::TAKE)?,
                email: source.next(<String as __table::KeyField>::TAKE)?,
                age: source.next_or(<i32 as __table::Property>::TAKE, __table::default_of::<i32>)?,
            })
        }
        type Patch = EmployeePatch;
        fn exchange(&mut self, patch: &mut EmployeePatch) {
            __table::exchange(&mut self.last_name, &mut patch.last_name);
            __table::exchange(&mut self.email, &mut patch.email);
            __table::exchange(&mut self.age, &mut patch.age);
        }
        fn has_row(&self, index: ::core::primitive::usize) -> ::core::primitive::bool {
            match index {
                1usize => __table::decides::<Self, _>(Employee::is_listed, self),
                _ => true,
            }
        }
    }
    impl Employee {
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
        #[doc = "A patch that sets nothing yet, for a merge. Its methods are called as the fields are; `#[entity(types)]` puts `EmployeePatch` beside the struct, where `cargo doc` shows them."]
        #[inline]
        pub fn patch() -> EmployeePatch {
            EmployeePatch {
                last_name: ::core::option::Option::None,
                email: ::core::option::Option::None,
                age: ::core::option::Option::None,
            }
        }
        #[doc = "The key of the entity's copy in `by_email`: PartitionKey `{department}`, RowKey `email_{email}`. Reading it is a point query."]
        #[must_use]
        pub fn by_email(
            department_: impl __table::KeyArg<String>,
            email_: impl __table::KeyArg<String>,
        ) -> __table::IndexKey<__table::WholeCopies<Employee, 0usize>> {
            __table::IndexKey::of_parts(&[
                __table::KeyArg::<String>::to_key(&department_),
                __table::KeyArg::<String>::to_key(&email_),
            ])
        }
        #[doc = "The key of the entity's copy in `by_name`: PartitionKey `{department}`, RowKey `name_{last_name}_{id:06}`. Reading it is a point query."]
        #[must_use]
        pub fn by_name(
            department_: impl __table::KeyArg<String>,
            last_name_: impl __table::KeyArg<String>,
            id_: impl __table::KeyArg<u32>,
        ) -> __table::IndexKey<EmployeeByNamePath> {
            __table::IndexKey::of_parts(&[
                __table::KeyArg::<String>::to_key(&department_),
                __table::KeyArg::<String>::to_key(&last_name_),
                __table::KeyArg::<u32>::to_key(&id_),
            ])
        }
    }
    #[doc = "What a merge sets on the `Employee` there: nothing at first."]
    #[must_use = "a patch does nothing until it is merged"]
    pub struct EmployeePatch {
        last_name: ::core::option::Option<String>,
        email: ::core::option::Option<String>,
        age: ::core::option::Option<i32>,
    }
    impl EmployeePatch {
        #[doc = "Sets `last_name`."]
        #[inline]
        pub fn last_name(mut self, last_name_: impl ::core::convert::Into<String>) -> Self {
            self.last_name = ::core::option::Option::Some(::core::convert::Into::into(last_name_));
            self
        }
        #[doc = "Sets `email`.\n\nWhere letters go,\nas they are now."]
        #[inline]
        pub fn email(mut self, email_: impl ::core::convert::Into<String>) -> Self {
            self.email = ::core::option::Option::Some(::core::convert::Into::into(email_));
            self
        }
        #[doc = "Sets `age`.\n\nIn years."]
        #[inline]
        pub fn age(mut self, age_: i32) -> Self {
            self.age = ::core::option::Option::Some(age_);
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
    impl ::core::fmt::Debug for EmployeePatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "EmployeePatch")
        }
    }
    #[doc = "The ways to query a table of `Employee`."]
    pub struct EmployeeIndexes<In = __table::DynamicTable> {
        from: In,
    }
    impl<In: __table::AnyOrigin> EmployeeIndexes<In> {
        #[doc = "Queries by PartitionKey `{department}`, RowKey `empid_{id:06}`: the parts are given from left to right. `#[entity(types)]` puts `EmployeeQuery` beside the struct."]
        pub fn rows(&self) -> EmployeeQuery<__table::OwnRows<Employee>, __table::InPartition<0usize>, In> {
            EmployeeQuery { query: __table::PathQuery::new(&self.from) }
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `email_{email}`: the parts are given from left to right. `#[entity(types)]` puts `EmployeeQuery` beside the struct."]
        pub fn by_email(
            &self,
        ) -> EmployeeQuery<__table::WholeCopies<Employee, 0usize>, __table::InPartition<0usize>, In> {
            EmployeeQuery { query: __table::PathQuery::new(&self.from) }
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `name_{last_name}_{id:06}`: the parts are given from left to right. `#[entity(types)]` puts `EmployeeQuery` beside the struct."]
        pub fn by_name(&self) -> EmployeeQuery<EmployeeByNamePath, __table::InPartition<0usize>, In> {
            EmployeeQuery { query: __table::PathQuery::new(&self.from) }
        }
    }
    #[doc = "A query of `Employee`, by a path, at one of its steps: `EmployeeQuery<OwnRows<Employee>, At<2>>` after two parts of its own key."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct EmployeeQuery<By, Step, In = __table::DynamicTable> {
        query: __table::PathQuery<By, In, __table::Whole, Step>,
    }
    impl<By, Step, In: ::core::clone::Clone> ::core::clone::Clone for EmployeeQuery<By, Step, In> {
        fn clone(&self) -> Self {
            Self { query: ::core::clone::Clone::clone(&self.query) }
        }
    }
    #[doc(hidden)]
    impl<By: 'static, Step, In> ::core::ops::Deref for EmployeeQuery<By, Step, In> {
        type Target = __table::AnyQuery<By>;
        fn deref(&self) -> &__table::AnyQuery<By> {
            __table::AnyQuery::words()
        }
    }
    impl<By, Step, In> ::core::fmt::Debug for EmployeeQuery<By, Step, In> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "EmployeeQuery")
        }
    }
    impl<By, Step, In> EmployeeQuery<By, Step, In>
    where
        By: __table::Path,
        In: __table::AnyOrigin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        pub fn across_partitions(self) -> EmployeeQuery<By, __table::Ended, In>
        where
            Step: __table::Open,
        {
            EmployeeQuery { query: self.query.at() }
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
        pub fn latest(self, entities: ::core::primitive::usize) -> EmployeeQuery<By, __table::Newest, In>
        where
            Step: __table::InOne,
            Step::Of<Self>: __table::CountsBackwards,
        {
            EmployeeQuery { query: self.query.newest(entities) }
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
    impl<By, Step, In> EmployeeQuery<By, Step, In>
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
    impl<By, Step, In> EmployeeQuery<By, Step, In>
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
    __table::async_ends! { [pub] EmployeeQuery By Step }
    impl<'snapshot, Step: __table::Ready>
        EmployeeQuery<__table::OwnRows<Employee>, Step, __table::TableIn<'snapshot>>
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        pub fn views(self) -> __table::TypedViews<'snapshot, Employee> {
            self.query.views()
        }
    }
    impl<By, const PARTS: ::core::primitive::usize> ::core::iter::IntoIterator
        for EmployeeQuery<By, __table::At<PARTS>, __table::DynamicTable>
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
        for EmployeeQuery<By, __table::At<PARTS>, __table::TableIn<'snapshot>>
    where
        By: __table::Path,
    {
        type Item = __table::Result<By::Item>;
        type IntoIter = __table::TypedRows<By, __table::TableIn<'snapshot>>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.into_iter()
        }
    }
    impl<By, Order> ::core::iter::IntoIterator for EmployeeQuery<By, __table::Ended<Order>, __table::DynamicTable>
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
        for EmployeeQuery<By, __table::Ended<Order>, __table::TableIn<'snapshot>>
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
        for EmployeeQuery<By, __table::InPartition<PARTS>, In>
    where
        By: __table::Path,
        __table::InPartition<PARTS>: __table::Ready,
    {
        type Item = __table::Result<By::Item>;
        fn next(&mut self) -> ::core::option::Option<Self::Item> {
            ::core::option::Option::None
        }
    }
    #[doc = "What filters of `Employee` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    pub struct EmployeeColumns {
        #[doc = "Where they work.\n\nProperty `Department`."]
        pub department: __table::Column<String>,
        #[doc = "Property `Id`."]
        pub id: __table::Column<u32>,
        #[doc = "Property `LastName`."]
        pub last_name: __table::Column<String>,
        #[doc = "Where letters go,\nas they are now.\n\nProperty `Email`."]
        pub email: __table::Column<String>,
        #[doc = "In years.\n\nProperty `Age`."]
        pub age: __table::Column<i32, __table::Plain, __table::Maybe>,
    }
    mod of_Employee {
        pub enum department {}
        pub enum last_name {}
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<__table::OwnRows<Employee>, Step, In> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department_: impl __table::KeyArg<String>,
        ) -> EmployeeQuery<__table::OwnRows<Employee>, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            EmployeeQuery { query: self.query.fixed::<String, _>(0usize, &department_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<__table::OwnRows<Employee>, Step, In> {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(
            self,
            id_: Given,
        ) -> EmployeeQuery<
            __table::OwnRows<Employee>,
            <Given as __table::PartArg<u32, __table::At<2usize>, __table::Offers<true, false>>>::Step,
            In,
        >
        where
            Given: __table::PartArg<u32, __table::At<2usize>, __table::Offers<true, false>>,
            Step: __table::GoesOn + __table::ComesAfter<__table::At<1usize>, of_Employee::department>,
        {
            EmployeeQuery { query: self.query.part(1usize, id_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<__table::WholeCopies<Employee, 0usize>, Step, In> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department_: impl __table::KeyArg<String>,
        ) -> EmployeeQuery<__table::WholeCopies<Employee, 0usize>, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            EmployeeQuery { query: self.query.fixed::<String, _>(0usize, &department_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<__table::WholeCopies<Employee, 0usize>, Step, In> {
        #[doc = "Narrows by `email`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn email<Given>(
            self,
            email_: Given,
        ) -> EmployeeQuery<
            __table::WholeCopies<Employee, 0usize>,
            <Given as __table::PartArg<String, __table::At<2usize>, __table::Offers<true, true>>>::Step,
            In,
        >
        where
            Given: __table::PartArg<String, __table::At<2usize>, __table::Offers<true, true>>,
            Step: __table::GoesOn + __table::ComesAfter<__table::At<1usize>, of_Employee::department>,
        {
            EmployeeQuery { query: self.query.part(3usize, email_) }
        }
    }
    #[doc = "The way to `Employee` by the index `by_name`, in the type of a query."]
    #[non_exhaustive]
    pub enum EmployeeByNamePath {}
    impl __table::Holds<__table::FieldNumber<11520974274199761607u64>> for EmployeeByNamePath {}
    impl __table::Holds<__table::FieldNumber<628021283683842752u64>> for EmployeeByNamePath {}
    impl __table::Holds<__table::FieldNumber<8253495473240048185u64>> for EmployeeByNamePath {}
    impl __table::Holds<__table::FieldNumber<1311787414694181895u64>> for EmployeeByNamePath {}
    #[automatically_derived]
    impl __table::Path for EmployeeByNamePath {
        type Entity = Employee;
        type Item = EmployeeByName;
        type Columns = EmployeeByNameColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(1usize);
        const COLUMNS: &'static EmployeeByNameColumns = &EmployeeByNameColumns {
            department: __table::Column::new("Department"),
            id: __table::Column::new("Id"),
            last_name: __table::Column::new("LastName"),
            email: __table::Column::new("Email"),
        };
        fn read(view: &__table::RowView<'_>) -> __table::Result<EmployeeByName> {
            EmployeeByName::from_view(view)
        }
    }
    #[doc = "A row of the index `by_name` of `Employee`."]
    #[non_exhaustive]
    pub struct EmployeeByName {
        #[doc = "Where they work.\n\nAs in the entity: property `Department`."]
        pub department: String,
        #[doc = "As in the entity: property `Id`."]
        pub id: u32,
        #[doc = "As in the entity: property `LastName`."]
        pub last_name: String,
        #[doc = "Where letters go,\nas they are now.\n\nAs in the entity: property `Email`."]
        pub email: String,
    }
    impl EmployeeByName {
        fn from_view(view: &__table::RowView<'_>) -> __table::Result<Self> {
            let source = __table::Source::of::<EmployeeByNamePath>(view)?;
            ::core::result::Result::Ok(Self {
                department: source.field(0usize, <String as __table::KeyField>::TAKE)?,
                id: source.field(1usize, <u32 as __table::KeyField>::TAKE)?,
                last_name: source.field(2usize, <String as __table::KeyField>::TAKE)?,
                email: source.field(3usize, <String as __table::KeyField>::TAKE)?,
            })
        }
        #[doc = r" The key of the entity itself."]
        #[must_use]
        pub fn key(&self) -> __table::Key<Employee> {
            __table::Key::of_parts(&[
                __table::KeyArg::<String>::to_key(&self.department),
                __table::KeyArg::<u32>::to_key(&self.id),
            ])
        }
    }
    impl ::core::fmt::Debug for EmployeeByName {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::ShownRow::new(f, "EmployeeByName", <Employee as __table::Entity>::SCHEMA)
                .field(0usize, <String as __table::KeyField>::to_property(&self.department))
                .field(1usize, <u32 as __table::KeyField>::to_property(&self.id))
                .field(2usize, <String as __table::KeyField>::to_property(&self.last_name))
                .field(3usize, <String as __table::KeyField>::to_property(&self.email))
                .finish()
        }
    }
    #[doc = "What filters of the index `by_name` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    pub struct EmployeeByNameColumns {
        #[doc = "Where they work.\n\nProperty `Department`."]
        pub department: __table::Column<String>,
        #[doc = "Property `Id`."]
        pub id: __table::Column<u32>,
        #[doc = "Property `LastName`."]
        pub last_name: __table::Column<String>,
        #[doc = "Where letters go,\nas they are now.\n\nProperty `Email`."]
        pub email: __table::Column<String>,
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<EmployeeByNamePath, Step, In> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department_: impl __table::KeyArg<String>,
        ) -> EmployeeQuery<EmployeeByNamePath, __table::At<1usize>, In>
        where
            Step: __table::GoesOn + __table::Comes<__table::InPartition<0usize>>,
        {
            EmployeeQuery { query: self.query.fixed::<String, _>(0usize, &department_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<EmployeeByNamePath, Step, In> {
        #[doc = "Narrows by `last_name`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn last_name<Given>(
            self,
            last_name_: Given,
        ) -> EmployeeQuery<
            EmployeeByNamePath,
            <Given as __table::PartArg<String, __table::At<2usize>, __table::Offers<false, true>>>::Step,
            In,
        >
        where
            Given: __table::PartArg<String, __table::At<2usize>, __table::Offers<false, true>>,
            Step: __table::GoesOn + __table::ComesAfter<__table::At<1usize>, of_Employee::department>,
        {
            EmployeeQuery { query: self.query.part(2usize, last_name_) }
        }
    }
    impl<Step, In: __table::AnyOrigin> EmployeeQuery<EmployeeByNamePath, Step, In> {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(
            self,
            id_: Given,
        ) -> EmployeeQuery<
            EmployeeByNamePath,
            <Given as __table::PartArg<u32, __table::At<3usize>, __table::Offers<true, false>>>::Step,
            In,
        >
        where
            Given: __table::PartArg<u32, __table::At<3usize>, __table::Offers<true, false>>,
            Step: __table::GoesOn + __table::ComesAfter<__table::At<2usize>, of_Employee::last_name>,
        {
            EmployeeQuery { query: self.query.part(1usize, id_) }
        }
    }
    #[doc = "A `Employee` in place: each method decodes one field."]
    pub struct EmployeeView<'view> {
        fields: __table::FieldViews<'view>,
    }
    impl EmployeeView<'_> {
        #[doc = "The field `department`, parsed from the key.\n\nWhere they work."]
        #[inline]
        pub fn department(&self) -> __table::Result<__table::Cow<'_, ::core::primitive::str>> {
            self.fields.key_text(0usize)
        }
        #[doc = "The field `id`, parsed from the key."]
        #[inline]
        pub fn id(&self) -> __table::Result<u32> {
            self.fields.key(1usize, <u32 as __table::KeyField>::from_property)
        }
        #[doc = "The field `last_name`, decoded from the property `LastName`."]
        #[inline]
        pub fn last_name(&self) -> __table::Result<&::core::primitive::str> {
            self.fields.text(2usize)
        }
        #[doc = "The field `email`, decoded from the property `Email`.\n\nWhere letters go,\nas they are now."]
        #[inline]
        pub fn email(&self) -> __table::Result<&::core::primitive::str> {
            self.fields.text(3usize)
        }
        #[doc = "The field `age`, decoded from the property `Age`.\n\nIn years."]
        #[inline]
        pub fn age(&self) -> __table::Result<i32> {
            self.fields.stored_or(
                4usize,
                <i32 as __table::Property>::from_property,
                __table::default_of::<i32>,
            )
        }
    }
    #[automatically_derived]
    impl<'view> __table::EntityView<'view> for EmployeeView<'view> {
        fn new(fields: __table::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &__table::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for EmployeeView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __table::named(f, "EmployeeView")
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
        __table::checks::property(
            "last_name",
            <String as __table::KeyField>::NESTED,
            <String as __table::KeyField>::CONTENT,
        );
        __table::checks::property(
            "email",
            <String as __table::KeyField>::NESTED,
            <String as __table::KeyField>::CONTENT,
        );
        __table::checks::property(
            "age",
            <i32 as __table::Property>::NESTED,
            <i32 as __table::Property>::CONTENT,
        );
    };
    const _: () = __table::checks::partition(<Employee as __table::Entity>::SCHEMA, false);
    const _: () = __table::checks::row(<Employee as __table::Entity>::SCHEMA);
    const _: () = __table::checks::index_row(<Employee as __table::Entity>::SCHEMA, 0usize);
    const _: () = __table::checks::index_row(<Employee as __table::Entity>::SCHEMA, 1usize);
};
