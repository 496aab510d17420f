#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stops what setup.sh started.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<TEXT
Usage: e2e-tests/containers/stop.sh [--purge]

Removes the containers of the private Docker engine of this checkout and stops the engine. Does nothing if none runs.

  --purge   also removes its images and all its files, $home
TEXT
}

stop_engine() {
  local pid containers
  rm -f "$environment"
  pid=$(engine_pid)
  if [ -n "$pid" ]; then
    # A killed JVM leaves its containers behind.
    mapfile -t containers < <(engine ps --all --quiet)
    [ ${#containers[@]} = 0 ] || engine rm --force --volumes "${containers[@]}" >/dev/null
  else
    # A killed dockerd leaves its containerd behind.
    pid=$(containerd_pid)
    [ -n "$pid" ] || return 0
  fi
  kill "$pid"
  for _ in {1..240}; do
    [ -n "$(engine_pid)$(containerd_pid)" ] || break
    sleep 0.25
  done
  if [ -n "$(engine_pid)$(containerd_pid)" ]; then
    say "process $pid of the engine does not stop; see $home/dockerd.log" >&2
    exit 1
  fi
  say "stopped the engine"
}

unmount() {
  local mount
  while read -r mount; do
    umount "$mount"
  done < <(awk -v home="$home/" 'index($2, home) == 1 { print $2 }' /proc/mounts | sort -r)
}

case ${1:-} in
  '') stop_engine ;;
  --purge) stop_engine && unmount && rm -rf "$home" ;;
  -h | --help) usage ;;
  *) usage >&2 && exit 2 ;;
esac
