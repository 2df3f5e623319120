# Makes the table of `make bench-instructions` out of the recorded counts and those of now. It fails if one is more than 5 % above.

BEGIN { printf "%-10s %15s %15s %11s\n", "workload", "instructions", "recorded", "difference" }

FILENAME == ARGV[1] { recorded[$1] = $2; next }

!($1 in recorded) { printf "%-10s %15.0f %15s\n", $1, $2, "-"; failed = 1; next }

{
    printf "%-10s %15.0f %15.0f %+9.1f %%\n", $1, $2, recorded[$1], ($2 / recorded[$1] - 1) * 100
    if ($2 > recorded[$1] * 1.05) failed = 1
}

END { exit failed }
