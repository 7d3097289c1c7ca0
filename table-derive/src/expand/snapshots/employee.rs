#[allow(clippy::impl_trait_in_params, reason = "no caller would name such a type")]
const _: () = {
    #[automatically_derived]
    impl ::table_core::__private::Entity for Employee {
        const SCHEMA: &'static ::table_core::schema::Schema = &::table_core::schema::Schema {
            entity: "Employee",
            table: "Company",
            kind: "employee",
            version: 1u32,
            fields: &[
                ::table_core::schema::Field {
                    name: "department",
                    property: "Department",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "id",
                    property: "Id",
                    edm: <u32 as ::table_core::__private::Property>::EDM,
                    optional: <u32 as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "last_name",
                    property: "LastName",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "email",
                    property: "Email",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "age",
                    property: "Age",
                    edm: <i32 as ::table_core::__private::Property>::EDM,
                    optional: true,
                    ..::table_core::schema::Field::PLAIN
                },
            ],
            partition: ::table_core::schema::Template {
                source: "{department}",
                parts: &[::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                    field: 0usize,
                    key: <String as ::table_core::__private::KeyPart>::KEY,
                    format: ::table_core::schema::Format::Plain,
                    each: false,
                })],
            },
            row: ::table_core::schema::Template {
                source: "empid_{id:06}",
                parts: &[
                    ::table_core::schema::Part::Literal("empid_"),
                    ::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                        field: 1usize,
                        key: <u32 as ::table_core::__private::KeyPart>::KEY,
                        format: ::table_core::schema::Format::Pad(6u8),
                        each: false,
                    }),
                ],
            },
            indexes: &[
                ::table_core::schema::Index {
                    name: "by_email",
                    kind: "employee.by_email",
                    row: ::table_core::schema::Template {
                        source: "email_{email}",
                        parts: &[
                            ::table_core::schema::Part::Literal("email_"),
                            ::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                                field: 3usize,
                                key: <String as ::table_core::__private::KeyPart>::KEY,
                                format: ::table_core::schema::Format::Plain,
                                each: false,
                            }),
                        ],
                    },
                    unique: true,
                    copies: ::table_core::schema::Copies::All,
                    sparse: false,
                },
                ::table_core::schema::Index {
                    name: "by_name",
                    kind: "employee.by_name",
                    row: ::table_core::schema::Template {
                        source: "name_{last_name}_{id:06}",
                        parts: &[
                            ::table_core::schema::Part::Literal("name_"),
                            ::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                                field: 2usize,
                                key: <String as ::table_core::__private::KeyPart>::KEY,
                                format: ::table_core::schema::Format::Plain,
                                each: false,
                            }),
                            ::table_core::schema::Part::Literal("_"),
                            ::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                                field: 1usize,
                                key: <u32 as ::table_core::__private::KeyPart>::KEY,
                                format: ::table_core::schema::Format::Pad(6u8),
                                each: false,
                            }),
                        ],
                    },
                    unique: false,
                    copies: ::table_core::schema::Copies::Some(&[3usize]),
                    sparse: true,
                },
            ],
        };
        const EXACT: ::core::primitive::bool = <String as ::table_core::__private::Property>::EXACT
            && <u32 as ::table_core::__private::Property>::EXACT
            && <String as ::table_core::__private::Property>::EXACT
            && <String as ::table_core::__private::Property>::EXACT
            && <i32 as ::table_core::__private::Property>::EXACT;
        type Indexes<From: ::table_core::__private::Origin> = EmployeeIndexes<From>;
        type Rows = EmployeeRowsPath;
        type View<'view> = EmployeeView<'view>;
        fn indexes<From: ::table_core::__private::Origin>(from: From) -> EmployeeIndexes<From> {
            EmployeeIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut ::table_core::__private::Values<'entity>) {
            values.push(<String as ::table_core::__private::Property>::to_property(&self.department));
            values.push(<u32 as ::table_core::__private::Property>::to_property(&self.id));
            values.push(<String as ::table_core::__private::Property>::to_property(&self.last_name));
            values.push(<String as ::table_core::__private::Property>::to_property(&self.email));
            values.push(<i32 as ::table_core::__private::Property>::to_property(&self.age));
        }
        fn from_source(source: &mut ::table_core::__private::Source<'_>) -> ::table_core::Result<Self> {
            ::core::result::Result::Ok(Self {
                department: source.next(<String as ::table_core::__private::Property>::from_property)?,
                id: source.next(<u32 as ::table_core::__private::Property>::from_property)?,
                last_name: source.next(<String as ::table_core::__private::Property>::from_property)?,
                email: source.next(<String as ::table_core::__private::Property>::from_property)?,
                age: source.next_or_default(<i32 as ::table_core::__private::Property>::from_property)?,
            })
        }
        type Patch = EmployeePatch;
        fn exchange(&mut self, patch: &mut EmployeePatch) {
            ::table_core::__private::exchange(&mut self.last_name, &mut patch.last_name);
            ::table_core::__private::exchange(&mut self.email, &mut patch.email);
            ::table_core::__private::exchange(&mut self.age, &mut patch.age);
        }
        fn has_row(&self, index: ::core::primitive::usize) -> ::core::primitive::bool {
            match index {
                1usize => {
                    let when: fn(&Self) -> ::core::primitive::bool = Employee::is_listed;
                    when(self)
                }
                _ => true,
            }
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl Employee {
        #[doc = "The entity's key: PartitionKey `{department}`, RowKey `empid_{id:06}`. Reading it is a point query."]
        #[must_use]
        pub fn key(
            department: impl ::table_core::__private::KeyArg<String>,
            id: impl ::table_core::__private::KeyArg<u32>,
        ) -> ::table_core::__private::Key<Self> {
            ::table_core::__private::Key::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&department),
                ::table_core::__private::KeyArg::<u32>::to_key(&id),
            ])
        }
        #[doc = "A partition of the table: PartitionKey `{department}`. One transaction can change entities of one partition."]
        #[must_use]
        pub fn partition(
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> ::table_core::__private::Partition<Self> {
            ::table_core::__private::Partition::new(&[::table_core::__private::KeyArg::<String>::to_key(
                &department,
            )])
        }
        #[doc = r" A patch that sets nothing yet, for a merge."]
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
            department: impl ::table_core::__private::KeyArg<String>,
            email: impl ::table_core::__private::KeyArg<String>,
        ) -> ::table_core::__private::IndexKey<EmployeeByEmailPath> {
            ::table_core::__private::IndexKey::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&department),
                ::table_core::__private::KeyArg::<String>::to_key(&email),
            ])
        }
        #[doc = "The key of the entity's copy in `by_name`: PartitionKey `{department}`, RowKey `name_{last_name}_{id:06}`. Reading it is a point query."]
        #[must_use]
        pub fn by_name(
            department: impl ::table_core::__private::KeyArg<String>,
            last_name: impl ::table_core::__private::KeyArg<String>,
            id: impl ::table_core::__private::KeyArg<u32>,
        ) -> ::table_core::__private::IndexKey<EmployeeByNamePath> {
            ::table_core::__private::IndexKey::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&department),
                ::table_core::__private::KeyArg::<String>::to_key(&last_name),
                ::table_core::__private::KeyArg::<u32>::to_key(&id),
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
    #[allow(dead_code, reason = "which fields are set is the user's choice")]
    impl EmployeePatch {
        #[doc = "Sets `last_name`."]
        pub fn last_name(mut self, last_name: impl ::core::convert::Into<String>) -> Self {
            self.last_name = ::core::option::Option::Some(::core::convert::Into::into(last_name));
            self
        }
        #[doc = "Sets `email`."]
        pub fn email(mut self, email: impl ::core::convert::Into<String>) -> Self {
            self.email = ::core::option::Option::Some(::core::convert::Into::into(email));
            self
        }
        #[doc = "Sets `age`."]
        pub fn age(mut self, age: i32) -> Self {
            self.age = ::core::option::Option::Some(age);
            self
        }
    }
    impl ::core::fmt::Debug for EmployeePatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeePatch").finish_non_exhaustive()
        }
    }
    #[doc = "The ways to query a table of `Employee`."]
    pub struct EmployeeIndexes<From = ::table_core::__private::DynamicTable> {
        from: From,
    }
    impl<From: ::core::fmt::Debug> ::core::fmt::Debug for EmployeeIndexes<From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.from, f)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin> EmployeeIndexes<From> {
        #[doc = "Queries by PartitionKey `{department}`, RowKey `empid_{id:06}`: the parts are given from left to right."]
        pub fn rows(&self) -> EmployeeQuery<EmployeeRowsPath, ::table_core::__private::At<0>, From> {
            EmployeeQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `email_{email}`: the parts are given from left to right."]
        pub fn by_email(&self) -> EmployeeQuery<EmployeeByEmailPath, ::table_core::__private::At<0>, From> {
            EmployeeQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `name_{last_name}_{id:06}`: the parts are given from left to right."]
        pub fn by_name(&self) -> EmployeeQuery<EmployeeByNamePath, ::table_core::__private::At<0>, From> {
            EmployeeQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
    }
    #[doc = "A query of `Employee`, by a path, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct EmployeeQuery<Path, Step, From = ::table_core::__private::DynamicTable> {
        query: ::table_core::__private::PathQuery<Path, From>,
        step: ::core::marker::PhantomData<fn() -> Step>,
    }
    impl<Path, Step, From> EmployeeQuery<Path, Step, From> {
        fn __of(query: ::table_core::__private::PathQuery<Path, From>) -> Self {
            Self { query, step: ::core::marker::PhantomData }
        }
    }
    impl<Path, Step, From: ::core::clone::Clone> ::core::clone::Clone for EmployeeQuery<Path, Step, From> {
        fn clone(&self) -> Self {
            Self::__of(::core::clone::Clone::clone(&self.query))
        }
    }
    impl<Path, Step, From> ::core::fmt::Debug for EmployeeQuery<Path, Step, From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeQuery").finish_non_exhaustive()
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<Path, Step, From> EmployeeQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Employee>,
        From: ::table_core::__private::Origin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        pub fn across_partitions(self) -> EmployeeQuery<Path, ::table_core::__private::Ended, From>
        where
            Path: ::table_core::__private::Open<Step>,
        {
            EmployeeQuery::__of(self.query)
        }
        #[doc = r" Gives the entities from the last to the first; said twice, from the first again."]
        pub fn rev(self) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
            Step: ::table_core::__private::Turns,
        {
            Self::__of(self.query.rev())
        }
        #[doc = r" Gives so many at the most."]
        pub fn top(self, entities: ::core::primitive::usize) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            Self::__of(self.query.top(entities))
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        pub fn filter(self, filter: impl ::core::ops::FnOnce(&Path::Columns) -> ::table_core::Filter) -> Self
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            Self::__of(self.query.filter(filter))
        }
        #[doc = r" Reads some of the fields alone: those of a struct with `#[derive(Projection)]`."]
        pub fn select<Fields>(
            self,
        ) -> ::table_core::__private::PathQuery<Path, From, ::table_core::__private::Selected<Fields>>
        where
            Fields: ::table_core::__private::Projection<Entity = Employee>,
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.select()
        }
        #[doc = r" Reads the entity itself that each row is a copy of, in the same snapshot: a point read for each."]
        pub fn entities(
            self,
        ) -> ::table_core::__private::PathQuery<Path, From, ::table_core::__private::Entities>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.entities()
        }
        #[doc = r" A page: at most so many, 1,000 at most, from the start or from where another page of the query ended."]
        pub fn page(
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
        pub fn explain(&self) -> ::table_core::Result<::table_core::Explain>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        pub fn count(self) -> ::table_core::Result<::core::primitive::u64>
        where
            Path: ::table_core::__private::Ready<Step>,
        {
            self.query.count()
        }
    }
    #[allow(dead_code, reason = "whether it is called is the user's choice")]
    impl<'snapshot, Step> EmployeeQuery<EmployeeRowsPath, Step, ::table_core::__private::TableIn<'snapshot>>
    where
        EmployeeRowsPath: ::table_core::__private::Ready<Step>,
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        pub fn views(self) -> ::table_core::__private::TypedViews<'snapshot, Employee> {
            self.query.views()
        }
    }
    impl<Path, Step, From> ::core::iter::IntoIterator for EmployeeQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Employee>,
        Path: ::table_core::__private::Ready<Step>,
        From: ::table_core::__private::Origin,
    {
        type Item = ::table_core::Result<Path::Item>;
        type IntoIter = ::table_core::__private::TypedRows<Path, From>;
        fn into_iter(self) -> Self::IntoIter {
            ::core::iter::IntoIterator::into_iter(self.query)
        }
    }
    #[doc = "What filters of `Employee` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct EmployeeColumns {
        #[doc = "Property `Department`."]
        pub department: ::table_core::__private::Column<String>,
        #[doc = "Property `Id`."]
        pub id: ::table_core::__private::Column<u32>,
        #[doc = "Property `LastName`."]
        pub last_name: ::table_core::__private::Column<String>,
        #[doc = "Property `Email`."]
        pub email: ::table_core::__private::Column<String>,
        #[doc = "Property `Age`."]
        pub age: ::table_core::__private::Column<i32>,
    }
    impl EmployeeColumns {
        const ALL: Self = Self {
            department: ::table_core::__private::Column::new("Department"),
            id: ::table_core::__private::Column::new("Id"),
            last_name: ::table_core::__private::Column::new("LastName"),
            email: ::table_core::__private::Column::new("Email"),
            age: ::table_core::__private::Column::new("Age"),
        };
    }
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeRowsPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeRowsPath {
        type Entity = Employee;
        type Item = ::table_core::Stored<Employee>;
        type Columns = EmployeeColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::None;
        const COLUMNS: &'static EmployeeColumns = &EmployeeColumns::ALL;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Stored<Employee>> {
            ::table_core::__private::read_stored(view)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeRowsPath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeQuery<EmployeeRowsPath, ::table_core::__private::At<1usize>, From> {
            EmployeeQuery::__of(self.query.fixed::<String>(0usize, &department))
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeRowsPath, ::table_core::__private::At<1usize>, From>
    {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(self, id: Given) -> EmployeeQuery<EmployeeRowsPath, Given::Step, From>
        where
            Given: ::table_core::__private::PartArg<
                    u32,
                    ::table_core::__private::At<2usize>,
                    ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Row,
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Row,
                                0usize,
                            )
                        },
                    >,
                >,
        {
            EmployeeQuery::__of(
                self.query.part::<u32, ::table_core::__private::At<2usize>, ::table_core::__private::Offers<
                    {
                        ::table_core::__private::checks::offers_range(
                            <Employee as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Row,
                            0usize,
                        )
                    },
                    {
                        ::table_core::__private::checks::offers_prefix(
                            <Employee as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Row,
                            0usize,
                        )
                    },
                >>(1usize, id),
            )
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for EmployeeRowsPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for EmployeeRowsPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<2usize>> for EmployeeRowsPath {}
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeByEmailPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeByEmailPath {
        type Entity = Employee;
        type Item = ::table_core::Copied<Employee>;
        type Columns = EmployeeColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(0usize);
        const COLUMNS: &'static EmployeeColumns = &EmployeeColumns::ALL;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Copied<Employee>> {
            ::table_core::__private::read_copied::<Self>(view)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeByEmailPath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeQuery<EmployeeByEmailPath, ::table_core::__private::At<1usize>, From> {
            EmployeeQuery::__of(self.query.fixed::<String>(0usize, &department))
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeByEmailPath, ::table_core::__private::At<1usize>, From>
    {
        #[doc = "Narrows by `email`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn email<Given>(self, email: Given) -> EmployeeQuery<EmployeeByEmailPath, Given::Step, From>
        where
            Given: ::table_core::__private::PartArg<
                    String,
                    ::table_core::__private::At<2usize>,
                    ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(0usize),
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(0usize),
                                0usize,
                            )
                        },
                    >,
                >,
        {
            EmployeeQuery::__of(
                self.query
                    .part::<String, ::table_core::__private::At<2usize>, ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(0usize),
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(0usize),
                                0usize,
                            )
                        },
                    >>(3usize, email),
            )
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for EmployeeByEmailPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for EmployeeByEmailPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<2usize>> for EmployeeByEmailPath {}
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeByNamePath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeByNamePath {
        type Entity = Employee;
        type Item = EmployeeByName;
        type Columns = EmployeeByNameColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(1usize);
        const COLUMNS: &'static EmployeeByNameColumns = &EmployeeByNameColumns::ALL;
        fn read(view: &::table_core::__private::RowView<'_>) -> ::table_core::Result<EmployeeByName> {
            EmployeeByName::from_view(view)
        }
    }
    #[doc = "A row of the index `by_name` of `Employee`."]
    #[non_exhaustive]
    #[allow(dead_code, reason = "which fields are read is the user's choice")]
    pub struct EmployeeByName {
        #[doc = "As in the entity: property `Department`."]
        pub department: String,
        #[doc = "As in the entity: property `Id`."]
        pub id: u32,
        #[doc = "As in the entity: property `LastName`."]
        pub last_name: String,
        #[doc = "As in the entity: property `Email`."]
        pub email: String,
    }
    impl EmployeeByName {
        fn from_view(view: &::table_core::__private::RowView<'_>) -> ::table_core::Result<Self> {
            let source = ::table_core::__private::Source::of::<EmployeeByNamePath>(view)?;
            ::core::result::Result::Ok(Self {
                department: source
                    .field(0usize, <String as ::table_core::__private::Property>::from_property)?,
                id: source.field(1usize, <u32 as ::table_core::__private::Property>::from_property)?,
                last_name: source
                    .field(2usize, <String as ::table_core::__private::Property>::from_property)?,
                email: source.field(3usize, <String as ::table_core::__private::Property>::from_property)?,
            })
        }
        #[doc = r" The key of the entity itself."]
        #[must_use]
        pub fn key(&self) -> ::table_core::__private::Key<Employee> {
            ::table_core::__private::Key::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&self.department),
                ::table_core::__private::KeyArg::<u32>::to_key(&self.id),
            ])
        }
    }
    impl ::core::fmt::Debug for EmployeeByName {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeByName").finish_non_exhaustive()
        }
    }
    #[doc = "What filters of `Employee` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct EmployeeByNameColumns {
        #[doc = "Property `Department`."]
        pub department: ::table_core::__private::Column<String>,
        #[doc = "Property `Id`."]
        pub id: ::table_core::__private::Column<u32>,
        #[doc = "Property `LastName`."]
        pub last_name: ::table_core::__private::Column<String>,
        #[doc = "Property `Email`."]
        pub email: ::table_core::__private::Column<String>,
    }
    impl EmployeeByNameColumns {
        const ALL: Self = Self {
            department: ::table_core::__private::Column::new("Department"),
            id: ::table_core::__private::Column::new("Id"),
            last_name: ::table_core::__private::Column::new("LastName"),
            email: ::table_core::__private::Column::new("Email"),
        };
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeByNamePath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeQuery<EmployeeByNamePath, ::table_core::__private::At<1usize>, From> {
            EmployeeQuery::__of(self.query.fixed::<String>(0usize, &department))
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeByNamePath, ::table_core::__private::At<1usize>, From>
    {
        #[doc = "Narrows by `last_name`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn last_name<Given>(
            self,
            last_name: Given,
        ) -> EmployeeQuery<EmployeeByNamePath, Given::Step, From>
        where
            Given: ::table_core::__private::PartArg<
                    String,
                    ::table_core::__private::At<2usize>,
                    ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                0usize,
                            )
                        },
                    >,
                >,
        {
            EmployeeQuery::__of(
                self.query
                    .part::<String, ::table_core::__private::At<2usize>, ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                0usize,
                            )
                        },
                    >>(2usize, last_name),
            )
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        EmployeeQuery<EmployeeByNamePath, ::table_core::__private::At<2usize>, From>
    {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(self, id: Given) -> EmployeeQuery<EmployeeByNamePath, Given::Step, From>
        where
            Given: ::table_core::__private::PartArg<
                    u32,
                    ::table_core::__private::At<3usize>,
                    ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                1usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Employee as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Index(1usize),
                                1usize,
                            )
                        },
                    >,
                >,
        {
            EmployeeQuery::__of(
                self.query.part::<u32, ::table_core::__private::At<3usize>, ::table_core::__private::Offers<
                    {
                        ::table_core::__private::checks::offers_range(
                            <Employee as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Index(1usize),
                            1usize,
                        )
                    },
                    {
                        ::table_core::__private::checks::offers_prefix(
                            <Employee as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Index(1usize),
                            1usize,
                        )
                    },
                >>(1usize, id),
            )
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for EmployeeByNamePath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for EmployeeByNamePath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<2usize>> for EmployeeByNamePath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<3usize>> for EmployeeByNamePath {}
    #[doc = "A `Employee` in place: each method decodes one field."]
    pub struct EmployeeView<'view> {
        fields: ::table_core::__private::FieldViews<'view>,
    }
    #[allow(dead_code, reason = "which fields are read is the user's choice")]
    impl EmployeeView<'_> {
        #[doc = "The field `department`, parsed from the key."]
        pub fn department(
            &self,
        ) -> ::table_core::Result<::table_core::__private::Cow<'_, ::core::primitive::str>> {
            self.fields.key_text(0usize)
        }
        #[doc = "The field `id`, parsed from the key."]
        pub fn id(&self) -> ::table_core::Result<u32> {
            self.fields.key(1usize, <u32 as ::table_core::__private::Property>::from_property)
        }
        #[doc = "The field `last_name`, decoded from the property `LastName`."]
        pub fn last_name(&self) -> ::table_core::Result<&::core::primitive::str> {
            self.fields.stored(2usize, ::table_core::__private::as_text)
        }
        #[doc = "The field `email`, decoded from the property `Email`."]
        pub fn email(&self) -> ::table_core::Result<&::core::primitive::str> {
            self.fields.stored(3usize, ::table_core::__private::as_text)
        }
        #[doc = "The field `age`, decoded from the property `Age`."]
        pub fn age(&self) -> ::table_core::Result<i32> {
            self.fields.stored_or_default(4usize, <i32 as ::table_core::__private::Property>::from_property)
        }
    }
    #[automatically_derived]
    impl<'view> ::table_core::__private::EntityView<'view> for EmployeeView<'view> {
        fn new(fields: ::table_core::__private::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &::table_core::__private::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for EmployeeView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeView").finish_non_exhaustive()
        }
    }
    const _: () = ::table_core::__private::checks::property(
        "department",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () =
        ::table_core::__private::checks::property("id", <u32 as ::table_core::__private::Property>::NESTED);
    const _: () = ::table_core::__private::checks::property(
        "last_name",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::property(
        "email",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () =
        ::table_core::__private::checks::property("age", <i32 as ::table_core::__private::Property>::NESTED);
    const _: () = ::table_core::__private::checks::template(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Partition,
    );
    const _: () = ::table_core::__private::checks::template(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Row,
    );
    const _: () =
        ::table_core::__private::checks::identity(<Employee as ::table_core::__private::Entity>::SCHEMA);
    const _: () =
        ::table_core::__private::checks::hot_partition(<Employee as ::table_core::__private::Entity>::SCHEMA);
    const _: () = ::table_core::__private::checks::template(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Index(0usize),
    );
    const _: () = ::table_core::__private::checks::disjoint(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        0usize,
    );
    const _: () = ::table_core::__private::checks::determined(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        0usize,
    );
    const _: () = ::table_core::__private::checks::template(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Index(1usize),
    );
    const _: () = ::table_core::__private::checks::disjoint(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        1usize,
    );
    const _: () = ::table_core::__private::checks::determined(
        <Employee as ::table_core::__private::Entity>::SCHEMA,
        1usize,
    );
};
