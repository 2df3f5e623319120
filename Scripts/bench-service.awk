# Makes the table of `make bench-service` out of its figures, which are lines of
#   result WHAT NAME SIZE REQUESTS SECONDS P50 P99 ERRORS REFUSALS SERVICE DATABASE LOAD   (milliseconds; in turns, one each)
#   FIGURE NAME NUMBER
# NAME is Hummingbird, or the storage, followed by -peer for the peer over the same storage, or by -against for the other till.
# Exits with 1 where a till gave an error, or anything gave no answer.

$1 == "result" {
    key = $2 " " $3 " " $4
    if (!(key in turns)) order[++count] = key
    turns[key]++
    requests[key] += $5; seconds[key] += $6; median[key] += $7; high[key] += $8; errors[key] += $9 + $10
    service[key] += $11; database[key] += $12; load[key] += $13
    if ($3 == "SQLite" && !least[$2]) least[$2] = $4
}

$1 ~ /^(ready|idle,?|peak|products)$/ {
    figure = $NF; name = $0; sub(/ [0-9]+$/, "", name)
    if (!(name in worst)) named[++names] = name
    if (best[name] == "" || figure < best[name]) best[name] = figure
    if (figure > worst[name]) worst[name] = figure
}

function rate(key) { return seconds[key] ? requests[key] / seconds[key] : 0 }

# Microseconds of CPU time for each request.
function each(milliseconds, key) { return requests[key] ? 1000 * milliseconds[key] / requests[key] : 0 }

# The same of the service and its database together.
function whole(key) { return each(service, key) + each(database, key) }

function add(text) { ratios = ratios (ratios ? ", " : "") text }

END {
    printf "%-7s %-18s %9s %9s %9s %9s %7s %26s   %s\n", "", "", "", "", "", "", "", "CPU time per request", ""
    printf "%-7s %-18s %9s %9s %9s %9s %7s %8s %8s %8s   %s\n", "what", "in", "size", "a second", "p50", "p99", "errors", "service", "database", "load", "ratios"
    for (i = 1; i <= count; i++) {
        key = order[i]; split(key, part, " "); ratios = ""
        storage = part[2]; sub(/-(peer|against)$/, "", storage)
        is_peer = part[2] ~ /-peer$/
        if (part[1] == "items" && !is_peer) add(sprintf("%.0f %% of hello", 100 * rate(key) / rate(order[1])))
        peer = part[1] " " storage "-peer " part[3]
        if (!is_peer && rate(peer) && whole(peer))
            add(sprintf("%.1f times the rate of %s-peer, %.2f of its CPU time", rate(key) / rate(peer), storage,
                whole(key) / whole(peer)))
        first = part[1] " " part[2] " " least[part[1]]
        if (!is_peer && part[3] != least[part[1]] && high[first])
            add(sprintf("p99 %.2f of that at %d", high[key] / turns[key] / high[first] * turns[first], least[part[1]]))
        other = part[1] " " part[2] "-against " part[3]
        if (rate(other) && service[other])
            add(sprintf("%.2f of the other till's rate, %.2f of its CPU time", rate(key) / rate(other),
                each(service, key) / each(service, other)))
        printf "%-7s %-18s %9d %9d %6.1f ms %6.1f ms %7d %5.0f us %5.0f us %5.0f us   %s\n", part[1], part[2], part[3], rate(key),
            median[key] / turns[key], high[key] / turns[key], errors[key], each(service, key), each(database, key), each(load, key),
            ratios
        if (!rate(key) || (!is_peer && errors[key])) failed = 1
    }
    for (i = 1; i <= names; i++) {
        printf "%s: %d to %d %s\n", named[i], best[named[i]], worst[named[i]], named[i] ~ /^(idle|peak)/ ? "MB" : "ms"
    }
    exit failed
}
