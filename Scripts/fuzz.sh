#!/usr/bin/env bash
# Fuzzes each reader of what strangers send, with libFuzzer and the address sanitizer.
#   Scripts/fuzz.sh SECONDS    each target for so long
# What reaches code that nothing in Tests/Fuzzing/Corpus reaches is added to it. A crash, a hang or memory out of proportion
# leaves its input in .build-fuzz/ and ends with a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
export TILL_FUZZ=1

# The gold linker, Swift's choice on Linux, fails on what the sanitizer writes.
echo "Building with the address sanitizer …"
swift build -c release --scratch-path .build-fuzz --product till-fuzz \
    --sanitize address -Xswiftc -sanitize=fuzzer -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld
fuzz=.build-fuzz/release/till-fuzz

for target in receipt signed-json signed-purchase pushed-message play-answer service-account storekit; do
    export TILL_FUZZ_TARGET=$target
    kept=Tests/Fuzzing/Corpus/$target
    found=.build-fuzz/found/$target
    seeds=.build-fuzz/seeds/$target
    mkdir -p "$kept" "$found"
    "$fuzz" seeds "$seeds"
    echo "$target: fuzzing for $seconds seconds …"
    "$fuzz" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix=".build-fuzz/$target-" "$found" "$kept" "$seeds"
    "$fuzz" -set_cover_merge=1 -max_len=16384 -verbosity=0 "$kept" "$found" "$seeds"
    echo "$target: $(ls "$kept" | wc -l) inputs in $kept"
done
