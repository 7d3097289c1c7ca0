#!/usr/bin/env bash
# Follows the tutorial to the letter, in a fresh folder: writes each file that it shows, runs each command, and compares what
# the commands print with the block of text behind them. A line `...` stands for any lines.
#
#   docs/guide/follow.sh                        # against this checkout
#   TABLE_CORE=/a/path docs/guide/follow.sh     # against another `table-core`
#   TABLE_CORE=0.1 docs/guide/follow.sh         # against a published version
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tutorial=$root/table-core/guide/tutorial.md
core=${TABLE_CORE:-$root/table-core}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Stands for cargo where the tutorial adds the dependency. A checkout's lock file goes with its path, so that what is followed
# is what the checkout is tested with.
cargo() {
    if [ "$*" != 'add table-core' ]; then
        command cargo "$@"
    elif [ -d "$core" ]; then
        command cargo add table-core --path "$core"
        cp "$root/Cargo.lock" .
    else
        command cargo add "table-core@$core"
    fi
}

# Stands for the installed command line, on a terminal.
tables() {
    command cargo run -q --locked --manifest-path "$root/Cargo.toml" -p table-cli -- --format table "$@"
}

fail() { # what
    echo "tutorial.md:$number: $1" >&2
    exit 1
}

write() { # the block: a comment with the file's name, and the file
    local name=${1%%$'\n'*}
    name=${name#// }
    mkdir -p "$(dirname "$name")"
    printf '%s' "${1#*$'\n'}" >"$name"
    files=$((files + 1))
}

run() { # the block: commands, which see what those before have changed
    local command
    status=0
    # Not in a subshell: `cd` lasts.
    while IFS= read -r command; do
        eval "$command" </dev/null || { status=$?; break; }
    done <<<"${1%$'\n'}" >"$folder/printed" 2>&1
    commands=$((commands + 1))
}

compare() { # the block: what the commands before it print
    local pattern='' line
    while IFS= read -r line; do
        if [ "$line" = ... ]; then pattern+='*'; else pattern+=$(sed 's/[][\\*?]/\\&/g' <<<"$line")$'\n'; fi
    done <<<"${1%$'\n'}"
    # A failure is what an error leaves; a pattern is not quoted.
    [[ $(cat "$folder/printed")$'\n' == $pattern ]] || fail "printed was$(printf '\n%s' "$(cat "$folder/printed")")"
    if [[ $1 == error* ]]; then [ "$status" -ne 0 ] || fail 'an error was to come'; status=0; fi
}

number=0 block='' language='' inside=false status=0 files=0 commands=0 texts=0
while IFS= read -r line; do
    number=$((number + 1))
    if ! $inside && [[ $line == '```'?* ]]; then
        inside=true language=${line#'```'} block=''
    elif $inside && [ "$line" = '```' ]; then
        inside=false
        if [ "$language" = text ]; then
            compare "$block"
            texts=$((texts + 1))
            continue
        fi
        [ "$status" -eq 0 ] || fail "the commands before failed: $(cat "$folder/printed")"
        case $language in
            sh) run "$block" ;;
            rust,no_run | toml) write "$block" ;;
            *) fail "a block of the language \`$language\` is no step" ;;
        esac
    elif $inside; then
        block+=$line$'\n'
    fi
done <"$tutorial"
[ "$status" -eq 0 ] || fail "the last commands failed: $(cat "$folder/printed")"
# A tutorial from which nothing is taken would pass.
[ "$files" -ge 3 ] && [ "$commands" -ge 5 ] && [ "$texts" -ge 4 ] || fail 'steps are missing'
echo "The tutorial was followed: $files files, $commands blocks of commands, $texts of what they print."
