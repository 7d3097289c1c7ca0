#!/usr/bin/env bash
# Checks a server with a Go client: the `storage` package of azure-sdk-for-go 68, which Debian 12 packages with its compiler.
#
#   go.sh WORK ENDPOINT
#
# Nothing is installed into the system: the packages are unpacked into WORK, of 450 MB. The client knows the emulators'
# account alone. Fails where the failures differ from EXPECTED, a file of lines `name TAB reason` (expected-failures-go.txt
# beside this script, unless the environment names another; `none` compares nothing).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1/go"
work=$(cd "$1/go" && pwd)
endpoint=$2

if [ ! -e "$work/ready" ]; then
    (cd "$work" && timeout 300 apt-get -qq download golang-1.19-go golang-1.19-src golang-github-azure-azure-sdk-for-go-dev \
        golang-github-azure-go-autorest-dev golang-github-gofrs-uuid-dev golang-github-shopspring-decimal-dev \
        golang-golang-x-crypto-dev golang-github-dgrijalva-jwt-go-dev golang-github-golang-jwt-jwt-dev)
    for package in "$work"/*.deb; do dpkg -x "$package" "$work/root"; done
    rm "$work"/*.deb
    touch "$work/ready"
fi
cp "$here/go/checks/main.go" "$work/main.go"
export GOROOT=$work/root/usr/lib/go-1.19 GOPATH=$work/root/usr/share/gocode GO111MODULE=off GOCACHE=$work/cache GOFLAGS=
(cd "$work" && timeout 300 "$GOROOT/bin/go" build -o checks main.go)
timeout 120 "$work/checks" "$endpoint" "$work/results.txt"
cut -f1 "$work/results.txt" | sort | uniq -c
expected=${EXPECTED:-$here/expected-failures-go.txt}
[ "$expected" = none ] || "$here/compare.sh" "$expected" "$work/results.txt"
