#!/usr/bin/env bash
# Runs the typed tests that run on other executors than LMDB on the PostgreSQL server at TABLE_POSTGRES.
#   typed.sh ARGUMENT OF cargo test..
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo test --locked -p integration-tests "$@" --test derived --test maintenance --test messages --test rows --test secrets \
  --test structures --test typed --test versions -- on_postgres
