#!/usr/bin/env bash
# What the first build of a program with table-azure takes, beside one with the old `azure_data_tables` of crates.io, and beside the
# installs of the service's clients for JavaScript and Python: seconds of processors, seconds of the day, and how many packages, as
# Markdown. What is built or installed was downloaded before, so that the network is not measured.
#
#   bench/azure.sh [PROFILE..]   of dev and release; dev if none is named
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The profile is the one that a new package has.
unset CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG CARGO_ENCODED_RUSTFLAGS RUSTFLAGS
cp rust-toolchain.toml "$work/"

TIMEFORMAT='%R %U %S'
timed() { # command..: seconds of processors, and of the day
  local took
  took=$({ time "$@" >"$work/log" 2>&1; } 2>&1) || { cat "$work/log" >&2 && return 1; }
  awk '{ printf "%.0f | %.0f", $2 + $3, $1 }' <<<"$took"
}

program() { # name, dependency..; the program's text comes as input
  local name=$1
  shift
  mkdir -p "$work/$name/src"
  {
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$name"
    printf '%s\n' "$@"
  } >"$work/$name/Cargo.toml"
  cat >"$work/$name/src/main.rs"
}

program table-azure "table-azure = { path = \"$root/crates/table-azure\" }" \
  "table-core = { path = \"$root/table-core\", default-features = false, features = [\"derive\"] }" <<'END'
use table_azure::AzureTables;
use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn main() -> table_core::Result<()> {
    let tables = AzureTables::connect("UseDevelopmentStorage=true")?;
    let staff = tables.table::<Employee>()?;
    staff.put(&Employee { department: "Sales".into(), id: 1, name: "Jones".into() })?;
    Ok(())
}
END
program azure-data-tables \
  'azure_data_tables = { version = "0.21", default-features = false, features = ["enable_reqwest_rustls", "hmac_rust"] }' \
  'azure_storage = { version = "0.21", default-features = false, features = ["enable_reqwest_rustls", "hmac_rust"] }' \
  'serde = { version = "1", features = ["derive"] }' 'tokio = { version = "1", features = ["macros", "rt-multi-thread"] }' <<'END'
use azure_data_tables::operations::InsertEntityResponse;
use azure_data_tables::prelude::TableServiceClient;
use azure_storage::StorageCredentials;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Employee {
    #[serde(rename = "PartitionKey")]
    department: String,
    #[serde(rename = "RowKey")]
    id: String,
    #[serde(rename = "Name")]
    name: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let credentials = StorageCredentials::access_key("acme", std::env::var("KEY")?);
    let staff = TableServiceClient::new("acme", credentials).table_client("Company");
    let jones = Employee { department: "Sales".into(), id: "empid_000001".into(), name: "Jones".into() };
    let _: InsertEntityResponse<Employee> = staff.insert(&jones)?.await?;
    Ok(())
}
END

echo "$(rustc --version), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)."
echo
echo '| first build, or install | packages | s of processors | s of the day |'
echo '|---|---:|---:|---:|'
for profile in "${@:-dev}"; do
  for name in table-azure azure-data-tables; do
    cd "$work/$name"
    cargo fetch --quiet
    count=$(cargo tree --edges normal,build --prefix none --format '{p}' | sed 's/ (\*)$//' | sort -u | wc -l)
    echo "| $name, $profile | $count | $(timed cargo build --offline --profile "$profile") |"
  done
done
if command -v npm >/dev/null; then
  mkdir -p "$work/npm" && cd "$work/npm"
  npm install --silent --no-audit --no-fund --prefix first @azure/data-tables >/dev/null
  took=$(timed npm install --no-audit --no-fund --prefer-offline --prefix second @azure/data-tables)
  echo "| @azure/data-tables, npm | $(find second/node_modules -name package.json -path '*node_modules/*' -not -path '*/dist/*' -not -path '*/src/*' | xargs grep -l '"version"' | wc -l) | $took |"
fi
if command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; then
  cd "$work"
  python3 -m pip download --quiet --dest wheels azure-data-tables >/dev/null
  took=$(timed python3 -m pip install --no-index --find-links wheels --target installed azure-data-tables)
  echo "| azure-data-tables, pip | $(find wheels -type f | wc -l) | $took |"
fi
