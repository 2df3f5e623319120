#!/usr/bin/env bash
# Lets Prometheus read Documentation/alerts.yml beside services with outages: a service that ends, a PostgreSQL server that stops, a disk
# that fills, webhooks that fail, a store that takes no answer, a TLS certificate that ends and one that does not load. In each, the right alert has to fire, with the
# remedy in its text, and no other one. Where the remedy is tried, the alert has to end.
#   Scripts/test-alerts.sh TILL
set -euo pipefail

till=$(realpath "$1")
cd "$(dirname "$0")/.."
# shellcheck source=Scripts/postgres.sh
. Scripts/postgres.sh
# shellcheck source=Scripts/work.sh
. Scripts/work.sh
remove_work=$(declare -f finish)
eval "${remove_work/finish/finish_work}"
finish() {
    mountpoint --quiet "$work/disk" && umount --lazy "$work/disk"
    finish_work
}
command -v promtool >/dev/null || Scripts/install-packages.sh prometheus
promtool check rules Documentation/alerts.yml >/dev/null || fail "promtool refuses Documentation/alerts.yml"

product=com.memolease.sesac1.sprout1
# serve NAME OPTION…: a service with the data directory NAME, as the instance NAME of Prometheus.
declare -A process url scheme ca
serve() {
    local name=$1 address lines
    shift
    export TILL_DATA="$work/$name"
    "$till" keys make prometheus --scope metrics --scope read --scope redeem --scope webhooks ${ledger:+--ledger "$ledger"} \
        2>/dev/null >"$work/$name.key"
    mkfifo "$work/$name.address"
    "$till" serve --port 0 --log-level notice ${ledger:+--ledger "$ledger"} "$@" >"$work/$name.address" 2>"$work/$name.log" &
    process[$name]=$!
    # A service with a store writes more than one line.
    exec {lines}<"$work/$name.address"
    read -r _ _ address <&"$lines" || fail "the service $name did not start: $(cat "$work/$name.log")"
    url[$name]=$address
    scheme[$name]=${address%%:*}
}
# call NAME PATH OPTION…
call() {
    curl --silent --max-time 20 ${ca[$1]:+--cacert "${ca[$1]}"} --header "Authorization: Bearer $(cat "$work/$1.key")" "${@:3}" \
        "${url[$1]}$2"
}

echo "Starting the services …"
serve calm
serve ended
make_postgres alerts fsync=off
ledger=postgres://till@127.0.0.1:$(cat "$postgres_folder/alerts.port")/till
serve postgres
ledger=
serve webhooks --webhooks --webhook-private-addresses
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/tls.key" -out "$work/tls.crt" -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -days 3 2>/dev/null
cp "$work/tls.crt" "$work/root.crt"
ca[certificate]=$work/root.crt
serve certificate --tls-certificate "$work/tls.crt" --tls-key "$work/tls.key"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/store.p8" 2>/dev/null
chmod 600 "$work/store.p8"
# Its App Store sends questions, and takes no answers.
serve duties --store --app-store-key "$work/store.p8" --app-store-key-id key --app-store-issuer-id issuer --refund-preference DECLINE \
    --app-store-url "http://127.0.0.1:$(free_port)" --reconcile-seconds 0 --reconcile-customers-seconds 0
instances=(calm ended postgres webhooks certificate duties)
mkdir "$work/disk"
if mount -t tmpfs -o size=64m,mode=700 tmpfs "$work/disk" 2>/dev/null; then
    # The receipt of another store, whose root the service trusts.
    TILL_DATA=$work/calm "$till" buy "$product" --user alice >/dev/null
    TILL_DATA=$work/calm "$till" receipt export --user alice --out "$work/receipt" >/dev/null
    mkdir -m 700 "$work/disk/service"
    cp -r "$work/calm/service/trust" "$work/disk/service/"
    serve disk
    instances+=(disk)
else
    echo "No file system can be mounted here, so the full disk is left out. Run this as root to try it."
fi

# The same rules with short times: an outage need not last an hour.
sed -E -e 's/for: [0-9]+[mh]/for: 3s/; s/\[[0-9]+[mh]\]/[30s]/g; s/offset [0-9]+[mh]/offset 30s/g' Documentation/alerts.yml >"$work/alerts.yml"
{
    printf 'global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs:\n' "$work/alerts.yml"
    for name in "${instances[@]}"; do
        cat <<YAML
  - job_name: $name
    scrape_timeout: 900ms
    scheme: ${scheme[$name]}
    tls_config: {insecure_skip_verify: true}
    authorization: {credentials_file: $work/$name.key}
    static_configs: [{targets: ['${url[$name]#*://}'], labels: {instance: $name}}]
    relabel_configs: [{target_label: job, replacement: till}]
YAML
    done
} | sed 's/scrape_timeout: 900ms/scrape_interval: 3s\n    scrape_timeout: 3s/' >"$work/prometheus.yml"
prometheus_port=$(free_port)
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" --log.level=error \
    --web.listen-address="127.0.0.1:$prometheus_port" 2>"$work/prometheus.log" &

# alerts: the alerts that fire, one a line: the instance, the name, the text.
alerts() {
    curl --silent "http://127.0.0.1:$prometheus_port/api/v1/alerts" | python3 -c '
import json, sys
for alert in json.load(sys.stdin)["data"]["alerts"]:
    labels, texts = alert["labels"], alert["annotations"]
    if alert["state"] == "firing":
        print(labels["instance"], labels["alertname"], texts["summary"], " ".join(texts["description"].split()))' 2>/dev/null || true
}
# fires NAME ALERT TEXT…: the alert fires at the instance, and has each text.
fires() {
    local name=$1 alert=$2 text line=
    shift 2
    for _ in $(seq 180); do
        line=$(alerts | grep -m 1 "^$name $alert " || true)
        [ -n "$line" ] && break
        sleep 0.5
    done
    [ -n "$line" ] || fail "$alert does not fire at $name. Firing: $(alerts | cut -d' ' -f1,2 | sort -u | xargs); its log: $(tail -n 5 "$work/$name.log")"
    for text in "$@"; do
        grep -qF "$text" <<<"$line" || fail "$alert does not say \"$text\": $line"
    done
    echo "$name: $line" | cut -c 1-160
}
# ends NAME ALERT: the alert no longer fires at the instance.
ends() {
    for _ in $(seq 240); do
        alerts | grep -q "^$1 $2 " || return 0
        sleep 0.5
    done
    fail "$2 still fires at $1"
}

for _ in $(seq 120); do
    count=$(curl --silent "http://127.0.0.1:$prometheus_port/api/v1/query?query=up==1" | grep -o '"instance":' | wc -l || true)
    [ "$count" -eq "${#instances[@]}" ] && break
    sleep 0.5
done
[ "$count" -eq "${#instances[@]}" ] || fail "Prometheus reaches $count of ${#instances[@]} services: $(cat "$work/prometheus.log")"
fires certificate TillCertificateEnds "systemctl reload till" "tls-certificate"
[ "$(alerts | wc -l)" -eq 1 ] || fail "alerts fire without an outage: $(alerts)"

echo "== A service ends"
kill -KILL "${process[ended]}"
{ wait "${process[ended]}" || true; } 2>/dev/null
fires ended TillDown "systemctl status till"

echo "== The PostgreSQL server stops, and starts again"
as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/alerts" -m immediate -w stop >/dev/null
fires postgres TillLedgerDown "start the PostgreSQL server" "connects again by itself"
port=$(cat "$postgres_folder/alerts.port")
as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/alerts" -l "$postgres_folder/alerts.log" -w -t 60 -o \
    "-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories=$postgres_folder -c fsync=off" start >/dev/null
ends postgres TillLedgerDown

echo "== Webhooks fail, and the back end answers again"
hook_port=$(free_port)
call webhooks /v1/webhooks --json "{\"url\":\"http://127.0.0.1:$hook_port/hook\"}" >/dev/null
TILL_DATA=$work/webhooks "$till" buy "$product" --user alice >/dev/null
fires webhooks TillWebhooksFail "Repair the back end" "(unreachable)"
python3 -c '
import http.server, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *words): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()' "$hook_port" &
ends webhooks TillWebhooksFail

echo "== A store takes no answer before the deadline, and then it is too late"
TILL_DATA=$work/duties "$till" buy "$product" --user alice >/dev/null
sold=$(TILL_DATA=$work/duties "$till" store sales alice --json | grep -o '"transactionId" : "[0-9]*"' | grep -o '[0-9]*')
TILL_DATA=$work/duties "$till" store refund "$sold" --step request >/dev/null
fires duties TillRefundAnswersFail "twelve hours" "(appStoreUnreachable)"
TILL_DATA=$work/duties "$till" store time --advance 7h >/dev/null
fires duties TillDutyDue "(consumptionAnswer)" "till doctor"
TILL_DATA=$work/duties "$till" store time --advance 6h >/dev/null
fires duties TillDutyMissed "(consumptionAnswer)" "page Health"
ends duties TillDutyDue

echo "== The certificate is renewed, and the next one does not load"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/tls.key" -out "$work/tls.crt" -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -days 90 2>/dev/null
kill -HUP "${process[certificate]}"
ends certificate TillCertificateEnds
echo junk >"$work/tls.crt"
kill -HUP "${process[certificate]}"
fires certificate TillReloadFailed "not reloaded" "the TLS certificate"

if [ -n "${process[disk]:-}" ]; then
    echo "== The disk fills, and has space again"
    fallocate -l 58M "$work/disk/other"
    fires disk TillDiskAlmostFull "Free space on the disk" "storage-reserve-megabytes"
    dd if=/dev/zero of="$work/disk/rest" bs=4k status=none 2>/dev/null || true
    number=0
    redeem() {
        call disk "/v1/users/customer$((number += 1))/receipts" --header "Content-Type: application/json" \
            --data "{\"receipt\":\"$(tr -d '\n' <"$work/receipt")\"}" >"$work/answer"
    }
    for _ in $(seq 40); do
        redeem
        grep -q storageDiskFull "$work/answer" && break
    done
    grep -q storageDiskFull "$work/answer" || fail "the full disk refuses nothing: $(cat "$work/answer")"
    fires disk TillLedgerFails "(storageDiskFull)" "storageDiskFull: free space on the disk"
    rm "$work/disk/other" "$work/disk/rest"
    ends disk TillDiskAlmostFull
    ends disk TillLedgerFails
fi

rest=$(alerts | cut -d' ' -f1,2 | grep -v -e '^ended TillDown$' -e '^certificate TillReloadFailed$' \
    -e '^duties TillRefundAnswersFail$' -e '^duties TillDutyMissed$' || true)
[ -z "$rest" ] || fail "other alerts fire: $rest"
echo "The right alerts have fired, with the right remedies."
