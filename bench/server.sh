#!/usr/bin/env bash
# The server beside the emulator, in turns: requests a second, times and processor time for a request, as a Markdown table for
# each number of connections; and how soon each is ready, and its memory.
#
#   bench/server.sh WORK                                # installs the emulator into the folder, once
#   CONNECTIONS='1 16 64' ROUNDS=3 EACH=3 bench/server.sh WORK
#   OPERATIONS=get,query1000 bench/server.sh WORK
#
# Each figure is the median of the rounds. The emulator keeps its tables in memory; of our two servers one is relaxed and one
# durable, and the ratios are of the relaxed one. All listen on this machine alone, from PORT on. What each load printed stays in
# WORK/rounds.csv.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo 'bench/server.sh WORK: a folder for the emulator, the stores and the figures' >&2 && exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
rounds=${ROUNDS:-3}
each=${EACH:-3}
operations=${OPERATIONS:-get,query100,query1000,select,insert,merge,upsert,batch100}
rows=${ROWS:-20000}
port=${PORT:-10740}
emulator=3.37.0

cargo build --quiet --release --locked -p table-server --bin table-server --example load
target=${CARGO_TARGET_DIR:-target}/release
if [ ! -e "$work/emulator/ready" ]; then
    mkdir -p "$work/emulator"
    (cd "$work/emulator" && timeout 300 npm install --no-fund --no-audit --no-package-lock --loglevel=error "azurite@$emulator")
    touch "$work/emulator/ready"
fi

pids=()
stop() {
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
}
trap stop EXIT
rm -rf "$work/relaxed" "$work/durable" "$work/rounds.csv"

# Starts a server, and prints how long it took until it accepted a connection.
start() { # name, port, command
    local name=$1 port=$2 began=${EPOCHREALTIME/./} tries=0
    shift 2
    "$@" >"$work/$name.log" 2>&1 &
    pids+=($!)
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" = 3000 ] || ! kill -0 "${pids[-1]}" 2>/dev/null; then
            echo "the server $name does not start: see $work/$name.log" >&2
            exit 1
        fi
        sleep 0.002
    done
    echo "$name: ready after $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
}

load() { # number of the server, words for the load program
    local which=$1
    shift
    "$target/examples/load" "127.0.0.1:$((port + which))" --pid "${pids[which]}" --rows "$rows" "$@"
}

names=(relaxed durable emulator)
for which in 0 1; do
    start "${names[which]}" $((port + which)) "$target/table-server" --directory "$work/${names[which]}" \
        --durability "${names[which]}" --address "127.0.0.1:$((port + which))" --admin-address none
done
start emulator $((port + 2)) node "$work/emulator/node_modules/azurite/dist/src/table/main.js" --silent \
    --disableTelemetry --inMemoryPersistence --skipApiVersionCheck --tableHost 127.0.0.1 --tablePort $((port + 2))
for which in 0 1 2; do
    load "$which" --connections 1 --seconds 1 --operations get >/dev/null
    echo "${names[which]}: $(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/${pids[which]}/status") MB with $rows entities"
done

for connections in ${CONNECTIONS:-1 16 64}; do
    for _ in $(seq "$rounds"); do
        for operation in ${operations//,/ }; do
            for which in 0 1 2; do
                load "$which" --filled --connections "$connections" --seconds "$each" --operations "$operation" |
                    sed "1d; s/^/${names[which]},/" >>"$work/rounds.csv"
            done
        done
    done
done

# Of a line: server, operation, connections, requests a second, median, 99 %, processor time, memory.
awk -F, '
    function median(key,    n, i, j, value, values) {
        n = split(all[key], values, " ")
        for (i = 2; i <= n; i++) {
            value = values[i] + 0
            for (j = i - 1; j > 0 && values[j] + 0 > value; j--) values[j + 1] = values[j]
            values[j + 1] = value
        }
        return values[int((n + 1) / 2)]
    }
    {
        for (i = 4; i <= 7; i++) all[$1, $2, $3, i] = all[$1, $2, $3, i] " " $i
        if (!seen[$2, $3]++) { lines++; operation[lines] = $2; connections[lines] = $3 }
    }
    END {
        count = split("relaxed durable emulator", name, " ")
        for (l = 1; l <= lines; l++) {
            if (connections[l] != connections[l - 1]) {
                printf "\n%d connections: requests a second / median ms / 99 %% ms / us of processor time\n\n", connections[l]
                print "| operation | relaxed | durable | emulator | ratio of requests | ratio of processor time |"
                print "|---|---:|---:|---:|---:|---:|"
            }
            line = "| " operation[l] " |"
            for (n = 1; n <= count; n++) {
                for (i = 4; i <= 7; i++) figure[n, i] = median(name[n] SUBSEP operation[l] SUBSEP connections[l] SUBSEP i)
                line = line sprintf(" %d / %.2f / %.2f / %.0f |", figure[n, 4], figure[n, 5], figure[n, 6], figure[n, 7])
            }
            rate = figure[3, 4] > 0 ? figure[1, 4] / figure[3, 4] : 0
            time = figure[1, 7] > 0 ? figure[3, 7] / figure[1, 7] : 0
            print line sprintf(" %.1f | %.1f |", rate, time)
        }
    }
' "$work/rounds.csv"
