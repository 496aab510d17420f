# SPDX-License-Identifier: Apache-2.0
# Functions of setup.sh: images of Kafka and PostgreSQL from files of this machine, without a registry.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

services=$repository/e2e-tests/services
resources=$repository/e2e-tests/src/test/resources

# What Kafka and its libraries use of Java.
java_modules=java.base,java.desktop,java.logging,java.management,java.naming,java.security.jgss,java.security.sasl,java.sql,java.xml
java_modules+=,jdk.crypto.ec,jdk.management,jdk.unsupported,jdk.zipfs

# new_root FOLDER  a root folder with a shell, its commands, and users.
new_root() {
  local root=$1 applet
  rm -rf "$root"
  mkdir -p "$root"/{bin,dev,etc,opt/millrace,proc,run,sys,tmp,var/lib}
  chmod 1777 "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/busybox"
  for applet in $(busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
  done
  printf '%s\n' 'root:x:0:0::/:/bin/sh' 'postgres:x:999:999::/:/bin/sh' 'kafka:x:1000:1000::/:/bin/sh' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'postgres:x:999:' 'kafka:x:1000:' >"$root/etc/group"
  echo 'hosts: files' >"$root/etc/nsswitch.conf"
  cp -r "$resources/services" "$resources/cluster-log4j2.xml" "$root/opt/millrace/"
}

# add_libraries ROOT  copies the shared libraries that programs and libraries below ROOT need from this machine.
add_libraries() {
  local root=$1 library
  # ldd fails for what is a script, or static.
  { find "$root" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2>/dev/null || true; } |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// && $2 ~ /^\(/ { print $1 }' |
    { grep -v "^$root/" || true; } | sort -u |
    while read -r library; do
      install -D -m 755 "$(readlink -f "$library")" "$root$library"
    done
}

# import_image ROOT NAME RECIPE INSTRUCTION...  makes an image of one layer, with the instructions of a Dockerfile.
import_image() {
  local root=$1 name=$2 recipe=$3 instruction changes=()
  shift 3
  for instruction in "LABEL recipe=$recipe" "$@"; do
    changes+=(--change "$instruction")
  done
  # Whatever the umask of this checkout: no user in a container owns these files.
  chmod -R a+rX "$root"
  tar -C "$root" --numeric-owner -c . | engine import "${changes[@]}" - "$name" >/dev/null
  rm -rf "$root"
  engine image prune --force >/dev/null
  echo "$name, $(($(engine image inspect --format '{{.Size}}' "$name") / 1000000)) MB"
}

# recipe FILE...  a number for all that an image is made of.
recipe() {
  {
    cat "$repository"/e2e-tests/containers/images.sh "$resources"/cluster-log4j2.xml "$resources"/services/*
    java -version 2>&1
    basename -a "$@"
  } | cksum | cut -d ' ' -f 1
}

# is_made NAME RECIPE  whether the engine has the image already; says so.
is_made() {
  [ "$(engine image inspect --format '{{.Config.Labels.recipe}}' "$1" 2>/dev/null)" = "$2" ] && echo "$1, made before"
}

kafka_image() {
  local jars=("$services"/target/kafka/*.jar) root=$home/root version recipe library
  version=$(basename "$services"/target/kafka/kafka-server-[0-9]*.jar .jar)
  local name=millrace/kafka:${version#kafka-server-}
  recipe=$(recipe "${jars[@]}")
  is_made "$name" "$recipe" && return
  new_root "$root"
  mkdir -p "$root/opt/kafka" "$root/etc/kafka/docker"
  cp "${jars[@]}" "$root/opt/kafka/"
  ln -s /opt/millrace/services/start-kafka.sh "$root/etc/kafka/docker/run"
  # Testcontainers starts the broker by a script of its own, for bash.
  cp "$(command -v bash)" "$root/bin/bash"
  jlink --add-modules "$java_modules" --strip-debug --no-header-files --no-man-pages --output "$root/opt/java" >&2
  # Of java.desktop Kafka needs java.beans only.
  for library in awt_xawt splashscreen fontmanager freetype mlib_image lcms javajpeg jsound; do
    rm -f "$root/opt/java/lib/lib$library.so"
  done
  # An archive of class data: each start of a JVM is shorter by a second.
  "$root/opt/java/bin/java" -Xshare:dump >/dev/null 2>&1
  add_libraries "$root"
  import_image "$root" "$name" "$recipe" "USER kafka" "EXPOSE 9092" "ENV PATH=/bin" "ENV JAVA_HOME=/opt/java" \
    "ENV BROKER_LIBRARIES=/opt/kafka" "ENV BROKER_FOLDER=/tmp/kafka" 'CMD ["/etc/kafka/docker/run"]'
}

postgres_image() {
  local jar root=$home/root version recipe
  jar=$(echo "$services"/target/postgres/*.jar)
  version=$(basename "$jar" .0.jar)
  local name=millrace/postgres:${version##*-}
  recipe=$(recipe "$jar")
  is_made "$name" "$recipe" && return
  new_root "$root"
  mkdir -p "$root/opt/postgres" "$root/var/lib/postgres"
  (cd "$home" && jar -xf "$jar" postgres-linux-x86_64.txz)
  tar -C "$root/opt/postgres" --no-same-owner -xJf "$home/postgres-linux-x86_64.txz"
  rm -rf "$home/postgres-linux-x86_64.txz" "$root"/opt/postgres/lib/*.a "$root/opt/postgres/lib/pkgconfig"
  chown 999:999 "$root/var/lib/postgres"
  add_libraries "$root"
  import_image "$root" "$name" "$recipe" "USER postgres" "EXPOSE 5432" "ENV PATH=/opt/postgres/bin:/bin" \
    "ENV PGDATA=/var/lib/postgres/data" "ENV PGPORT=5432" \
    'ENTRYPOINT ["/opt/millrace/services/start-postgres.sh"]' 'CMD ["postgres"]'
}
