// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Files, methods and packages stay short enough to read. */
class SourceFilesTest {
  private static final int MAX_LINES_PER_FILE = 400;
  private static final int MAX_LINES_PER_METHOD = 70;
  private static final int MAX_FILES_PER_PACKAGE = 25;
  private static final Pattern SOURCE = Pattern.compile(".*\\.(java|cu|cuh)");

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> modules = Files.list(Path.of("..").toRealPath())) {
      for (Path folder : modules.map(module -> module.resolve("src")).toList()) {
        if (Files.isDirectory(folder)) {
          try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> SOURCE.matcher(file.toString()).matches()).forEach(sources::add);
          }
        }
      }
    }
    assertThat(sources).isNotEmpty();
    return sources;
  }

  @Test
  void filesAreShort() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path source : sources()) {
      // Without the line of the licence.
      int lines = Files.readAllLines(source).size() - 1;
      if (lines > MAX_LINES_PER_FILE) {
        tooLong.add(source + " has " + lines + " lines");
      }
    }
    assertThat(tooLong).isEmpty();
  }

  @Test
  void packagesAreSmall() throws IOException {
    Map<Path, Long> files =
        sources().stream()
            .filter(file -> file.toString().endsWith(".java"))
            .filter(file -> !file.endsWith("package-info.java"))
            .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()));
    files.values().removeIf(count -> count <= MAX_FILES_PER_PACKAGE);
    assertThat(files).isEmpty();
  }

  @Test
  void methodsAreShort() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<Path> java = sources().stream().filter(file -> file.toString().endsWith(".java")).toList();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(java));
      LongMethods longMethods = new LongMethods(Trees.instance(task).getSourcePositions());
      for (CompilationUnitTree file : task.parse()) {
        longMethods.scan(file, file);
      }
      assertThat(longMethods.methods).isGreaterThan(java.size());
      assertThat(longMethods.found).isEmpty();
    }
  }

  private static final class LongMethods extends TreeScanner<Void, CompilationUnitTree> {
    private final SourcePositions positions;
    private final List<String> found = new ArrayList<>();
    private int methods;

    LongMethods(SourcePositions positions) {
      this.positions = positions;
    }

    @Override
    public Void visitMethod(MethodTree method, CompilationUnitTree file) {
      LineMap lines = file.getLineMap();
      long first = lines.getLineNumber(positions.getStartPosition(file, method));
      long last = lines.getLineNumber(positions.getEndPosition(file, method));
      methods++;
      if (last - first >= MAX_LINES_PER_METHOD) {
        found.add(
            file.getSourceFile().getName()
                + ":"
                + first
                + " "
                + method.getName()
                + " has "
                + (last - first + 1)
                + " lines");
      }
      return super.visitMethod(method, file);
    }
  }
}
