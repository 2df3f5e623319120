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
    high_target["items-cold SQLite"] = 15; high_target["items-repeated SQLite"] = 15
    high_target["items-cold PostgreSQL"] = 15; high_target["items-repeated PostgreSQL"] = 15
    growth_target["redeem SQLite"] = 1.5; growth_target["redeem PostgreSQL"] = 1.5
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

# A ratio with its target in brackets, if it has one, and ! behind a target that is missed.
# - is_least: True if the target is the least that is met.
function cell(text, value, target, is_least) {
    if (!target) return text
    return text " (" target ((is_least ? value >= target : value <= target) ? ")" : "!)")
}

# The ratios of a row of a till, or an empty text if it has none.
function ratios(what, name, size, key,    row, storage, hello, service_part, database_part, rank, peer, rate_part, time_part,
        first, growth, other, other_part, value) {
    row = what " " name; storage = name; sub(/-against$/, "", storage)
    hello = each(service, "hello " storage " " size)
    if (!hello || name ~ /-peer$/ || what == "hello") return ""
    value = each(service, key) / hello; service_part = cell(sprintf("%.1f", value), value, service_target[row])
    value = each(database, key) / hello
    if (value) database_part = cell(sprintf("%.1f", value), value, database_target[row])
    value = ninetyninth(key); rank = cell(sprintf("%.0f ms", value), value, high_target[row])
    peer = what " " storage "-peer " size
    if (rate(peer) && whole(peer)) {
        value = rate(key) / rate(peer); rate_part = cell(sprintf("%.1f", value), value, peer_target[row], 1)
        time_part = sprintf("%.2f", whole(key) / whole(peer))
    }
    first = row " " least
    if (size != least && ninetyninth(first)) {
        value = ninetyninth(key) / ninetyninth(first); growth = cell(sprintf("%.2f", value), value, growth_target[row])
    }
    other = row "-against " size
    if (rate(other) && service[other])
        other_part = sprintf("%.2f, %.2f", rate(key) / rate(other), each(service, key) / each(service, other))
    return sprintf("%-14s %-18s %9d   %-12s %-10s %-12s %-11s %-11s %-11s %s", what, name, size, service_part, database_part,
        rank, growth, rate_part, time_part, other_part)
}

END {
    print "processor time is that of a request"
    printf "%-14s %-18s %9s %9s %9s %9s %7s %8s %8s %8s\n",
        "what", "in", "size", "a second", "p50", "p99", "errors", "service", "database", "load"
    for (i = 1; i <= count; i++) {
        key = order[i]; split(key, part, " "); what = part[1]; name = part[2]; size = part[3]
        printf "%-14s %-18s %9d %9d %6.1f ms %6.1f ms %7d %5.0f us %5.0f us %5.0f us\n", what, name, size, rate(key),
            median[key] / turns[key], ninetyninth(key), errors[key], each(service, key), each(database, key), each(load, key)
        if (!rate(key) || (name !~ /-peer$/ && errors[key])) failed = 1
    }
    print "\nratios; a target is in brackets, with ! if it is missed"
    printf "%-14s %-18s %9s   %-23s %-24s %-23s %s\n", "", "", "", "processor time in hellos", "p99, and beside", "beside the peer",
        "beside the other till"
    printf "%-14s %-18s %9s   %-12s %-10s %-12s %-11s %-11s %-11s %s\n", "what", "in", "size", "service", "database", "", least, "rate",
        "time", "rate, time"
    for (i = 1; i <= count; i++) {
        split(order[i], part, " "); line = ratios(part[1], part[2], part[3], order[i])
        if (line) print line
    }
    print ""
    for (i = 1; i <= names; i++) {
        printf "%s: %d to %d %s\n", named[i], best[named[i]], worst[named[i]], named[i] ~ /^(idle|peak)/ ? "MB" : "ms"
    }
    exit failed
}
