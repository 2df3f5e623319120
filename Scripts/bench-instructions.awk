# Makes the table of `make bench-instructions` out of the recorded counts and those of now. It fails if one is more than 5 % above.
# A count is of instructions of a whole workload, unless a third field names something else, which one request takes.

BEGIN { printf "%-14s %15s %15s %11s\n", "workload", "now", "recorded", "difference" }

FILENAME == ARGV[1] { recorded[$1] = $2; next }

{ unit = $3 ? $3 " of a request" : "instructions" }

!($1 in recorded) { printf "%-14s %15.0f %15s %11s   %s\n", $1, $2, "-", "-", unit; failed = 1; next }

{
    printf "%-14s %15.0f %15.0f %+9.1f %%   %s\n", $1, $2, recorded[$1], ($2 / recorded[$1] - 1) * 100, unit
    if ($2 > recorded[$1] * 1.05) failed = 1
}

END { exit failed }
