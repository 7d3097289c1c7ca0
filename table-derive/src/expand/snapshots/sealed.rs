#[allow(clippy::impl_trait_in_params, reason = "no caller would name such a type")]
const _: () = {
    #[automatically_derived]
    impl ::table_core::__private::Entity for Sealed {
        const SCHEMA: &'static ::table_core::schema::Schema = &::table_core::schema::Schema {
            entity: "Sealed",
            table: "Payroll",
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
                    name: "ssn",
                    property: "Ssn",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    encrypted: true,
                    scope: ::table_core::schema::KeyScope::Partition,
                    blind: ::core::option::Option::Some(::table_core::schema::Blind {
                        property: "SsnToken",
                        tokens: ::table_core::schema::TokenScope::Table,
                    }),
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "salary",
                    property: "Salary",
                    edm: <Option<i64> as ::table_core::__private::Property>::EDM,
                    optional: <Option<i64> as ::table_core::__private::Property>::OPTIONAL,
                    encrypted: true,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "note",
                    property: "Note",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    encrypted: true,
                    dual: true,
                    ..::table_core::schema::Field::PLAIN
                },
                ::table_core::schema::Field {
                    name: "card",
                    property: "Card",
                    edm: <String as ::table_core::__private::Property>::EDM,
                    optional: <String as ::table_core::__private::Property>::OPTIONAL,
                    encrypted: true,
                    dual: true,
                    scope: ::table_core::schema::KeyScope::Table,
                    blind: ::core::option::Option::Some(::table_core::schema::Blind {
                        property: "CardToken",
                        tokens: ::table_core::schema::TokenScope::Partition,
                    }),
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
            indexes: &[::table_core::schema::Index {
                name: "by_ssn",
                kind: "employee.by_ssn",
                row: ::table_core::schema::Template {
                    source: "ssn_{ssn:blind}",
                    parts: &[
                        ::table_core::schema::Part::Literal("ssn_"),
                        ::table_core::schema::Part::Field(::table_core::schema::FieldPart {
                            field: 2usize,
                            key: ::table_core::__private::token_key(
                                <String as ::table_core::__private::Property>::OPTIONAL,
                            ),
                            format: ::table_core::schema::Format::Blind,
                            each: false,
                        }),
                    ],
                },
                unique: true,
                copies: ::table_core::schema::Copies::Keys,
                sparse: false,
            }],
        };
        const EXACT: ::core::primitive::bool = <String as ::table_core::__private::Property>::EXACT
            && <u32 as ::table_core::__private::Property>::EXACT
            && <String as ::table_core::__private::Property>::EXACT
            && <Option<i64> as ::table_core::__private::Property>::EXACT
            && <String as ::table_core::__private::Property>::EXACT
            && <String as ::table_core::__private::Property>::EXACT;
        type Indexes<From: ::table_core::__private::Origin> = SealedIndexes<From>;
        type Rows = SealedRowsPath;
        type View<'view> = SealedView<'view>;
        fn indexes<From: ::table_core::__private::Origin>(from: From) -> SealedIndexes<From> {
            SealedIndexes { from }
        }
        fn values<'entity>(&'entity self, values: &mut ::table_core::__private::Values<'entity>) {
            values.push(<String as ::table_core::__private::Property>::to_property(&self.department));
            values.push(<u32 as ::table_core::__private::Property>::to_property(&self.id));
            values.push(<String as ::table_core::__private::Property>::to_property(&self.ssn));
            values.push(<Option<i64> as ::table_core::__private::Property>::to_property(&self.salary));
            values.push(<String as ::table_core::__private::Property>::to_property(&self.note));
            values.push(<String as ::table_core::__private::Property>::to_property(&self.card));
        }
        fn from_source(source: &mut ::table_core::__private::Source<'_>) -> ::table_core::Result<Self> {
            ::core::result::Result::Ok(Self {
                department: source.next(<String as ::table_core::__private::Property>::from_property)?,
                id: source.next(<u32 as ::table_core::__private::Property>::from_property)?,
                ssn: source.next(<String as ::table_core::__private::Property>::from_property)?,
                salary: source.next(<Option<i64> as ::table_core::__private::Property>::from_property)?,
                note: source.next(<String as ::table_core::__private::Property>::from_property)?,
                card: source.next(<String as ::table_core::__private::Property>::from_property)?,
            })
        }
        type Patch = SealedPatch;
        fn exchange(&mut self, patch: &mut SealedPatch) {
            ::table_core::__private::exchange(&mut self.ssn, &mut patch.ssn);
            ::table_core::__private::exchange(&mut self.salary, &mut patch.salary);
            ::table_core::__private::exchange(&mut self.note, &mut patch.note);
            ::table_core::__private::exchange(&mut self.card, &mut patch.card);
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl Sealed {
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
            department: impl ::table_core::__private::KeyArg<String>,
            ssn: impl ::table_core::__private::BlindArg<String>,
        ) -> ::table_core::__private::IndexKey<SealedBySsnPath> {
            ::table_core::__private::IndexKey::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&department),
                ::table_core::__private::BlindArg::<String>::to_value(&ssn),
            ])
        }
    }
    #[doc = "What a merge sets on the `Sealed` there: nothing at first."]
    #[must_use = "a patch does nothing until it is merged"]
    pub struct SealedPatch {
        ssn: ::core::option::Option<String>,
        salary: ::core::option::Option<Option<i64>>,
        note: ::core::option::Option<String>,
        card: ::core::option::Option<String>,
    }
    #[allow(dead_code, reason = "which fields are set is the user's choice")]
    impl SealedPatch {
        #[doc = "Sets `ssn`."]
        pub fn ssn(mut self, ssn: impl ::core::convert::Into<String>) -> Self {
            self.ssn = ::core::option::Option::Some(::core::convert::Into::into(ssn));
            self
        }
        #[doc = "Sets `salary`."]
        pub fn salary(mut self, salary: Option<i64>) -> Self {
            self.salary = ::core::option::Option::Some(salary);
            self
        }
        #[doc = "Sets `note`."]
        pub fn note(mut self, note: impl ::core::convert::Into<String>) -> Self {
            self.note = ::core::option::Option::Some(::core::convert::Into::into(note));
            self
        }
        #[doc = "Sets `card`."]
        pub fn card(mut self, card: impl ::core::convert::Into<String>) -> Self {
            self.card = ::core::option::Option::Some(::core::convert::Into::into(card));
            self
        }
    }
    impl ::core::fmt::Debug for SealedPatch {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "SealedPatch").finish_non_exhaustive()
        }
    }
    #[doc = "The ways to query a table of `Sealed`."]
    pub struct SealedIndexes<From = ::table_core::__private::DynamicTable> {
        from: From,
    }
    impl<From: ::core::fmt::Debug> ::core::fmt::Debug for SealedIndexes<From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.from, f)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin> SealedIndexes<From> {
        #[doc = "Queries by PartitionKey `{department}`, RowKey `empid_{id:06}`: the parts are given from left to right."]
        pub fn rows(&self) -> SealedQuery<SealedRowsPath, ::table_core::__private::At<0>, From> {
            SealedQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
        #[doc = "Queries by PartitionKey `{department}`, RowKey `ssn_{ssn:blind}`: the parts are given from left to right."]
        pub fn by_ssn(&self) -> SealedQuery<SealedBySsnPath, ::table_core::__private::At<0>, From> {
            SealedQuery::__of(::table_core::__private::PathQuery::new(::core::clone::Clone::clone(
                &self.from,
            )))
        }
    }
    #[doc = "A query of `Sealed`, by a path, at one of its steps."]
    #[must_use = "a query does nothing until it is iterated"]
    pub struct SealedQuery<Path, Step, From = ::table_core::__private::DynamicTable> {
        query: ::table_core::__private::PathQuery<Path, From>,
        step: ::core::marker::PhantomData<fn() -> Step>,
    }
    impl<Path, Step, From> SealedQuery<Path, Step, From> {
        fn __of(query: ::table_core::__private::PathQuery<Path, From>) -> Self {
            Self { query, step: ::core::marker::PhantomData }
        }
    }
    impl<Path, Step, From: ::core::clone::Clone> ::core::clone::Clone for SealedQuery<Path, Step, From> {
        fn clone(&self) -> Self {
            Self::__of(::core::clone::Clone::clone(&self.query))
        }
    }
    impl<Path, Step, From> ::core::fmt::Debug for SealedQuery<Path, Step, From> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "SealedQuery").finish_non_exhaustive()
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<Path, Step, From> SealedQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Sealed>,
        From: ::table_core::__private::Origin,
    {
        #[doc = r" Reads every partition that fits the parts given so far: a scan of the table, or of a part of it."]
        pub fn across_partitions(self) -> SealedQuery<Path, ::table_core::__private::Ended, From>
        where
            Path: ::table_core::__private::Open<Step>,
        {
            SealedQuery::__of(self.query)
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
            Fields: ::table_core::__private::Projection<Entity = Sealed>,
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
    impl<'snapshot, Step> SealedQuery<SealedRowsPath, Step, ::table_core::__private::TableIn<'snapshot>>
    where
        SealedRowsPath: ::table_core::__private::Ready<Step>,
    {
        #[doc = r" The entities in place, each field decoded when it is asked for: the quickest way to read many."]
        pub fn views(self) -> ::table_core::__private::TypedViews<'snapshot, Sealed> {
            self.query.views()
        }
    }
    impl<Path, Step, From> ::core::iter::IntoIterator for SealedQuery<Path, Step, From>
    where
        Path: ::table_core::__private::Path<Entity = Sealed>,
        Path: ::table_core::__private::Ready<Step>,
        From: ::table_core::__private::Origin,
    {
        type Item = ::table_core::Result<Path::Item>;
        type IntoIter = ::table_core::__private::TypedRows<Path, From>;
        fn into_iter(self) -> Self::IntoIter {
            ::core::iter::IntoIterator::into_iter(self.query)
        }
    }
    #[doc = "What filters of `Sealed` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct SealedColumns {
        #[doc = "Property `Department`."]
        pub department: ::table_core::__private::Column<String>,
        #[doc = "Property `Id`."]
        pub id: ::table_core::__private::Column<u32>,
        #[doc = "Property `Ssn`."]
        pub ssn: ::table_core::__private::Column<String, ::table_core::__private::Blind>,
        #[doc = "Property `Salary`."]
        pub salary: ::table_core::__private::Column<i64, ::table_core::__private::Encrypted>,
        #[doc = "Property `Note`."]
        pub note: ::table_core::__private::Column<String, ::table_core::__private::Encrypted>,
        #[doc = "Property `Card`."]
        pub card: ::table_core::__private::Column<String, ::table_core::__private::Blind>,
    }
    impl SealedColumns {
        const ALL: Self = Self {
            department: ::table_core::__private::Column::new("Department"),
            id: ::table_core::__private::Column::new("Id"),
            ssn: ::table_core::__private::Column::new("Ssn"),
            salary: ::table_core::__private::Column::new("Salary"),
            note: ::table_core::__private::Column::new("Note"),
            card: ::table_core::__private::Column::new("Card"),
        };
    }
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum SealedRowsPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for SealedRowsPath {
        type Entity = Sealed;
        type Item = ::table_core::Stored<Sealed>;
        type Columns = SealedColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::None;
        const COLUMNS: &'static SealedColumns = &SealedColumns::ALL;
        fn read(
            view: &::table_core::__private::RowView<'_>,
        ) -> ::table_core::Result<::table_core::Stored<Sealed>> {
            ::table_core::__private::read_stored(view)
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        SealedQuery<SealedRowsPath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> SealedQuery<SealedRowsPath, ::table_core::__private::At<1usize>, From> {
            SealedQuery::__of(self.query.fixed::<String>(0usize, &department))
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        SealedQuery<SealedRowsPath, ::table_core::__private::At<1usize>, From>
    {
        #[doc = "Narrows by `id`, which stands in the row key: to a value, to a range, or to a `prefix(..)` of text."]
        pub fn id<Given>(self, id: Given) -> SealedQuery<SealedRowsPath, Given::Step, From>
        where
            Given: ::table_core::__private::PartArg<
                    u32,
                    ::table_core::__private::At<2usize>,
                    ::table_core::__private::Offers<
                        {
                            ::table_core::__private::checks::offers_range(
                                <Sealed as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Row,
                                0usize,
                            )
                        },
                        {
                            ::table_core::__private::checks::offers_prefix(
                                <Sealed as ::table_core::__private::Entity>::SCHEMA,
                                ::table_core::__private::checks::Place::Row,
                                0usize,
                            )
                        },
                    >,
                >,
        {
            SealedQuery::__of(
                self.query.part::<u32, ::table_core::__private::At<2usize>, ::table_core::__private::Offers<
                    {
                        ::table_core::__private::checks::offers_range(
                            <Sealed as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Row,
                            0usize,
                        )
                    },
                    {
                        ::table_core::__private::checks::offers_prefix(
                            <Sealed as ::table_core::__private::Entity>::SCHEMA,
                            ::table_core::__private::checks::Place::Row,
                            0usize,
                        )
                    },
                >>(1usize, id),
            )
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for SealedRowsPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for SealedRowsPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<2usize>> for SealedRowsPath {}
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum SealedBySsnPath {}
    #[automatically_derived]
    impl ::table_core::__private::Path for SealedBySsnPath {
        type Entity = Sealed;
        type Item = SealedBySsn;
        type Columns = SealedBySsnColumns;
        const INDEX: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(0usize);
        const COLUMNS: &'static SealedBySsnColumns = &SealedBySsnColumns::ALL;
        fn read(view: &::table_core::__private::RowView<'_>) -> ::table_core::Result<SealedBySsn> {
            SealedBySsn::from_view(view)
        }
    }
    #[doc = "A row of the index `by_ssn` of `Sealed`."]
    #[non_exhaustive]
    #[allow(dead_code, reason = "which fields are read is the user's choice")]
    pub struct SealedBySsn {
        #[doc = "As in the entity: property `Department`."]
        pub department: String,
        #[doc = "As in the entity: property `Id`."]
        pub id: u32,
        #[doc = "As in the entity: property `Ssn`."]
        pub ssn: String,
    }
    impl SealedBySsn {
        fn from_view(view: &::table_core::__private::RowView<'_>) -> ::table_core::Result<Self> {
            let source = ::table_core::__private::Source::of::<SealedBySsnPath>(view)?;
            ::core::result::Result::Ok(Self {
                department: source
                    .field(0usize, <String as ::table_core::__private::Property>::from_property)?,
                id: source.field(1usize, <u32 as ::table_core::__private::Property>::from_property)?,
                ssn: source.field(2usize, <String as ::table_core::__private::Property>::from_property)?,
            })
        }
        #[doc = r" The key of the entity itself."]
        #[must_use]
        pub fn key(&self) -> ::table_core::__private::Key<Sealed> {
            ::table_core::__private::Key::new(&[
                ::table_core::__private::KeyArg::<String>::to_key(&self.department),
                ::table_core::__private::KeyArg::<u32>::to_key(&self.id),
            ])
        }
    }
    impl ::core::fmt::Debug for SealedBySsn {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "SealedBySsn").finish_non_exhaustive()
        }
    }
    #[doc = "What filters of `Sealed` can speak of: what its rows hold, and what their keys say."]
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(dead_code, reason = "which columns are compared is the user's choice")]
    pub struct SealedBySsnColumns {
        #[doc = "Property `Department`."]
        pub department: ::table_core::__private::Column<String>,
        #[doc = "Property `Id`."]
        pub id: ::table_core::__private::Column<u32>,
        #[doc = "Property `Ssn`."]
        pub ssn: ::table_core::__private::Column<String, ::table_core::__private::Blind>,
    }
    impl SealedBySsnColumns {
        const ALL: Self = Self {
            department: ::table_core::__private::Column::new("Department"),
            id: ::table_core::__private::Column::new("Id"),
            ssn: ::table_core::__private::Column::new("Ssn"),
        };
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        SealedQuery<SealedBySsnPath, ::table_core::__private::At<0usize>, From>
    {
        #[doc = "Fixes `department`, which stands in the partition key."]
        pub fn department(
            self,
            department: impl ::table_core::__private::KeyArg<String>,
        ) -> SealedQuery<SealedBySsnPath, ::table_core::__private::At<1usize>, From> {
            SealedQuery::__of(self.query.fixed::<String>(0usize, &department))
        }
    }
    #[allow(dead_code, reason = "which of them are called is the user's choice")]
    impl<From: ::table_core::__private::Origin>
        SealedQuery<SealedBySsnPath, ::table_core::__private::At<1usize>, From>
    {
        #[doc = "Fixes `ssn`, whose token stands in the row key: it is looked up by one value, and opened."]
        pub fn ssn(
            self,
            ssn: impl ::table_core::__private::BlindArg<String>,
        ) -> SealedQuery<SealedBySsnPath, ::table_core::__private::At<2usize>, From> {
            SealedQuery::__of(self.query.blind::<String>(2usize, &ssn))
        }
    }
    impl ::table_core::__private::Open<::table_core::__private::At<0usize>> for SealedBySsnPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<1usize>> for SealedBySsnPath {}
    impl ::table_core::__private::Ready<::table_core::__private::At<2usize>> for SealedBySsnPath {}
    #[doc = "A `Sealed` in place: each method decodes one field."]
    pub struct SealedView<'view> {
        fields: ::table_core::__private::FieldViews<'view>,
    }
    #[allow(dead_code, reason = "which fields are read is the user's choice")]
    impl SealedView<'_> {
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
        #[doc = "The field `ssn`, decoded from the property `Ssn`."]
        pub fn ssn(&self) -> ::table_core::Result<String> {
            self.fields.sealed(2usize, <String as ::table_core::__private::Property>::from_property)
        }
        #[doc = "The field `salary`, decoded from the property `Salary`."]
        pub fn salary(&self) -> ::table_core::Result<Option<i64>> {
            self.fields.sealed(3usize, <Option<i64> as ::table_core::__private::Property>::from_property)
        }
        #[doc = "The field `note`, decoded from the property `Note`."]
        pub fn note(&self) -> ::table_core::Result<String> {
            self.fields.sealed(4usize, <String as ::table_core::__private::Property>::from_property)
        }
        #[doc = "The field `card`, decoded from the property `Card`."]
        pub fn card(&self) -> ::table_core::Result<String> {
            self.fields.sealed(5usize, <String as ::table_core::__private::Property>::from_property)
        }
    }
    #[automatically_derived]
    impl<'view> ::table_core::__private::EntityView<'view> for SealedView<'view> {
        fn new(fields: ::table_core::__private::FieldViews<'view>) -> Self {
            Self { fields }
        }
        fn fields(&self) -> &::table_core::__private::FieldViews<'view> {
            &self.fields
        }
    }
    impl ::core::fmt::Debug for SealedView<'_> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Formatter::debug_struct(f, "SealedView").finish_non_exhaustive()
        }
    }
    const _: () = ::table_core::__private::checks::property(
        "department",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () =
        ::table_core::__private::checks::property("id", <u32 as ::table_core::__private::Property>::NESTED);
    const _: () = ::table_core::__private::checks::property(
        "ssn",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::property(
        "salary",
        <Option<i64> as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::property(
        "note",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::property(
        "card",
        <String as ::table_core::__private::Property>::NESTED,
    );
    const _: () = ::table_core::__private::checks::encrypt();
    const _: () = ::table_core::__private::checks::blind(
        "ssn",
        <String as ::table_core::__private::Property>::EDM,
        <String as ::table_core::__private::Property>::FEW,
    );
    const _: () = ::table_core::__private::checks::blind(
        "card",
        <String as ::table_core::__private::Property>::EDM,
        <String as ::table_core::__private::Property>::FEW,
    );
    const _: () = ::table_core::__private::checks::template(
        <Sealed as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Partition,
    );
    const _: () = ::table_core::__private::checks::template(
        <Sealed as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Row,
    );
    const _: () =
        ::table_core::__private::checks::identity(<Sealed as ::table_core::__private::Entity>::SCHEMA);
    const _: () =
        ::table_core::__private::checks::hot_partition(<Sealed as ::table_core::__private::Entity>::SCHEMA);
    const _: () = ::table_core::__private::checks::template(
        <Sealed as ::table_core::__private::Entity>::SCHEMA,
        ::table_core::__private::checks::Place::Index(0usize),
    );
    const _: () = ::table_core::__private::checks::disjoint(
        <Sealed as ::table_core::__private::Entity>::SCHEMA,
        0usize,
    );
    const _: () = ::table_core::__private::checks::determined(
        <Sealed as ::table_core::__private::Entity>::SCHEMA,
        0usize,
    );
};
