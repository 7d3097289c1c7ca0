//! `tables sas`: a token that lets its bearer do something with a table of a server.

use clap::Args;
use table_core::Ticks;
use table_core::access::sas::{AccountKey, Sas as Token, SasError};

use crate::failure::{Exit, Failure};
use crate::session::Session;
use crate::times;

/// The variables that name the account.
const ACCOUNT: &str = "TABLES_ACCOUNT";
const ACCOUNT_KEY: &str = "TABLES_ACCOUNT_KEY";

/// The arguments of `sas`. The account's key is no argument, since other processes see those.
#[expect(clippy::struct_excessive_bools, reason = "each is a permission")]
#[derive(Debug, Args)]
#[command(after_help = "The account is named by TABLES_ACCOUNT, and its key by TABLES_ACCOUNT_KEY.")]
pub(crate) struct Sas {
    /// The table
    table: String,
    /// Let it read
    #[arg(long)]
    read: bool,
    /// Let it insert
    #[arg(long)]
    add: bool,
    /// Let it replace and merge
    #[arg(long)]
    update: bool,
    /// Let it delete
    #[arg(long)]
    delete: bool,
    /// In this partition alone
    #[arg(long, value_name = "KEY")]
    partition: Option<String>,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = times::time)]
    from: Option<Ticks>,
    /// Until this time
    #[arg(long, value_name = "TIME", value_parser = times::time)]
    until: Option<Ticks>,
    /// By this policy, which the server knows
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Over HTTPS alone
    #[arg(long)]
    https_only: bool,
}

impl Sas {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|_| {
                Failure::Usage(format!("the account is not known: set {ACCOUNT} and {ACCOUNT_KEY}"))
            })
        };
        let token = self.token(&variable(ACCOUNT)?, &variable(ACCOUNT_KEY)?)?;
        session.output().text(&token)?;
        Ok(Exit::Done)
    }

    fn token(&self, account: &str, key: &str) -> Result<String, Failure> {
        if self.policy.is_none()
            && (self.until.is_none() || !(self.read || self.add || self.update || self.delete))
        {
            return Err(Failure::Usage(
                "a token says what it permits and when that ends: give --read, --add, --update or --delete, and --until, \
                 or --policy"
                    .into(),
            ));
        }
        let refused = |error: SasError| Failure::Usage(error.to_string());
        let key = AccountKey::new(account, key).map_err(refused)?;
        let mut token = Token::table(&self.table);
        if self.read {
            token = token.read();
        }
        if self.add {
            token = token.add();
        }
        if self.update {
            token = token.update();
        }
        if self.delete {
            token = token.delete();
        }
        if self.https_only {
            token = token.https_only();
        }
        if let Some(partition) = &self.partition {
            token = token.partition(partition);
        }
        if let Some(from) = self.from {
            token = token.from(from);
        }
        if let Some(until) = self.until {
            token = token.until(until);
        }
        if let Some(policy) = &self.policy {
            token = token.policy(policy);
        }
        Ok(token.sign(&key).map_err(refused)?.into_string())
    }
}
