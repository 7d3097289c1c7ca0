#!/usr/bin/env bash
# Instructions for one operation of each engine, as a Markdown table: the figure that does not depend on the machine's
# load. Counted by valgrind, of the operation alone. A second table is of rows of other forms: most properties absent, texts
# of 0 to 2,000 bytes, keys of text alone.
#
#   bench/callgrind.sh                      # the engines of this workspace
#   PEERS=1 bench/callgrind.sh              # and the others
#   OPS='get scan' ENGINES='floor typed' ROWS=100000 bench/callgrind.sh
#   OPS= FORMS='words-get texts-scan' bench/callgrind.sh
#   REOPENED=1 bench/callgrind.sh           # on a store that was opened again
#   STILL=1 BEFORE=.. bench/callgrind.sh    # for differences of a percent
#
# STILL leaves out what comes by the clock, as looks at the list of free pages do, runs each count five times at fixed
# addresses, and prints the median and how far the five lie apart. BEFORE names another build's program, whose five stand
# behind ours.
#
# OUT keeps callgrind's files, to be read with `callgrind_annotate`.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo 'valgrind is missing: instructions cannot be counted (Debian: apt-get install valgrind)' >&2
    exit 3
fi

if [ "${PEERS:-0}" = 1 ]; then
    cargo build --quiet --release --locked --manifest-path bench/peers/Cargo.toml --target-dir target/peers
    program=target/peers/release/table-bench-peers
    # Not fjall, whose own threads do part of its work.
    engines=${ENGINES:-floor floor-borrowed pointers typed typed-views views dynamic native_db redb sqlite}
else
    cargo build --quiet --release --locked -p table-bench
    program=target/release/table-bench
    engines=${ENGINES:-floor floor-borrowed pointers typed typed-views views dynamic}
fi
ops=${OPS-get get-by-email list range scan insert load change delete}
forms=${FORMS-absent-get absent-scan texts-get texts-scan words-get words-scan}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"

# What is counted is divided by the operations that the program says it did.
count() { # program, engine, operation, part
    local times=200 said collected operations looks=0 file="$out/$2.$3"
    case $3 in
    get | get-by-email | *-get) times=2000 ;;
    list | range) times=50 ;;
    esac
    said=$(setarch -R valgrind --tool=callgrind --toggle-collect='*profiled*' --callgrind-out-file="$file" \
        "$1" "$4" --engine "$2" --op "$3" --rows "${ROWS:-20000}" --count "$times" ${REOPENED:+--reopened} 2>&1)
    collected=$(sed -n 's/.*Collected : //p' <<<"$said")
    operations=$(sed -n 's/.*: \([0-9]*\) operations.*/\1/p' <<<"$said")
    if [ -z "$collected" ] || [ -z "$operations" ]; then
        echo "$2 $3 failed: $said" >&2
        return 1
    fi
    if [ "${STILL:-0}" = 1 ]; then
        looks=$(callgrind_annotate --inclusive=yes --threshold=100 "$file" 2>/dev/null |
            awk '/::look_closer/ { gsub(",", "", $1); if ($1 + 0 > most) most = $1 + 0 } END { print most + 0 }')
    fi
    echo $(((collected - looks) / operations))
}

# Five counts: the median, and how far they lie apart.
median() { # program, engine, operation, part
    local counts
    counts=$(for _ in 1 2 3 4 5; do count "$@"; done | sort -n)
    awk '{ n[NR] = $1 } END { printf "%d ±%d", n[3], (n[5] - n[1] + 1) / 2 }' <<<"$counts"
}

if [ "${STILL:-0}" = 1 ]; then
    before=${BEFORE:-}
    echo "Instructions for one operation, the median of 5 runs and half their spread${before:+, beside the build before}."
    for op in $ops; do
        for engine in $engines; do
            printf '%s %s: %s' "$engine" "$op" "$(median "$program" "$engine" "$op" company-profile)"
            [ -z "$before" ] || printf ' (before: %s)' "$(median "$before" "$engine" "$op" company-profile)"
            echo
        done
    done
    exit
fi

head() { # engines
    local engine
    printf '\n| operation |'
    for engine in "$@"; do printf ' %s |' "$engine"; done
    printf '\n|---|'
    for engine in "$@"; do printf -- '---:|'; done
    echo
}

echo "Instructions for one operation (scan: for one employee), ${ROWS:-20000} employees; $(valgrind --version)."
# shellcheck disable=SC2086
[ -z "$ops" ] || head $engines
for op in $ops; do
    printf '| %s |' "$op"
    floor=
    for engine in $engines; do
        case $engine.$op in
        *-borrowed.insert | *-borrowed.load | *-borrowed.change | *-borrowed.delete) printf ' |' && continue ;;
        views.insert | views.load | views.change | views.delete) printf ' |' && continue ;;
        esac
        each=$(count "$program" "$engine" "$op" company-profile)
        if [ "$engine" = floor ]; then
            floor=$each
            printf ' %d |' "$each"
        else
            printf ' %d **%s** |' "$each" "$(awk -v a="$each" -v b="${floor:-$each}" 'BEGIN { printf "%.2f", a / b }')"
        fi
    done
    echo
done

[ -z "$forms" ] || head floor typed
for op in $forms; do
    floor=$(count "$program" floor "$op" forms-profile)
    each=$(count "$program" typed "$op" forms-profile)
    printf '| %s | %d | %d **%s** |\n' "$op" "$floor" "$each" "$(awk -v a="$each" -v b="$floor" 'BEGIN { printf "%.2f", a / b }')"
done
