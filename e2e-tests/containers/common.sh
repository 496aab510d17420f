# SPDX-License-Identifier: Apache-2.0
# What setup.sh and stop.sh share: where the private Docker engine of this checkout lives, and whether it runs.
# shellcheck shell=bash

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# One engine per checkout, so that one build does not stop the engine of another.
home=${MILLRACE_CONTAINERS:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/millrace/containers-$(cksum <<<"$repository" | cut -d ' ' -f 1)}
socket=$home/docker.sock
pid_file=$home/dockerd.pid
environment=$repository/e2e-tests/target/containers.env

say() {
  echo "containers: $*"
}

# The process id of the engine, or nothing if it does not run.
engine_pid() {
  local pid
  pid=$(cat "$pid_file" 2>/dev/null || true)
  if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then
    echo "$pid"
  fi
}

engine() {
  docker --host "unix://$socket" "$@"
}
