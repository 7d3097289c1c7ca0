#!/usr/bin/env bash
# Runs every subcommand of `az storage table` and `az storage entity` against a server, and checks what each prints.
#
#   azcli.sh WORK ENDPOINT
#
# WORK keeps the environment, of 750 MB; ENDPOINT is like http://127.0.0.1:10002/devstoreaccount1. Prints `name: ok` or
# `name: FAIL`, and fails where the failures differ from EXPECTED, a file of lines `name TAB reason`
# (expected-failures-azcli.txt beside this script, unless the environment names another; `none` compares nothing).
# TABLES_ACCOUNT and TABLES_KEY name another account than the emulators'.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
endpoint=$2
venv=$work/azcli-venv
results=$work/azcli-results.txt

"$here/install.sh" "$work" azcli
# The key that is printed in the documentation of every emulator: it guards nothing.
account=${TABLES_ACCOUNT:-devstoreaccount1}
key=${TABLES_KEY:-Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==}
scheme=${endpoint%%:*}
export AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=$scheme;AccountName=$account;AccountKey=$key;TableEndpoint=$endpoint;"
export AZURE_CONFIG_DIR=$work/azcli-config AZURE_CORE_COLLECT_TELEMETRY=false AZURE_CORE_NO_COLOR=true PYTHONWARNINGS=ignore

az() { timeout 60 "$venv/bin/az" storage "$@" --only-show-errors; }
: >"$results"
note() { # name, outcome, what was printed
    printf '%s\t%s\n' "$2" "$1" >>"$results"
    if [ "$2" = passed ]; then echo "$1: ok"; else echo "$1: FAIL $(tr '\n' ' ' <<<"$3" | cut -c1-300)"; fi
}
prints() { # name, expected text, words for az
    local out
    out=$(az "${@:3}" -o tsv 2>&1) || true
    if [ "$out" = "$2" ]; then note "$1" passed; else note "$1" failed "printed '$out', not '$2'"; fi
}
refuses() { # name, part of the expected message, words for az
    local out
    if out=$(az "${@:3}" 2>&1); then
        note "$1" failed "succeeded: $out"
    elif [[ $out == *"$2"* ]]; then
        note "$1" passed
    else
        note "$1" failed "$out"
    fi
}

table=az$(date +%s%N)
row() { printf '%s\n' -t "$table" --partition-key "$1" --row-key "$2"; }
mapfile -t ada < <(row math ada)
mapfile -t odd < <(row "o'dd (1)" 'ž%25 +&=')
earlier=$(date -u -d '-1 hour' +%Y-%m-%dT%H:%MZ)
later=$(date -u -d '+1 hour' +%Y-%m-%dT%H:%MZ)

prints 'table exists, before' false table exists -n "$table" --query exists
prints 'table create' true table create -n "$table" --query created
prints 'table create, again' true table create -n "$table" --query created
refuses 'table create, again, to fail' TableAlreadyExists table create -n "$table" --fail-on-exist
refuses 'table create, a bad name' 'table names must be alphanumeric' table create -n a-bc
prints 'table exists, after' true table exists -n "$table" --query exists
prints 'table list' "$table" table list --query "[?name=='$table'].name"
prints 'table list, one' 1 table list --num-results 1 --query 'length([?name])'
prints 'table stats' live table stats --query geoReplication.status

prints 'entity insert' '' entity insert -t "$table" -e PartitionKey=math RowKey=ada name=Ada age=36 age@odata.type=Edm.Int32 --query none
refuses 'entity insert, again' 'already exists' entity insert -t "$table" -e PartitionKey=math RowKey=ada
prints 'entity show' $'Ada\n36' entity show "${ada[@]}" --query '[name, age]'
prints 'entity show, selected' 36 entity show "${ada[@]}" --select age --query age
refuses 'entity show, missing' ResourceNotFound entity show -t "$table" --partition-key math --row-key none
prints 'entity merge' '' entity merge -t "$table" -e PartitionKey=math RowKey=ada field=engines --query none
prints 'entity merge, shown' $'Ada\nengines' entity show "${ada[@]}" --query '[name, field]'
refuses 'entity merge, an old etag' UpdateConditionNotSatisfied entity merge -t "$table" -e PartitionKey=math RowKey=ada x=1 --if-match "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\""
prints 'entity replace' '' entity replace -t "$table" -e PartitionKey=math RowKey=ada only=this --query none
prints 'entity replace, shown' $'None\nthis' entity show "${ada[@]}" --query '[name, only]'
prints 'entity insert, to replace' '' entity insert -t "$table" -e PartitionKey=math RowKey=ada then=that --if-exists replace --query none
prints 'entity insert, to merge' '' entity insert -t "$table" -e PartitionKey=math RowKey=ada more=yes --if-exists merge --query none
prints 'entity insert, shown' $'None\nthat\nyes' entity show "${ada[@]}" --query '[only, then, more]'
prints 'entity insert, odd keys' '' entity insert -t "$table" -e "PartitionKey=o'dd (1)" 'RowKey=ž%25 +&=' a=1 --query none
prints 'entity show, odd keys' 1 entity show "${odd[@]}" --query a
prints 'entity query' $'ada\nž%25 +&=' entity query -t "$table" --query 'items[].RowKey'
prints 'entity query, filtered' ada entity query -t "$table" --filter "PartitionKey eq 'math' and more eq 'yes'" --query 'items[].RowKey'
prints 'entity query, selected' $'that\tNone' entity query -t "$table" --filter "RowKey eq 'ada'" --select then --query 'items[].[then, more]'
refuses 'entity query, a bad filter' ErrorCode:InvalidInput entity query -t "$table" --filter 'more eq'
prints 'entity query, a page' ada entity query -t "$table" --num-results 1 --query 'items[].RowKey'
marker=$(az entity query -t "$table" --num-results 1 --query '[nextMarker.PartitionKey || nextMarker.nextpartitionkey, nextMarker.RowKey || nextMarker.nextrowkey]' -o json 2>&1) || true
mapfile -t next < <("$venv/bin/python" -c 'import json,sys; [print(x) for x in json.load(sys.stdin)]' <<<"$marker" 2>/dev/null || true)
prints 'entity query, the next page' 'ž%25 +&=' entity query -t "$table" --num-results 1 --marker "nextpartitionkey=${next[0]:-}" "nextrowkey=${next[1]:-}" --query 'items[].RowKey'
prints 'entity delete' '' entity delete "${odd[@]}" --query none
refuses 'entity show, deleted' ResourceNotFound entity show "${odd[@]}"
prints 'entity delete, missing' '' entity delete "${odd[@]}" --query none

prints 'policy list, none' '' table policy list -t "$table"
prints 'policy create' '' table policy create -t "$table" -n reader --permissions r --expiry "$later" --query none
prints 'policy show' r table policy show -t "$table" -n reader --query permission
prints 'policy update' '' table policy update -t "$table" -n reader --permissions ra --query none
prints 'policy create, with a start' '' table policy create -t "$table" -n two --permissions raud --start "$earlier" --expiry "$later" --query none
prints 'policy list' ra table policy list -t "$table" --query reader.permission
sas=$(az table generate-sas -n "$table" --policy-name reader -o tsv 2>&1) || true
by_token() { # a token: queries in the account's stead
    AZURE_STORAGE_CONNECTION_STRING='' az entity query -t "$table" --account-name "$account" --table-endpoint "$endpoint" --sas-token "$1" --query 'items[].RowKey' -o tsv 2>&1
}
token_gives() { # name, expected text, token
    local out
    out=$(by_token "$3") || true
    if [[ $out == "$2"* || ($2 == *'*' && $out == *"${2%\*}"*) ]]; then note "$1" passed; else note "$1" failed "$out"; fi
}
token_gives 'generate-sas, of a policy' ada "$sas"
prints 'policy delete' '' table policy delete -t "$table" -n reader --query none
token_gives 'generate-sas, of a deleted policy' 'Authentication failure*' "$sas"
sas=$(az table generate-sas -n "$table" --permissions r --expiry "$later" --start-pk math --end-pk math -o tsv 2>&1) || true
token_gives 'generate-sas, of a partition' ada "$sas"
sas=$(az table generate-sas -n "$table" --permissions a --expiry "$later" -o tsv 2>&1) || true
token_gives 'generate-sas, without the right' 'do not have the required permissions*' "$sas"

prints 'table delete' true table delete -n "$table" --query deleted
prints 'table delete, again' false table delete -n "$table" --query deleted
prints 'table exists, deleted' false table exists -n "$table" --query exists

cut -f1 "$results" | sort | uniq -c
expected=${EXPECTED:-$here/expected-failures-azcli.txt}
[ "$expected" = none ] || "$here/compare.sh" "$expected" "$results"
