//! Structs of 6, 50 and 200 properties of mixed types, each engine's with its own attributes.

/// Declares a struct of so many properties, `p000` and so on: a text, a whole number, a double, a truth value, a time
/// and a small number, again and again. `texts` and `times` say of which type those are.
///
/// `of` makes one from its id and its values.
#[macro_export]
macro_rules! wide_struct {
    (@ $(#[$attribute:meta])* struct $name:ident$(<$lifetime:lifetime>)?, texts $text:ty, times $time:ty;
        { $(($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident))*; $($y:ident $z:ident)? }) => {
        $(#[$attribute])*
        pub(crate) struct $name$(<$lifetime>)? {
            pub(crate) id: u32,
            $(
                pub(crate) $a: $text,
                pub(crate) $b: i64,
                pub(crate) $c: f64,
                pub(crate) $d: bool,
                pub(crate) $e: $time,
                pub(crate) $f: i32,
            )*
            $(pub(crate) $y: $text, pub(crate) $z: i64,)?
        }

        impl$(<$lifetime>)? $name$(<$lifetime>)? {
            #[allow(dead_code, reason = "one that is only read is made from bytes")]
            pub(crate) fn of(id: u32, values: &$($lifetime)? [$crate::wide::Value]) -> $crate::Result<Self> {
                let mut values = values.iter();
                Ok(Self {
                    id,
                    $(
                        $a: $crate::wide::next(&mut values)?,
                        $b: $crate::wide::next(&mut values)?,
                        $c: $crate::wide::next(&mut values)?,
                        $d: $crate::wide::next(&mut values)?,
                        $e: $crate::wide::next(&mut values)?,
                        $f: $crate::wide::next(&mut values)?,
                    )*
                    $($y: $crate::wide::next(&mut values)?, $z: $crate::wide::next(&mut values)?,)?
                })
            }
        }
    };
    (6 $($given:tt)*) => {
        $crate::wide_struct! { @ $($given)*
            {
                (p000 p001 p002 p003 p004 p005);
            }
        }
    };
    (50 $($given:tt)*) => {
        $crate::wide_struct! { @ $($given)*
            {
                (p000 p001 p002 p003 p004 p005) (p006 p007 p008 p009 p010 p011) (p012 p013 p014 p015 p016 p017)
                (p018 p019 p020 p021 p022 p023) (p024 p025 p026 p027 p028 p029) (p030 p031 p032 p033 p034 p035)
                (p036 p037 p038 p039 p040 p041) (p042 p043 p044 p045 p046 p047); p048 p049
            }
        }
    };
    (200 $($given:tt)*) => {
        $crate::wide_struct! { @ $($given)*
            {
                (p000 p001 p002 p003 p004 p005) (p006 p007 p008 p009 p010 p011) (p012 p013 p014 p015 p016 p017)
                (p018 p019 p020 p021 p022 p023) (p024 p025 p026 p027 p028 p029) (p030 p031 p032 p033 p034 p035)
                (p036 p037 p038 p039 p040 p041) (p042 p043 p044 p045 p046 p047) (p048 p049 p050 p051 p052 p053)
                (p054 p055 p056 p057 p058 p059) (p060 p061 p062 p063 p064 p065) (p066 p067 p068 p069 p070 p071)
                (p072 p073 p074 p075 p076 p077) (p078 p079 p080 p081 p082 p083) (p084 p085 p086 p087 p088 p089)
                (p090 p091 p092 p093 p094 p095) (p096 p097 p098 p099 p100 p101) (p102 p103 p104 p105 p106 p107)
                (p108 p109 p110 p111 p112 p113) (p114 p115 p116 p117 p118 p119) (p120 p121 p122 p123 p124 p125)
                (p126 p127 p128 p129 p130 p131) (p132 p133 p134 p135 p136 p137) (p138 p139 p140 p141 p142 p143)
                (p144 p145 p146 p147 p148 p149) (p150 p151 p152 p153 p154 p155) (p156 p157 p158 p159 p160 p161)
                (p162 p163 p164 p165 p166 p167) (p168 p169 p170 p171 p172 p173) (p174 p175 p176 p177 p178 p179)
                (p180 p181 p182 p183 p184 p185) (p186 p187 p188 p189 p190 p191) (p192 p193 p194 p195 p196 p197); p198 p199
            }
        }
    };
}
