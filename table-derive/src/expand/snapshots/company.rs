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
    impl __table::EntitySet for Company {
        const KINDS: &'static [&'static __table::schema::Schema] =
            &[__table::declared::<Department>(), __table::declared::<Employee>()];
        fn visit<Member: __table::Visitor<Self>>(
            kind: &::core::primitive::str,
            visitor: Member,
        ) -> ::core::option::Option<<Member as __table::Visitor<Self>>::Output> {
            if kind == __table::declared::<Department>().entity_type {
                return ::core::option::Option::Some(__table::Visitor::visit::<Department>(
                    visitor,
                    Self::Department,
                ));
            }
            if kind == __table::declared::<Employee>().entity_type {
                return ::core::option::Option::Some(__table::Visitor::visit::<Employee>(
                    visitor,
                    Self::Employee,
                ));
            }
            ::core::option::Option::None
        }
        fn unknown(entity: __table::DynamicEntity) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self::Other(<DynamicEntity as __table::OfAnyKind>::of_any_kind(
                entity,
            )))
        }
    }
    #[automatically_derived]
    impl __table::MemberOf<Company> for Department {}
    #[automatically_derived]
    impl __table::MemberOf<Company> for Employee {}
    const _: () = __table::checks::kinds(__table::declared::<Department>(), __table::declared::<Employee>());
};
