#!/usr/bin/env bash
# Tests three services on a PostgreSQL cluster whose primary is killed or cut off under load: test-failover.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."

run_tests() {
    Scripts/swift-test.sh --filter ClusterFailOverTests "$@"
}
# Without a cluster the tests are skipped. A build at the same time as the cluster would cause failovers of its own.
(unset TILL_FAILOVER_SCRIPT && run_tests)

folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
    Scripts/failover-cluster.sh stop "$folder/cluster"
    rm -rf "$folder"
}
trap stop EXIT
echo "Starting a PostgreSQL cluster of three nodes …"
Scripts/failover-cluster.sh start "$folder/cluster"
cat >"$folder/cluster.sh" <<SCRIPT
exec "$PWD/Scripts/failover-cluster.sh" "\$1" "$folder/cluster"
SCRIPT
if ! Scripts/failover-cluster.sh can-cut "$folder/cluster"; then
    export TILL_FAILOVER_KILLS_ONLY=1
fi
TILL_FAILOVER=$(Scripts/failover-cluster.sh address "$folder/cluster")
export TILL_FAILOVER TILL_FAILOVER_SCRIPT=$folder/cluster.sh TILL_FAILOVER_ROUNDS=${1:-10}
run_tests --skip-build
