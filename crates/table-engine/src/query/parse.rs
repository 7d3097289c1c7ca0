//! Filters from their text.

use super::compare::{Operator, Rule};
use super::filter::{Filter, check_name};
use super::lexer::{Lexer, Token, error, short};
use super::node::{Join, Refusal};
use crate::error::Error;
use crate::limits;
use crate::model::Value;
use crate::model::names::Name;

const TERM: &str = "a property, a constant, `not` or `(`";
const COMPARISON: &str = "a comparison: `eq`, `ne`, `gt`, `ge`, `lt` or `le`";

#[inline]
pub(super) fn parse(text: &str) -> Result<Filter, Error> {
    let read = || {
        if text.trim_ascii().is_empty() {
            return Err(error(0, "the filter is empty; to have all entities, give no filter"));
        }
        let mut parser = Parser { lexer: Lexer::new(text), brackets: 0 };
        let filter = parser.filter()?;
        match parser.lexer.next()? {
            (_, Token::End) => Ok(filter),
            (at, found) => Err(unexpected(at, &found, "`and`, `or` or the end")),
        }
    };
    read().map_err(|error| error.attempted("parse the filter"))
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// How many brackets are open: the depth of the recursion.
    brackets: usize,
}

impl<'a> Parser<'a> {
    #[inline]
    fn filter(&mut self) -> Result<Filter, Error> {
        let mut filter = self.and_terms()?;
        while self.lexer.accept(&Token::Word(Join::Or.word()))? {
            filter = filter | self.and_terms()?;
        }
        Ok(filter)
    }

    #[inline]
    fn and_terms(&mut self) -> Result<Filter, Error> {
        let mut filter = self.term()?;
        while self.lexer.accept(&Token::Word(Join::And.word()))? {
            filter = filter & self.term()?;
        }
        Ok(filter)
    }

    #[inline]
    fn term(&mut self) -> Result<Filter, Error> {
        let (start, _) = self.lexer.peek()?;
        let mut negated = false;
        while self.lexer.accept(&Token::Word("not"))? {
            negated = !negated;
        }
        let (at, token) = self.lexer.next()?;
        let filter = match token {
            Token::Open => self.bracketed(at)?,
            Token::Constant(constant) => {
                let operator = self.operator()?;
                Filter::compare(self.property()?, operator.swapped(), constant, Rule::Named)
            }
            Token::Word(word) if !is_reserved(word) => self.after_property(at, word)?,
            found => return Err(unexpected(at, &found, TERM)),
        };
        if !negated {
            return Ok(filter);
        }
        let negation = !filter;
        // A filter must be readable when it is printed: `not A eq 1` is printed with brackets.
        if self.brackets + negation.depth() > limits::FILTER_DEPTH {
            return Err(error(start, Refusal::TooDeep.describe()));
        }
        Ok(negation)
    }

    /// Returns the filter behind an opening bracket, up to its closing one.
    #[inline]
    fn bracketed(&mut self, open: usize) -> Result<Filter, Error> {
        if self.brackets == limits::FILTER_DEPTH {
            return Err(error(open, Refusal::TooDeep.describe()));
        }
        self.brackets += 1;
        let filter = self.filter()?;
        self.brackets -= 1;
        match self.lexer.next()? {
            (_, Token::Close) => Ok(filter),
            (at, found) => Err(unexpected(at, &found, "`and`, `or` or `)`")),
        }
    }

    /// Returns a term that starts with the name of a property: a comparison, or the property alone.
    #[inline]
    fn after_property(&mut self, at: usize, word: &'a str) -> Result<Filter, Error> {
        let property = self.name(at, word)?;
        match self.lexer.peek()?.1 {
            Token::End | Token::Close | Token::Word("and" | "or") => {
                Ok(Filter::is_true(property, Rule::Named))
            }
            _ => {
                let operator = self.operator()?;
                Ok(Filter::compare(property, operator, self.constant()?, Rule::Named))
            }
        }
    }

    #[inline]
    fn operator(&mut self) -> Result<Operator, Error> {
        let (at, token) = self.lexer.next()?;
        match &token {
            Token::Word(word) => Operator::from_word(word).ok_or_else(|| unexpected(at, &token, COMPARISON)),
            found => Err(unexpected(at, found, COMPARISON)),
        }
    }

    #[inline]
    fn constant(&mut self) -> Result<Value, Error> {
        match self.lexer.next()? {
            (_, Token::Constant(value)) => Ok(value),
            (at, Token::Word(word)) if !is_reserved(word) => {
                self.name(at, word)?;
                Err(error(
                    at,
                    format!("found `{}`, expected a constant: one side must be a constant", short(word)),
                ))
            }
            (at, found) => Err(unexpected(at, &found, "a constant")),
        }
    }

    #[inline]
    fn property(&mut self) -> Result<Name, Error> {
        match self.lexer.next()? {
            (at, Token::Word(word)) if !is_reserved(word) => self.name(at, word),
            (at, found) => Err(unexpected(at, &found, "a property: one side must be a property")),
        }
    }

    #[inline]
    fn name(&mut self, at: usize, word: &str) -> Result<Name, Error> {
        if *self.lexer.peek()?.1 == Token::Open {
            return Err(error(
                at,
                format!(
                    "found the function `{}`; a filter has none, and text that starts with `S` is \
                     `Name ge 'S' and Name lt 'T'`",
                    short(word)
                ),
            ));
        }
        check_name(word).map_err(|error| error.at_position(at))?;
        Ok(word.into())
    }
}

/// Words of the language, which are not read as names of properties.
pub(super) fn is_reserved(word: &str) -> bool {
    matches!(word, "and" | "or" | "not") || Operator::from_word(word).is_some()
}

#[inline]
fn unexpected(at: usize, found: &Token<'_>, expected: &str) -> Error {
    let found = match found {
        Token::Null => {
            return error(
                at,
                "found `null`, which no property holds: a missing property compares false with every constant",
            );
        }
        Token::Word(word @ ("add" | "sub" | "mul" | "div" | "mod")) => {
            return error(at, format!("found `{word}`; a filter has no arithmetic"));
        }
        Token::Other(sign @ ('+' | '-' | '*' | '/' | '%')) => {
            return error(at, format!("found `{sign}`; a filter has no arithmetic"));
        }
        Token::Open => "`(`".into(),
        Token::Close => "`)`".into(),
        Token::Word(word) => format!("`{}`", short(word)),
        Token::Constant(value) => format!("a constant of type {}", value.edm_type()),
        Token::Other(c) => format!("`{}`", c.escape_debug()),
        Token::End => "the end".into(),
    };
    error(at, format!("found {found}, expected {expected}"))
}
