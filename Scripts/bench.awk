# Makes the table of `make bench` out of what `openssl speed` and the benchmarks printed; where `other` is set, what the
# benchmarks of another checkout printed.

# The last column of `openssl speed` is verifications a second; it runs before and after.
/ 256 bits ecdsa/ { p256 = max(p256, $NF) }
/ 384 bits ecdsa/ { p384 = max(p384, $NF) }
/^rsa 2048 bits/ { rsa = max(rsa, $NF) }

# A line for each percentile: the ninth field is the name, the tenth says which, the eleventh is nanoseconds.
/Time\(wallclock\)/ {
    split($0, field, ",")
    if (field[10] != "0.0") next
    if (other) theirs[field[9]] = least(theirs[field[9]], field[11] / 1e9)
    else seconds[field[9]] = least(seconds[field[9]], field[11] / 1e9)
}

# Thousands of receipts a second, by one process or two.
$1 == "receipts" { receipts[$2] = max(receipts[$2], $3) }

function least(a, b) { return a == "" || b < a ? b : a }

function max(a, b) { return a + 0 > b + 0 ? a + 0 : b + 0 }

function rate(count, name) {
    if (!seconds[name]) { missing = 1; return 1 }
    return count / seconds[name]
}

function line(name, ours, limit, what, ratio, target, benchmark) {
    printf "%-40s %9.0f/s   %9.0f/s %-34s %6s   %-15s", name, ours, limit, what, ratio, target
    if (other && theirs[benchmark]) printf "   %s", times(theirs[benchmark], seconds[benchmark])
    print ""
}

function percent(part, whole) { return sprintf("%.0f %%", 100 * part / whole) }

function times(part, whole) { return sprintf("%.2f x", part / whole) }

END {
    one = rate(1000, "1000 transactions")
    two = rate(2000, "2 x 1000 transactions on 2 threads")
    signature = rate(1000, "1000 signatures")
    signatureTwo = rate(2000, "2 x 1000 signatures on 2 threads")
    ten = rate(1000, "1000 receipts of 10")
    many = rate(1000, "1000 receipts of 187")
    purchase = rate(1000, "1000 signed purchases")
    cold = rate(1, "1 transaction of an unknown chain")
    coldReceipt = rate(1, "1 receipt of 10 of an unknown chain")
    coldLeaf = rate(1, "1 transaction of an unknown leaf")
    reading = rate(1, "2 certificates")
    if (missing || !receipts[1] || !receipts[2] || !p256 || !p384 || !rsa) {
        print "The output of openssl speed or of the benchmarks was not understood." > "/dev/stderr"
        exit 1
    }
    parts = 1 / (2 / p384 + 1 / p256 + 1 / reading)
    leafParts = 1 / (1 / p384 + 1 / p256 + 0.5 / reading)

    printf "%-40s %9s     %-46s %6s   %-15s%s\n", "one core", "Till", "the same run, without Till", "ratio", "target", other ? "   of the other checkout" : ""
    line("signed transaction, chain known", one, p256, "P-256 verify", percent(one, p256), "80 % or more", "1000 transactions")
    line("receipt of 10 purchases, chain known", ten, rsa, "RSA-2048 verify", percent(ten, rsa), "25 % or more", "1000 receipts of 10")
    line("receipt of 187 purchases, chain known", many, p256, "P-256 verify", percent(many, p256), "6.5 % or more", "1000 receipts of 187")
    line("signed purchase of Google Play", purchase, rsa, "RSA-2048 verify", percent(purchase, rsa), "60 % or more", "1000 signed purchases")
    line("signed transaction, chain unknown", cold, parts, "its 3 signatures, 2 certificates read", percent(cold, parts), "83 % or more", "1 transaction of an unknown chain")
    line("signed transaction, leaf unknown", coldLeaf, leafParts, "its 2 signatures, 1 certificate read", percent(coldLeaf, leafParts), "83 % or more", "1 transaction of an unknown leaf")
    line("receipt of 10 purchases, chain unknown", coldReceipt, rsa, "RSA-2048 verify", percent(coldReceipt, rsa), "", "1 receipt of 10 of an unknown chain")
    # `verify_transaction` in bench/compare/rust-vs-others/RESULTS.md of namecare/app-store-server-library-rust, in microseconds. It
    # does not name its machine. The other libraries there take 315 to 587.
    published = 133.2
    printf "%-40s %9.1f us  %9.1f us %s\n", "signed transaction, chain unknown", 1e6 / cold, published,
        "published for app-store-server-library (Rust), of a machine without a name"
    print "two cores"
    line("signed transaction, chain known", two, one, "on one core", times(two, one), "1.8 x or more", "2 x 1000 transactions on 2 threads")
    line("bare P-256 signature", signatureTwo, signature, "on one core", times(signatureTwo, signature), "", "2 x 1000 signatures on 2 threads")
    line("receipt of 10 purchases, 2 processes", 1000 * receipts[2], 1000 * receipts[1], "in one process", times(receipts[2], receipts[1]), "", "")
}
