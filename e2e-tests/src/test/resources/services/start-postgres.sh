#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the data folder of a PostgreSQL server, unless it is there, and becomes the server. Runs in the image and as a process.
# The variables are those of the image postgres: PGDATA, POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB. PGPORT is the port.
# Arguments: the server's command, such as: postgres -c max_connections=10
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  printf '%s\n' "$POSTGRES_PASSWORD" >"$PGDATA.password"
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile="$PGDATA.password" --encoding=UTF8 --locale=C \
    --auth-host=scram-sha-256 --auth-local=reject --no-sync
  rm "$PGDATA.password"
  echo "CREATE DATABASE $POSTGRES_DB;" | postgres --single -D "$PGDATA" postgres
fi
# Shared memory that lies in files of the data folder goes with it, also when the server is killed.
exec "$@" -D "$PGDATA" -p "$PGPORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
  -c dynamic_shared_memory_type=mmap
