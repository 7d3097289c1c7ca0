#[allow(clippy::impl_trait_in_params, reason = "no caller would name such a type")]
const _: () =
    {
        #[automatically_derived]
        impl ::table_core::__private::EntitySet for Company {
            const KINDS: &'static [&'static ::table_core::schema::Schema] = &[
                <Department as ::table_core::__private::Entity>::SCHEMA,
                <Employee as ::table_core::__private::Entity>::SCHEMA,
            ];
            fn visit<Member: ::table_core::__private::Visitor<Self>>(
                kind: &::core::primitive::str,
                visitor: Member,
            ) -> ::core::option::Option<Member::Output> {
                if kind == <Department as ::table_core::__private::Entity>::SCHEMA.kind {
                    return ::core::option::Option::Some(
                        ::table_core::__private::Visitor::visit::<Department>(visitor, Self::Department),
                    );
                }
                if kind == <Employee as ::table_core::__private::Entity>::SCHEMA.kind {
                    return ::core::option::Option::Some(
                        ::table_core::__private::Visitor::visit::<Employee>(visitor, Self::Employee),
                    );
                }
                ::core::option::Option::None
            }
            fn unknown(entity: ::table_core::DynamicEntity) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self::Other(::core::convert::identity::<DynamicEntity>(entity)))
            }
        }
        #[automatically_derived]
        impl ::table_core::__private::MemberOf<Company> for Department {}
        #[automatically_derived]
        impl ::table_core::__private::MemberOf<Company> for Employee {}
        const _: () = ::table_core::__private::checks::kinds(
            <Department as ::table_core::__private::Entity>::SCHEMA,
            <Employee as ::table_core::__private::Entity>::SCHEMA,
        );
    };
