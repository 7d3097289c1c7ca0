//! Text without the difference between capital and small letters, for `{s:lower}`.
//!
//! Rust's own `to_lowercase` follows Unicode, which adds letters from version to version; a key must not change
//! with the compiler that wrote it. So the mapping is frozen here: Unicode's simple case folding, character by
//! character, of the Latin letters (up to U+024F and U+1E00 to U+1EFF), Greek, Cyrillic and Armenian. Every other
//! character stays, U+0130 (`İ`) among them, which Unicode folds to no one character. Accents stay, and text that is
//! composed differently stays different.

/// The first character, the last, the step between, and what the first becomes; the others keep its distance.
#[rustfmt::skip]
const TABLE: &[(u32, u32, u32, u32)] = &[
    (0x0041, 0x005a, 1, 0x0061), (0x00b5, 0x00b5, 1, 0x03bc), (0x00c0, 0x00d6, 1, 0x00e0),
    (0x00d8, 0x00de, 1, 0x00f8), (0x0100, 0x012e, 2, 0x0101), (0x0132, 0x0136, 2, 0x0133),
    (0x0139, 0x0147, 2, 0x013a), (0x014a, 0x0176, 2, 0x014b), (0x0178, 0x0178, 1, 0x00ff),
    (0x0179, 0x017d, 2, 0x017a), (0x017f, 0x017f, 1, 0x0073), (0x0181, 0x0181, 1, 0x0253),
    (0x0182, 0x0184, 2, 0x0183), (0x0186, 0x0186, 1, 0x0254), (0x0187, 0x0187, 1, 0x0188),
    (0x0189, 0x018a, 1, 0x0256), (0x018b, 0x018b, 1, 0x018c), (0x018e, 0x018e, 1, 0x01dd),
    (0x018f, 0x018f, 1, 0x0259), (0x0190, 0x0190, 1, 0x025b), (0x0191, 0x0191, 1, 0x0192),
    (0x0193, 0x0193, 1, 0x0260), (0x0194, 0x0194, 1, 0x0263), (0x0196, 0x0196, 1, 0x0269),
    (0x0197, 0x0197, 1, 0x0268), (0x0198, 0x0198, 1, 0x0199), (0x019c, 0x019c, 1, 0x026f),
    (0x019d, 0x019d, 1, 0x0272), (0x019f, 0x019f, 1, 0x0275), (0x01a0, 0x01a4, 2, 0x01a1),
    (0x01a6, 0x01a6, 1, 0x0280), (0x01a7, 0x01a7, 1, 0x01a8), (0x01a9, 0x01a9, 1, 0x0283),
    (0x01ac, 0x01ac, 1, 0x01ad), (0x01ae, 0x01ae, 1, 0x0288), (0x01af, 0x01af, 1, 0x01b0),
    (0x01b1, 0x01b2, 1, 0x028a), (0x01b3, 0x01b5, 2, 0x01b4), (0x01b7, 0x01b7, 1, 0x0292),
    (0x01b8, 0x01b8, 1, 0x01b9), (0x01bc, 0x01bc, 1, 0x01bd), (0x01c4, 0x01c4, 1, 0x01c6),
    (0x01c5, 0x01c5, 1, 0x01c6), (0x01c7, 0x01c7, 1, 0x01c9), (0x01c8, 0x01c8, 1, 0x01c9),
    (0x01ca, 0x01ca, 1, 0x01cc), (0x01cb, 0x01db, 2, 0x01cc), (0x01de, 0x01ee, 2, 0x01df),
    (0x01f1, 0x01f1, 1, 0x01f3), (0x01f2, 0x01f4, 2, 0x01f3), (0x01f6, 0x01f6, 1, 0x0195),
    (0x01f7, 0x01f7, 1, 0x01bf), (0x01f8, 0x021e, 2, 0x01f9), (0x0220, 0x0220, 1, 0x019e),
    (0x0222, 0x0232, 2, 0x0223), (0x023a, 0x023a, 1, 0x2c65), (0x023b, 0x023b, 1, 0x023c),
    (0x023d, 0x023d, 1, 0x019a), (0x023e, 0x023e, 1, 0x2c66), (0x0241, 0x0241, 1, 0x0242),
    (0x0243, 0x0243, 1, 0x0180), (0x0244, 0x0244, 1, 0x0289), (0x0245, 0x0245, 1, 0x028c),
    (0x0246, 0x024e, 2, 0x0247), (0x0370, 0x0372, 2, 0x0371), (0x0376, 0x0376, 1, 0x0377),
    (0x037f, 0x037f, 1, 0x03f3), (0x0386, 0x0386, 1, 0x03ac), (0x0388, 0x038a, 1, 0x03ad),
    (0x038c, 0x038c, 1, 0x03cc), (0x038e, 0x038f, 1, 0x03cd), (0x0391, 0x03a1, 1, 0x03b1),
    (0x03a3, 0x03ab, 1, 0x03c3), (0x03c2, 0x03c2, 1, 0x03c3), (0x03cf, 0x03cf, 1, 0x03d7),
    (0x03d0, 0x03d0, 1, 0x03b2), (0x03d1, 0x03d1, 1, 0x03b8), (0x03d5, 0x03d5, 1, 0x03c6),
    (0x03d6, 0x03d6, 1, 0x03c0), (0x03d8, 0x03ee, 2, 0x03d9), (0x03f0, 0x03f0, 1, 0x03ba),
    (0x03f1, 0x03f1, 1, 0x03c1), (0x03f4, 0x03f4, 1, 0x03b8), (0x03f5, 0x03f5, 1, 0x03b5),
    (0x03f7, 0x03f7, 1, 0x03f8), (0x03f9, 0x03f9, 1, 0x03f2), (0x03fa, 0x03fa, 1, 0x03fb),
    (0x03fd, 0x03ff, 1, 0x037b), (0x0400, 0x040f, 1, 0x0450), (0x0410, 0x042f, 1, 0x0430),
    (0x0460, 0x0480, 2, 0x0461), (0x048a, 0x04be, 2, 0x048b), (0x04c0, 0x04c0, 1, 0x04cf),
    (0x04c1, 0x04cd, 2, 0x04c2), (0x04d0, 0x052e, 2, 0x04d1), (0x0531, 0x0556, 1, 0x0561),
    (0x1e00, 0x1e94, 2, 0x1e01), (0x1e9b, 0x1e9b, 1, 0x1e61), (0x1e9e, 0x1e9e, 1, 0x00df),
    (0x1ea0, 0x1efe, 2, 0x1ea1),
];

/// Returns the character, folded.
pub fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let code = u32::from(c);
    let after = TABLE.partition_point(|(first, ..)| *first <= code);
    match after.checked_sub(1).and_then(|row| TABLE.get(row)) {
        Some((first, last, step, folded)) if code <= *last && (code - first).is_multiple_of(*step) => {
            char::from_u32(folded + (code - first)).unwrap_or(c)
        }
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        text.chars().map(fold_char).collect()
    }

    #[test]
    fn the_mapping_is_frozen() {
        for (text, expected) in [
            ("Jones@Contoso.COM", "jones@contoso.com"),
            ("ÀÖØÞ×ß÷ÿ", "àöøþ×ß÷ÿ"),
            ("ĀŁŠŽŸſ", "āłšžÿs"),
            ("İstanbul ISTANBUL ı", "İstanbul istanbul ı"),
            ("ȘȚ ǅ ƏƔ", "șț ǆ əɣ"),
            ("GROẞE GRÖSSE", "große grösse"),
            ("Ệ ẛ", "ệ ṡ"),
            ("ΑΣ ας Ώ ϴ µ", "ασ ασ ώ θ μ"),
            ("ЖЁ Ґ Ӏ", "жё ґ ӏ"),
            ("ԵՒ", "եւ"),
            ("名前 ა \u{10400}", "名前 ა \u{10400}"),
        ] {
            assert_eq!(folded(text), expected);
        }
        // Every mapping there is, in one number: FNV-1a of the pairs.
        let pairs = ('\0'..=char::MAX).map(|c| (c, fold_char(c))).filter(|(c, f)| c != f);
        let (mut count, mut hash) = (0, 0xcbf2_9ce4_8422_2325_u64);
        for (c, folded) in pairs {
            count += 1;
            for code in [u32::from(c), u32::from(folded)] {
                hash = (hash ^ u64::from(code)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        assert_eq!((count, hash), (603, 0x6529_8b5d_b109_9345));
    }

    #[test]
    fn folding_twice_is_folding_once_and_agrees_with_lower_case() {
        // Letters with two small forms, which folding joins, or whose lower case in Unicode has several characters.
        let apart = |c| "µſςϐϑϕϖϰϱϵẛİ".contains(c);
        for c in '\0'..='\u{1eff}' {
            let folded = fold_char(c);
            assert_eq!(fold_char(folded), folded, "{c}");
            let covered = matches!(u32::from(c), 0..=0x24f | 0x370..=0x52f | 0x531..=0x556 | 0x1e00..=0x1eff);
            if covered && !apart(c) {
                assert!(c.to_lowercase().eq([folded]), "{c} {folded}");
            } else if !covered {
                assert_eq!(folded, c);
            }
        }
    }
}
