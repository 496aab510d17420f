#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prepares a private Docker engine with images of Kafka and PostgreSQL, without a registry.
set -euo pipefail
shopt -s inherit_errexit
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$repository/e2e-tests/containers/images.sh"

usage() {
  cat <<TEXT
Usage: e2e-tests/containers/setup.sh [--require]

Starts a private Docker engine for this checkout, makes images of Kafka and PostgreSQL for Testcontainers, and writes what
tests need to know to e2e-tests/target/containers.env:

  e2e-tests/containers/setup.sh
  . e2e-tests/target/containers.env
  mvn verify
  e2e-tests/containers/stop.sh

It also unpacks Prometheus to e2e-tests/target/prometheus, for the test of the dashboard.

Needs root, Linux on x86-64, Maven and a JDK 17; installs docker.io, busybox-static and xz-utils with apt-get where they are
missing. The engine has no bridge, changes no network setting, and listens on a Unix socket. Run it again at any time:
it does what is missing. If the engine cannot be prepared, it says why and ends with 0; tests use processes then.

  --require   ends with 1 if the engine cannot be prepared

Environment: MILLRACE_CONTAINERS, the folder of the engine, now $home
TEXT
}

# refuse REASON...  ends the step.
refuse() {
  echo "$*" >&2
  exit 1
}

# step NAME FUNCTION  runs the function in a subshell and prints a line: the function's output and the time that it took.
# The last line of its standard error is the reason if it fails.
step() {
  local start=$EPOCHREALTIME output
  current_step=$1
  echo "--- $1" >>"$log"
  output=$("$2" 2>>"$log")
  say "$(awk -v start="$start" -v now="$EPOCHREALTIME" -v name="$1" -v output="$output" \
    'BEGIN { printf "%-10s %s (%.1f s)", name, output, now - start }')"
}

check_machine() {
  local command
  [ "$(uname -sm)" = "Linux x86_64" ] || refuse "expected Linux x86_64, got $(uname -sm)"
  [ "$(id -u)" = 0 ] || refuse "a private Docker engine needs root, this is $(id -un)"
  for command in mvn java jlink jar; do
    command -v "$command" >/dev/null || refuse "there is no $command on the path"
  done
  # The path of a Unix socket has at most 107 characters; containerd's socket is the longest.
  [ ${#home} -le 70 ] || refuse "the path $home has more than 70 characters; set MILLRACE_CONTAINERS to another folder"
  mkdir -p "$home"
  echo "root on $(. /etc/os-release && echo "$PRETTY_NAME")"
}

packages() {
  local missing=()
  { command -v dockerd && command -v docker && command -v containerd && command -v runc; } >/dev/null || missing+=(docker.io)
  [[ "$(ldd "$(command -v busybox)" 2>&1)" == *"not a dynamic executable"* ]] || missing+=(busybox-static)
  command -v xz >/dev/null || missing+=(xz-utils)
  if [ ${#missing[@]} = 0 ]; then
    echo "nothing is missing"
    return
  fi
  command -v apt-get >/dev/null || refuse "${missing[*]} is missing, and there is no apt-get"
  install_packages "${missing[@]}"
  echo "installed ${missing[*]}"
}

install_packages() {
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    # The packages bring an engine for the whole machine, which must not start.
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap "rm -f $policy" EXIT
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq -o DPkg::Lock::Timeout=120 update >&2 || refuse "apt-get update failed"
  apt-get -qq -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends "$@" >&2 || refuse "apt-get cannot install $*"
}

libraries() {
  local goal=dependency:copy-dependencies
  mvn -B -ntp -q -Dstyle.color=never -f "$services/pom.xml" "$goal@kafka" "$goal@postgres" >&2 || refuse "Maven cannot copy the libraries; see $log"
  echo "of Kafka and PostgreSQL from Maven"
}

# Without it, one test asks the metrics of a cluster itself.
prometheus() {
  local folder="$repository/e2e-tests/target/prometheus"
  if [ ! -x "$folder/usr/bin/prometheus" ]; then
    rm -rf "$folder" && mkdir -p "$folder"
    # Unpacked, not installed: the package would start a server for the whole machine.
    if ! { (cd "$folder" && download_package prometheus) && dpkg-deb --extract "$folder"/prometheus_*.deb "$folder"; } >&2; then
      echo "not there; see $log"
      return
    fi
    rm "$folder"/prometheus_*.deb
  fi
  echo "unpacked"
}

download_package() {
  apt-get -qq download "$1" || { apt-get -qq -o DPkg::Lock::Timeout=120 update && apt-get -qq download "$1"; }
}

start_engine() {
  if [ -z "$(engine_pid)" ]; then
    rm -f "$pid_file" "$socket"
    # In a namespace of its own it shares nothing with an engine of the machine, not even containerd's names.
    setsid dockerd --host "unix://$socket" --pidfile "$pid_file" --data-root "$home/data" --exec-root "$home/exec" \
      --containerd-namespace millrace --containerd-plugins-namespace millrace-plugins \
      --exec-opt native.cgroupdriver=cgroupfs --bridge none --iptables=false --ip6tables=false --ip-forward=false \
      --ip-masq=false </dev/null >"$home/dockerd.log" 2>&1 &
    await_engine $!
  fi
  echo "docker $(engine version --format '{{.Server.Version}}'), $(engine info --format '{{.Driver}}')"
}

# await_engine PID  returns when the engine answers.
await_engine() {
  for _ in {1..240}; do
    engine version >/dev/null 2>&1 && return
    kill -0 "$1" 2>/dev/null || break
    sleep 0.25
  done
  refuse "dockerd does not answer: $(tail -n 1 "$home/dockerd.log")"
}

trial() {
  local image
  for image in $(engine image ls --format '{{.Repository}}:{{.Tag}}' 'millrace/*'); do
    engine run --rm --network host --entrypoint /bin/true "$image" >&2 || refuse "a container of $image does not run; see $log"
  done
  echo "containers run"
}

write_environment() {
  # Testcontainers cleans up by itself; its container for that is in a registry. It asks the bridge where services are.
  cat >"$environment" <<TEXT
export DOCKER_HOST=unix://$socket
export TESTCONTAINERS_RYUK_DISABLED=true
export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
TEXT
}

# On exit: without an engine the tests have processes.
finish() {
  local status=$? reason
  [ "$status" != 0 ] || return 0
  trap - EXIT
  reason=$(tail -n 1 "$log")
  "$repository/e2e-tests/containers/stop.sh" >/dev/null || true
  echo "# No Docker engine: $current_step: $reason" >"$environment"
  say "no Docker engine, tests use processes: $current_step: $reason"
  [ "$status" -lt 128 ] || exit "$status"
  exit "$require"
}

require=0
case ${1:-} in
  '') ;;
  --require) require=1 ;;
  -h | --help) usage && exit ;;
  *) usage >&2 && exit 2 ;;
esac
mkdir -p "$(dirname "$environment")"
log=${environment%.env}.log
: >"$log"
current_step=machine
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
step machine check_machine
step packages packages
step libraries libraries
step Prometheus prometheus
step engine start_engine
step Kafka kafka_image
step PostgreSQL postgres_image
step trial trial
write_environment
say "ready in $SECONDS s; next: . e2e-tests/target/containers.env"
