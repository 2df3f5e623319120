# Makes the table of `make bench-service` out of its figures, which are lines of
#   result WHAT NAME SIZE REQUESTS SECONDS P50 P99 ERRORS REFUSALS SERVICE DATABASE LOAD   (milliseconds; in turns, one each)
#   FIGURE NAME NUMBER
# NAME is the storage, followed by -peer for the peer over the same storage, or by -against for the other till. The hello has the
# name of the service beside which it was measured.
# Exits with 1 where a till gave an error, or anything gave no answer.

BEGIN {
    # Processor time of the service, and of the database, beside that of the hello.
    service_target["items-cold SQLite"] = 3; service_target["items-repeated SQLite"] = 2
    service_target["items30-cold SQLite"] = 4.5
    service_target["items-cold PostgreSQL"] = 4.5; database_target["items-cold PostgreSQL"] = 2
    service_target["items-repeated PostgreSQL"] = 3.5; database_target["items-repeated PostgreSQL"] = 1.2
    service_target["products SQLite"] = 1.6; service_target["live SQLite"] = 1.1
    service_target["redeem SQLite"] = 8
    service_target["redeem PostgreSQL"] = 8; database_target["redeem PostgreSQL"] = 5
    service_target["info-cold SQLite"] = 7; service_target["info-repeated SQLite"] = 7; service_target["receipt SQLite"] = 15
    # The rate beside that of the peer.
    peer_target["items-cold SQLite"] = 4; peer_target["items-repeated SQLite"] = 4
    peer_target["items-cold PostgreSQL"] = 2; peer_target["items-repeated PostgreSQL"] = 2
    peer_target["redeem SQLite"] = 10; peer_target["redeem PostgreSQL"] = 10
    # Milliseconds at the 99th percentile, and these beside those of the smallest ledger.
    high_target["items-cold"] = 15; high_target["items-repeated"] = 15
    growth_target["redeem"] = 1.5
}

$1 == "result" {
    key = $2 " " $3 " " $4
    if (!(key in turns)) order[++count] = key
    turns[key]++
    requests[key] += $5; seconds[key] += $6; median[key] += $7; high[key] += $8; errors[key] += $9 + $10
    service[key] += $11; database[key] += $12; load[key] += $13
    if ($3 !~ /-/ && (!least || $4 + 0 < least)) least = $4 + 0
}

$1 ~ /^(ready|idle,?|peak|products)$/ {
    figure = $NF; name = $0; sub(/ [0-9]+$/, "", name)
    if (!(name in worst)) named[++names] = name
    if (best[name] == "" || figure < best[name]) best[name] = figure
    if (figure > worst[name]) worst[name] = figure
}

function rate(key) { return seconds[key] ? requests[key] / seconds[key] : 0 }

# Microseconds of processor time for each request.
function each(milliseconds, key) { return requests[key] ? 1000 * milliseconds[key] / requests[key] : 0 }

# The same of the service and its database together.
function whole(key) { return each(service, key) + each(database, key) }

function ninetyninth(key) { return turns[key] ? high[key] / turns[key] : 0 }

# Adds a ratio to those of a row, with its target if it has one. `is_least` is true if the target is the least that is met.
function add(text, value, target, is_least) {
    if (target) text = text " (target " target ((is_least ? value >= target : value <= target) ? ")" : ", missed)")
    ratios = ratios (ratios ? "; " : "") text
}

END {
    printf "%-14s %-18s %9s %9s %9s %9s %7s %26s\n", "", "", "", "", "", "", "", "processor time of a request"
    printf "%-14s %-18s %9s %9s %9s %9s %7s %8s %8s %8s   %s\n",
        "what", "in", "size", "a second", "p50", "p99", "errors", "service", "database", "load", "ratios"
    for (i = 1; i <= count; i++) {
        key = order[i]; split(key, part, " "); ratios = ""
        what = part[1]; name = part[2]; size = part[3]; row = what " " name
        is_till = name !~ /-peer$/ && what != "hello"
        storage = name; sub(/-(peer|against)$/, "", storage)
        hello = each(service, "hello " storage " " size)
        if (is_till && hello) {
            ratio = each(service, key) / hello
            add(sprintf("%.1f hellos", ratio), ratio, service_target[row])
            ratio = each(database, key) / hello
            if (ratio) add(sprintf("database %.1f", ratio), ratio, database_target[row])
        }
        if (is_till && (what in high_target) && name == storage)
            add(sprintf("p99 %.0f ms", ninetyninth(key)), ninetyninth(key), high_target[what])
        peer = what " " storage "-peer " size
        if (is_till && rate(peer) && whole(peer)) {
            ratio = rate(key) / rate(peer)
            add(sprintf("%.1f times the peer's rate", ratio), ratio, peer_target[row], 1)
            add(sprintf("%.2f of its processor time", whole(key) / whole(peer)))
        }
        first = row " " least
        if (is_till && size != least && ninetyninth(first)) {
            ratio = ninetyninth(key) / ninetyninth(first)
            add(sprintf("p99 %.2f of that at %d", ratio, least), ratio, growth_target[what])
        }
        other = what " " name "-against " size
        if (rate(other) && service[other])
            add(sprintf("%.2f of the other till's rate, %.2f of its processor time", rate(key) / rate(other),
                each(service, key) / each(service, other)))
        printf "%-14s %-18s %9d %9d %6.1f ms %6.1f ms %7d %5.0f us %5.0f us %5.0f us   %s\n", what, name, size, rate(key),
            median[key] / turns[key], ninetyninth(key), errors[key], each(service, key), each(database, key), each(load, key),
            ratios
        if (!rate(key) || (is_till && errors[key])) failed = 1
    }
    for (i = 1; i <= names; i++) {
        printf "%s: %d to %d %s\n", named[i], best[named[i]], worst[named[i]], named[i] ~ /^(idle|peak)/ ? "MB" : "ms"
    }
    exit failed
}
