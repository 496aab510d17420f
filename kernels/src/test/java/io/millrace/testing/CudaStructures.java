// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.device.KernelStructure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the layouts of argument structures from the CUDA sources. */
public final class CudaStructures {
  private static final Path SOURCES = Path.of("src", "main", "cuda");
  private static final Pattern COMMENT = Pattern.compile("//[^\n]*");
  private static final Pattern FIELD =
      Pattern.compile("(\\w+)\\s+(\\w+)\\s*(?:\\[(\\w+)\\])?\\s*;");

  private final String text;

  private CudaStructures(String text) {
    this.text = text;
  }

  /**
   * All CUDA sources of the module. Aborts the test if there are only compiled classes, as in a
   * bundle for a GPU host.
   *
   * @throws UncheckedIOException if the sources cannot be read
   */
  public static CudaStructures ofSources() {
    assumeThat(SOURCES).isDirectory();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return new CudaStructures(
          files
              .filter(file -> file.toString().matches(".*\\.cuh?"))
              .sorted()
              .map(CudaStructures::read)
              .collect(Collectors.joining("\n")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return COMMENT.matcher(Files.readString(file)).replaceAll("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The layout of the structure with the given name.
   *
   * @throws IllegalArgumentException if the sources declare no such structure
   */
  public KernelStructure layout(String name) {
    Matcher structure = Pattern.compile("struct " + name + "\\s*\\{([^}]*)\\}\\s*;").matcher(text);
    if (!structure.find()) {
      throw new IllegalArgumentException("no CUDA source declares struct " + name);
    }
    KernelStructure layout = new KernelStructure(name);
    for (Matcher field = FIELD.matcher(structure.group(1)); field.find(); ) {
      add(layout, field.group(1), field.group(2), field.group(3));
    }
    return layout;
  }

  private void add(KernelStructure layout, String type, String field, String length) {
    switch (type) {
      case "int32_t", "uint32_t" -> layout.int32(field);
      case "int64_t", "uint64_t" -> layout.int64(field);
      default -> layout.array(field, layout(type), length == null ? 1 : constant(length));
    }
  }

  private int constant(String name) {
    Matcher constant = Pattern.compile("constexpr \\w+ " + name + " = (\\d+);").matcher(text);
    if (!constant.find()) {
      throw new IllegalArgumentException("no CUDA source declares the constant " + name);
    }
    return Integer.parseInt(constant.group(1));
  }
}
