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
                },
                ::table_core::schema::Field {
                    name: "id",
                    property: "Id",
                    edm: <u32 as ::table_core::__private::Property>::EDM,
                    optional: <u32 as ::table_core::__private::Property>::OPTIONAL,
                },
                ::table_core::schema::Field {
                    name: "last_name",
                    property: "LastName",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                },
                ::table_core::schema::Field {
                    name: "email",
                    property: "Email",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                },
                ::table_core::schema::Field {
                    name: "age",
                    property: "Age",
                    edm: <i32 as ::table_core::__private::Property>::EDM,
                    optional: true,
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
        type Indexes = EmployeeIndexes;
        fn indexes(table: ::table_core::__private::DynamicTable) -> EmployeeIndexes {
            EmployeeIndexes { table }
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
    pub struct EmployeeIndexes {
        table: ::table_core::__private::DynamicTable,
    }
    impl ::core::fmt::Debug for EmployeeIndexes {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.table, f)
        }
    }
    impl EmployeeIndexes {
        #[doc = "Queries by PartitionKey `{department}`, RowKey `empid_{id:06}`: the parts are given from left to right."]
        #[must_use]
        pub fn rows(&self) -> EmployeeRowsQuery<::table_core::__private::At<0>> {
            EmployeeRowsQuery {
                query: ::table_core::__private::PathQuery::new(::core::clone::Clone::clone(&self.table)),
                step: ::core::marker::PhantomData,
            }
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `email_{email}`: the parts are given from left to right."]
        #[must_use]
        pub fn by_email(&self) -> EmployeeByEmailQuery<::table_core::__private::At<0>> {
            EmployeeByEmailQuery {
                query: ::table_core::__private::PathQuery::new(::core::clone::Clone::clone(&self.table)),
                step: ::core::marker::PhantomData,
            }
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `name_{last_name}_{id:06}`: the parts are given from left to right."]
        #[must_use]
        pub fn by_name(&self) -> EmployeeByNameQuery<::table_core::__private::At<0>> {
            EmployeeByNameQuery {
                query: ::table_core::__private::PathQuery::new(::core::clone::Clone::clone(&self.table)),
                step: ::core::marker::PhantomData,
            }
        }
    }
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeRowsPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeRowsPath {
        type Entity = Employee;
        type Item = ::table_core::Stored<Employee>;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::None;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Stored<Employee>> {
            ::table_core::__private::read_stored(view)
        }
    }
    #[doc = "What filters of `EmployeeRowsQuery` can speak of: the properties that its rows hold."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct EmployeeRowsColumns {
        #[doc = "Property `LastName`."]
        pub last_name: ::table_core::__private::Column<String>,
        #[doc = "Property `Email`."]
        pub email: ::table_core::__private::Column<String>,
        #[doc = "Property `Age`."]
        pub age: ::table_core::__private::Column<i32>,
    }
    impl EmployeeRowsColumns {
        const ALL: Self = Self {
            last_name: ::table_core::__private::Column::new("LastName"),
            email: ::table_core::__private::Column::new("Email"),
            age: ::table_core::__private::Column::new("Age"),
        };
    }
    #[doc = "A query by RowKey `empid_{id:06}`, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct EmployeeRowsQuery<Step> {
        query: ::table_core::__private::PathQuery<EmployeeRowsPath>,
        step: ::core::marker::PhantomData<Step>,
    }
    impl<Step> ::core::fmt::Debug for EmployeeRowsQuery<Step> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeRowsQuery").finish_non_exhaustive()
        }
    }
    impl EmployeeRowsQuery<::table_core::__private::At<0usize>> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeRowsQuery<::table_core::__private::At<1usize>> {
            EmployeeRowsQuery {
                query: self.query.fixed::<String>(0usize, &department),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl EmployeeRowsQuery<::table_core::__private::At<1usize>> {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(self, id: Given) -> EmployeeRowsQuery<Given::Step>
        where
            Given: ::table_core::__private::PartArg<u32, ::table_core::__private::At<2usize>>,
        {
            EmployeeRowsQuery {
                query: self.query.part::<u32, ::table_core::__private::At<2usize>>(1usize, id),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl ::table_core::__private::Ready<EmployeeRowsPath> for ::table_core::__private::At<1usize> {}
    impl ::table_core::__private::Ready<EmployeeRowsPath> for ::table_core::__private::At<2usize> {}
    impl<Step: ::table_core::__private::Ready<EmployeeRowsPath>> EmployeeRowsQuery<Step> {
        #[doc = r" Gives the entities from the last to the first."]
        pub fn rev(mut self) -> Self {
            self.query = self.query.rev();
            self
        }
        #[doc = r" Gives so many at the most."]
        pub fn top(mut self, entities: ::core::primitive::usize) -> Self {
            self.query = self.query.top(entities);
            self
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        pub fn filter(
            mut self,
            filter: impl ::core::ops::FnOnce(&EmployeeRowsColumns) -> ::table_core::Filter,
        ) -> Self {
            self.query = self.query.filter(filter(&EmployeeRowsColumns::ALL));
            self
        }
        #[doc = r" How the query will be answered, and why."]
        pub fn explain(&self) -> ::table_core::Result<::table_core::Explain> {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        pub fn count(self) -> ::table_core::Result<::core::primitive::u64> {
            self.query.count()
        }
    }
    impl<Step: ::table_core::__private::Ready<EmployeeRowsPath>> ::core::iter::IntoIterator
        for EmployeeRowsQuery<Step>
    {
        type Item = ::table_core::Result<::table_core::Stored<Employee>>;
        type IntoIter = ::table_core::__private::TypedRows<EmployeeRowsPath>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.rows()
        }
    }
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeByEmailPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeByEmailPath {
        type Entity = Employee;
        type Item = ::table_core::Copied<Employee>;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(0usize);
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Copied<Employee>> {
            ::table_core::__private::read_copied::<Self>(view)
        }
    }
    #[doc = "What filters of `EmployeeByEmailQuery` can speak of: the properties that its rows hold."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct EmployeeByEmailColumns {
        #[doc = "Property `Id`."]
        pub id: ::table_core::__private::Column<u32>,
        #[doc = "Property `LastName`."]
        pub last_name: ::table_core::__private::Column<String>,
        #[doc = "Property `Age`."]
        pub age: ::table_core::__private::Column<i32>,
    }
    impl EmployeeByEmailColumns {
        const ALL: Self = Self {
            id: ::table_core::__private::Column::new("Id"),
            last_name: ::table_core::__private::Column::new("LastName"),
            age: ::table_core::__private::Column::new("Age"),
        };
    }
    #[doc = "A query by RowKey `email_{email}`, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct EmployeeByEmailQuery<Step> {
        query: ::table_core::__private::PathQuery<EmployeeByEmailPath>,
        step: ::core::marker::PhantomData<Step>,
    }
    impl<Step> ::core::fmt::Debug for EmployeeByEmailQuery<Step> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeByEmailQuery").finish_non_exhaustive()
        }
    }
    impl EmployeeByEmailQuery<::table_core::__private::At<0usize>> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeByEmailQuery<::table_core::__private::At<1usize>> {
            EmployeeByEmailQuery {
                query: self.query.fixed::<String>(0usize, &department),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl EmployeeByEmailQuery<::table_core::__private::At<1usize>> {
        #[doc = "Narrows by `email`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn email<Given>(self, email: Given) -> EmployeeByEmailQuery<Given::Step>
        where
            Given: ::table_core::__private::PartArg<String, ::table_core::__private::At<2usize>>,
        {
            EmployeeByEmailQuery {
                query: self.query.part::<String, ::table_core::__private::At<2usize>>(3usize, email),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl ::table_core::__private::Ready<EmployeeByEmailPath> for ::table_core::__private::At<1usize> {}
    impl ::table_core::__private::Ready<EmployeeByEmailPath> for ::table_core::__private::At<2usize> {}
    impl<Step: ::table_core::__private::Ready<EmployeeByEmailPath>> EmployeeByEmailQuery<Step> {
        #[doc = r" Gives the entities from the last to the first."]
        pub fn rev(mut self) -> Self {
            self.query = self.query.rev();
            self
        }
        #[doc = r" Gives so many at the most."]
        pub fn top(mut self, entities: ::core::primitive::usize) -> Self {
            self.query = self.query.top(entities);
            self
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        pub fn filter(
            mut self,
            filter: impl ::core::ops::FnOnce(&EmployeeByEmailColumns) -> ::table_core::Filter,
        ) -> Self {
            self.query = self.query.filter(filter(&EmployeeByEmailColumns::ALL));
            self
        }
        #[doc = r" How the query will be answered, and why."]
        pub fn explain(&self) -> ::table_core::Result<::table_core::Explain> {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        pub fn count(self) -> ::table_core::Result<::core::primitive::u64> {
            self.query.count()
        }
    }
    impl<Step: ::table_core::__private::Ready<EmployeeByEmailPath>> ::core::iter::IntoIterator
        for EmployeeByEmailQuery<Step>
    {
        type Item = ::table_core::Result<::table_core::Copied<Employee>>;
        type IntoIter = ::table_core::__private::TypedRows<EmployeeByEmailPath>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.rows()
        }
    }
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum EmployeeByNamePath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for EmployeeByNamePath {
        type Entity = Employee;
        type Item = EmployeeByName;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(1usize);
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
    #[doc = "What filters of `EmployeeByNameQuery` can speak of: the properties that its rows hold."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct EmployeeByNameColumns {
        #[doc = "Property `Email`."]
        pub email: ::table_core::__private::Column<String>,
    }
    impl EmployeeByNameColumns {
        const ALL: Self = Self { email: ::table_core::__private::Column::new("Email") };
    }
    #[doc = "A query by RowKey `name_{last_name}_{id:06}`, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct EmployeeByNameQuery<Step> {
        query: ::table_core::__private::PathQuery<EmployeeByNamePath>,
        step: ::core::marker::PhantomData<Step>,
    }
    impl<Step> ::core::fmt::Debug for EmployeeByNameQuery<Step> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "EmployeeByNameQuery").finish_non_exhaustive()
        }
    }
    impl EmployeeByNameQuery<::table_core::__private::At<0usize>> {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> EmployeeByNameQuery<::table_core::__private::At<1usize>> {
            EmployeeByNameQuery {
                query: self.query.fixed::<String>(0usize, &department),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl EmployeeByNameQuery<::table_core::__private::At<1usize>> {
        #[doc = "Narrows by `last_name`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn last_name<Given>(self, last_name: Given) -> EmployeeByNameQuery<Given::Step>
        where
            Given: ::table_core::__private::PartArg<String, ::table_core::__private::At<2usize>>,
        {
            EmployeeByNameQuery {
                query: self.query.part::<String, ::table_core::__private::At<2usize>>(2usize, last_name),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl EmployeeByNameQuery<::table_core::__private::At<2usize>> {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(self, id: Given) -> EmployeeByNameQuery<Given::Step>
        where
            Given: ::table_core::__private::PartArg<u32, ::table_core::__private::At<3usize>>,
        {
            EmployeeByNameQuery {
                query: self.query.part::<u32, ::table_core::__private::At<3usize>>(1usize, id),
                step: ::core::marker::PhantomData,
            }
        }
    }
    impl ::table_core::__private::Ready<EmployeeByNamePath> for ::table_core::__private::At<1usize> {}
    impl ::table_core::__private::Ready<EmployeeByNamePath> for ::table_core::__private::At<2usize> {}
    impl ::table_core::__private::Ready<EmployeeByNamePath> for ::table_core::__private::At<3usize> {}
    impl<Step: ::table_core::__private::Ready<EmployeeByNamePath>> EmployeeByNameQuery<Step> {
        #[doc = r" Gives the entities from the last to the first."]
        pub fn rev(mut self) -> Self {
            self.query = self.query.rev();
            self
        }
        #[doc = r" Gives so many at the most."]
        pub fn top(mut self, entities: ::core::primitive::usize) -> Self {
            self.query = self.query.top(entities);
            self
        }
        #[doc = r" Leaves out what does not pass the filter. Each row in the range is read for it."]
        pub fn filter(
            mut self,
            filter: impl ::core::ops::FnOnce(&EmployeeByNameColumns) -> ::table_core::Filter,
        ) -> Self {
            self.query = self.query.filter(filter(&EmployeeByNameColumns::ALL));
            self
        }
        #[doc = r" How the query will be answered, and why."]
        pub fn explain(&self) -> ::table_core::Result<::table_core::Explain> {
            self.query.explain()
        }
        #[doc = r" How many there are."]
        pub fn count(self) -> ::table_core::Result<::core::primitive::u64> {
            self.query.count()
        }
    }
    impl<Step: ::table_core::__private::Ready<EmployeeByNamePath>> ::core::iter::IntoIterator
        for EmployeeByNameQuery<Step>
    {
        type Item = ::table_core::Result<EmployeeByName>;
        type IntoIter = ::table_core::__private::TypedRows<EmployeeByNamePath>;
        fn into_iter(self) -> Self::IntoIter {
            self.query.rows()
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
