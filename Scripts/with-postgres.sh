#!/usr/bin/env bash
# Runs a command beside a PostgreSQL server of its own, which TILL_POSTGRES names: with-postgres.sh COMMAND…
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/postgres.sh
make_postgres ledger max_connections=400 fsync=off max_pred_locks_per_transaction=256
TILL_POSTGRES=postgres://till@127.0.0.1:$(cat "$postgres_folder/ledger.port")/till
export TILL_POSTGRES
"$@"
