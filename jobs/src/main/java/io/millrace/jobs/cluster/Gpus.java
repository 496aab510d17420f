// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The GPUs of this machine, as CUDA_VISIBLE_DEVICES names them. */
final class Gpus {
  private static final Path DEVICES = Path.of("/dev");
  private static final Pattern DEVICE_FILE = Pattern.compile("nvidia(\\d+)");

  private Gpus() {}

  /** Those that this process may use. */
  static List<String> visible() throws IOException {
    String visible = System.getenv("CUDA_VISIBLE_DEVICES");
    if (visible != null) {
      return Arrays.stream(visible.split(","))
          .map(String::strip)
          .filter(s -> !s.isEmpty())
          .toList();
    }
    try (Stream<Path> files = Files.list(DEVICES)) {
      long count =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> DEVICE_FILE.matcher(name).matches())
              .count();
      // CUDA counts what it sees from 0, whatever the numbers of the files are.
      return LongStream.range(0, count).mapToObj(String::valueOf).toList();
    }
  }
}
