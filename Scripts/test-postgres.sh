#!/usr/bin/env bash
# Runs the ledger's tests over PostgreSQL: on a server of its own, and on a primary that is killed while a standby waits.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/postgres.sh

# What is tested here are answers, not power cuts; every transaction may look at many rows.
make_postgres contract max_connections=200 fsync=off max_pred_locks_per_transaction=256
make_postgres primary max_pred_locks_per_transaction=256
primary=$(cat "$postgres_folder/primary.port")
as_postgres "$postgres_bin/pg_basebackup" -h 127.0.0.1 -p "$primary" -U till -D "$postgres_folder/standby" -R -c fast
start_postgres standby max_pred_locks_per_transaction=256
standby=$(cat "$postgres_folder/standby.port")

query() {
    as_postgres "$postgres_bin/psql" -h 127.0.0.1 -p "$primary" -U till -d till -Atqc "$1"
}
query "ALTER SYSTEM SET synchronous_standby_names = '*'"
query "SELECT pg_reload_conf()" >/dev/null
for _ in $(seq 1 300); do
    [ "$(query "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ] && break
    sleep 0.1
done
[ "$(query "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ] ||
    postgres_fail "the standby does not follow."

# What a test does to the two: a power cut of the primary and what a cluster's own tools do then; a standby that hangs, and goes on.
cat >"$postgres_folder/pair.sh" <<SCRIPT
set -euo pipefail
postgres_bin=$postgres_bin
$(declare -f as_postgres)
# signal SIGNAL NAME: to a server and all of its processes.
signal() {
    local first
    first=\$(head -n 1 "$postgres_folder/\$2/postmaster.pid")
    kill "-\$1" "\$first" \$(ps -o pid= --ppid "\$first")
}
case \$1 in
fail-over)
    signal KILL primary
    as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/standby" -w -t 60 promote >/dev/null
    ;;
stop-standby) signal STOP standby ;;
continue-standby) signal CONT standby ;;
esac
SCRIPT

TILL_POSTGRES=postgres://till@127.0.0.1:$(cat "$postgres_folder/contract.port")/till
TILL_POSTGRES_PAIR=postgres://till@127.0.0.1:$primary,127.0.0.1:$standby/till
TILL_POSTGRES_PAIR_SCRIPT=$postgres_folder/pair.sh
export TILL_POSTGRES TILL_POSTGRES_PAIR TILL_POSTGRES_PAIR_SCRIPT
MALLOC_ARENA_MAX=1 MALLOC_TOP_PAD_=1048576 swift test -c release --disable-testable-imports \
    --filter 'LedgerTests|FailOverTests'
