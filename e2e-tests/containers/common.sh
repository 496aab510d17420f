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

# running PROGRAM FILE  prints the process id in the file, or nothing if the program does not run under it.
running() {
  local pid
  pid=$(cat "$2" 2>/dev/null || true)
  [ -n "$pid" ] || return 0
  awk -v program="$1" '$1 == "Name:" { name = $2 } $1 == "State:" { state = $2 } $1 == "Pid:" { pid = $2 }
    END { if (name == program && state != "Z") print pid }' "/proc/$pid/status" 2>/dev/null || true
}

# The process ids of the engine and of the containerd that it starts, which ends after it.
engine_pid() {
  running dockerd "$pid_file"
}

containerd_pid() {
  running containerd "$home/exec/containerd/containerd.pid"
}

engine() {
  docker --host "unix://$socket" "$@"
}
