#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats the folder of a Kafka broker, unless it is formatted, and becomes the broker. Runs in the image and as a process.
# As in the image apache/kafka, a variable such as KAFKA_NODE_ID is the option node.id; here it is laid over kafka.properties.
# Others: JAVA_HOME; BROKER_LIBRARIES, the folder of Kafka's jars; BROKER_FOLDER, which gets all files.
set -eu
here=$(dirname "$(readlink -f "$0")")
options=$BROKER_FOLDER/server.properties

mkdir -p "$BROKER_FOLDER"
{
  cat "$here/kafka.properties"
  echo "log.dirs=$BROKER_FOLDER/log"
  env | sed -n 's/^KAFKA_\([A-Z0-9_]*\)=/\1=/p' | while IFS='=' read -r name value; do
    echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
  done
} >"$options"

java() {
  exec "$JAVA_HOME/bin/java" -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dlog4j.configurationFile="$here/../cluster-log4j2.xml" -cp "$BROKER_LIBRARIES/*" "$@"
}

(java kafka.tools.StorageTool format --ignore-formatted --cluster-id 4L6g3nShT-eMCtK--X86sw --config "$options")
java kafka.Kafka "$options"
