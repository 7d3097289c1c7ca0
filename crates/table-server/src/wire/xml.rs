//! XML, as far as the protocol has it: elements in elements, and texts in the innermost. Attributes say nothing here.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::Event;

use crate::fault::Fault;

/// The longest text that is read: policies and properties take far less.
const BYTES: usize = 64 << 10;
/// How deep elements may stand in others.
const DEPTH: usize = 16;
/// How many elements there may be.
const ELEMENTS: usize = 1_000;
/// What texts begin with.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// The name, without a prefix.
    pub(crate) name: String,
    /// What stands in it beside elements, without white space around it.
    pub(crate) text: String,
    /// The elements in it.
    pub(crate) children: Vec<Self>,
}

/// How a text is read.
#[derive(Clone, Copy)]
struct Reading {
    /// So many bytes it has at most.
    most: usize,
    /// Whether white space around texts is left out.
    is_trimmed: bool,
}

impl Element {
    /// Reads a text, whose one outermost element has this name.
    pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Self, Fault> {
        Self::read_by(bytes, name, Reading { most: BYTES, is_trimmed: true })
    }

    /// Reads a text of so many bytes at most, as [`read`](Self::read) does, and leaves the white space around innermost texts:
    /// messages may begin and end with it.
    #[cfg(feature = "queue")]
    pub(crate) fn read_whole(bytes: &[u8], name: &str, most: usize) -> Result<Self, Fault> {
        Self::read_by(bytes, name, Reading { most, is_trimmed: false })
    }

    fn read_by(bytes: &[u8], name: &str, Reading { most, is_trimmed }: Reading) -> Result<Self, Fault> {
        if bytes.len() > most {
            return Err(invalid(&format!("it is longer than {most} bytes")));
        }
        let text = str::from_utf8(bytes).map_err(|_| invalid("it is no UTF-8"))?;
        let root = tree(text.strip_prefix('\u{feff}').unwrap_or(text), is_trimmed)?;
        if root.name == name {
            Ok(root)
        } else {
            Err(invalid(&format!("the outermost element is no `{name}`")))
        }
    }

    /// Returns the element of this name in it; two of a name are refused.
    pub(crate) fn child(&self, name: &str) -> Result<Option<&Self>, Fault> {
        let mut found = self.children.iter().filter(|child| child.name == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(invalid(&format!("`{name}` is there twice"))),
            (child, None) => Ok(child),
        }
    }

    /// Returns the text of the element of this name in it; `None` if there is none, or nothing in it.
    pub(crate) fn text_of(&self, name: &str) -> Result<Option<&str>, Fault> {
        let Some(child) = self.child(name)? else { return Ok(None) };
        if child.children.is_empty() {
            Ok(Some(child.text.as_str()).filter(|text| !text.is_empty()))
        } else {
            Err(invalid(&format!("`{name}` holds elements")))
        }
    }
}

/// Makes the refusal of a text that is not the XML it should be.
#[cold]
pub(crate) fn invalid(why: &str) -> Fault {
    Fault::new(400, "InvalidXmlDocument", format!("XML specified is not syntactically valid: {why}."))
}

/// Makes the refusal of a value that an element can't have.
#[cold]
pub(crate) fn invalid_value(name: &str, right: &str) -> Fault {
    let text =
        format!("The value for one of the XML nodes is not in the correct format: `{name}` is {right}.");
    Fault::new(400, "InvalidXmlNodeValue", text)
}

fn tree(text: &str, is_trimmed: bool) -> Result<Element, Fault> {
    let mut reader = Reader::from_str(text);
    let (mut open, mut root, mut count) = (Vec::<Element>::new(), None::<Element>, 0);
    loop {
        let event = reader.read_event().map_err(|error| invalid(&error.to_string()))?;
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                count += 1;
                if root.is_some() || count > ELEMENTS || open.len() >= DEPTH {
                    return Err(invalid("it has more elements than it may have"));
                }
                let element = Element { name: start.local_name().as_ref().to_owned(), ..Element::default() };
                if is_empty {
                    close(element, is_trimmed, &mut open, &mut root);
                } else {
                    open.push(element);
                }
            }
            // That its name is the one of the start is the reader's to see to.
            Event::End(_) => match open.pop() {
                Some(element) => close(element, is_trimmed, &mut open, &mut root),
                None => return Err(invalid("an element ends that did not begin")),
            },
            Event::Text(text) => add(&text.xml_content(XmlVersion::Implicit1_0), &mut open)?,
            Event::CData(text) => add(&text.xml_content(XmlVersion::Implicit1_0), &mut open)?,
            Event::GeneralRef(reference) => {
                let character = match &*reference {
                    "amp" => Some('&'),
                    "lt" => Some('<'),
                    "gt" => Some('>'),
                    "quot" => Some('"'),
                    "apos" => Some('\''),
                    // No others: nothing can stand for much.
                    _ => reference.resolve_char_ref().map_err(|error| invalid(&error.to_string()))?,
                };
                let character = character.ok_or_else(|| invalid("it has an entity that is not known"))?;
                add(character.encode_utf8(&mut [0; 4]), &mut open)?;
            }
            Event::DocType(_) => return Err(invalid("it has a document type, which is not read")),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    let root = root.filter(|_| open.is_empty());
    root.ok_or_else(|| invalid("it ends before its outermost element does"))
}

fn add(text: &str, open: &mut [Element]) -> Result<(), Fault> {
    // What is written leaves them out: a name would be kept as another one.
    if !text.chars().all(is_written) {
        return Err(invalid("it has a control character"));
    }
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim_ascii().is_empty() => {}
        None => return Err(invalid("a text stands outside of elements")),
    }
    Ok(())
}

fn close(mut element: Element, is_trimmed: bool, open: &mut [Element], root: &mut Option<Element>) {
    let trimmed = element.text.trim_ascii();
    let is_trimmed = is_trimmed || !element.children.is_empty();
    if is_trimmed && trimmed.len() < element.text.len() {
        element.text = trimmed.into();
    }
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => *root = Some(element),
    }
}

/// A text that is written.
#[derive(Debug)]
pub(crate) struct Writer(String);

impl Writer {
    /// Begins a text.
    pub(crate) fn new() -> Self {
        Self(DECLARATION.to_owned())
    }

    /// Writes an element, with what the closure writes in it.
    pub(crate) fn element(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.tag("<", name);
        inside(self);
        self.tag("</", name);
    }

    /// Writes an element with an attribute, whose value needs no escape.
    #[cfg(feature = "queue")]
    pub(crate) fn element_with(
        &mut self,
        name: &str,
        attribute: &str,
        value: &str,
        inside: impl FnOnce(&mut Self),
    ) {
        self.tag("<", &format!("{name} {attribute}=\"{value}\""));
        inside(self);
        self.tag("</", name);
    }

    /// Writes an element with a text in it.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.element(name, |writer| escape(text, &mut writer.0));
    }

    /// Writes an element with a text in it, if there is one.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    fn tag(&mut self, before: &str, name: &str) {
        for part in [before, name, ">"] {
            self.0.push_str(part);
        }
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// Returns whether a text may hold a character.
fn is_written(character: char) -> bool {
    match character {
        '\r' | '\n' | '\t' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    }
}

/// Appends a text as XML has it between elements. Characters that XML can't hold are left out.
pub(crate) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // As it is, a reader would make a line feed of it.
            '\r' => out.push_str("&#13;"),
            other if is_written(other) => out.push(other),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> String {
        let fault = Element::read(text.as_bytes(), "a").unwrap_err();
        assert_eq!((fault.status, &*fault.code), (400, "InvalidXmlDocument"));
        fault.text.into_owned()
    }

    #[test]
    fn elements_and_texts_are_read() {
        let text = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<!-- x --><a x='1'>\n <p:b> &lt;1&#x26;&#50;<![CDATA[<&]]> </p:b><c/></a>\n";
        let read = Element::read(text.as_bytes(), "a").unwrap();
        assert_eq!(read.text_of("b"), Ok(Some("<1&2<&")));
        assert_eq!((read.text_of("c"), read.text_of("d"), read.children.len()), (Ok(None), Ok(None), 2));
        let twice = Element::read(b"<a><b/><b>1</b></a>", "a").unwrap();
        assert!(twice.child("b").is_err() && twice.text_of("b").is_err());
    }

    #[test]
    fn what_is_no_xml_or_too_much_is_refused() {
        for bad in [
            "",
            "a",
            "<a>",
            "</a>",
            "<a></b>",
            "<b/>",
            "<a/><a/>",
            "<a/>x",
            "x<a/>",
            "<a>&x;</a>",
            "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<a>&</a>",
            "<a><b></a></b>",
            "<!DOCTYPE a [<!ENTITY x \"xx\">]><a/>",
            "<a",
        ] {
            assert!(!refused(bad).is_empty(), "{bad}");
        }
        assert!(refused(&"<a>".repeat(100)).contains("more elements"));
        assert!(refused(&format!("<a>{}</a>", "<b/>".repeat(ELEMENTS))).contains("more elements"));
        assert!(refused(&format!("<a>{}</a>", "x".repeat(BYTES))).contains("65536"));
        assert!(Element::read(b"<a>\xff</a>", "a").unwrap_err().text.contains("UTF-8"));
    }

    proptest! {
        #[test]
        fn a_text_that_is_written_is_read_again(text in "[ -~\n\té<>&\"']{0,40}", junk in "[<>/ab&;#x0-9 ]{0,40}") {
            let mut writer = Writer::new();
            writer.element("a", |writer| writer.text("b", &text));
            let read = Element::read(&writer.finish(), "a").unwrap();
            prop_assert_eq!(read.text_of("b").unwrap().unwrap_or_default(), text.trim_ascii());
            drop(Element::read(junk.as_bytes(), "a"));
        }
    }
}
