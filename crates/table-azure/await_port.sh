#!/usr/bin/env bash
# Waits until a program listens at a port, for half a minute at most.
#   await_port.sh PORT NAME
set -euo pipefail

for _ in $(seq 300); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then exit 0; fi
  sleep 0.1
done
echo "$2 does not listen at port $1" >&2
exit 1
