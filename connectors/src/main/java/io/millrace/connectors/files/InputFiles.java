// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.StringTokenizer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** Finds the files that a job is told to read, before the job starts. */
@PublicEvolving
public final class InputFiles {
  private static final String GLOB_CHARACTERS = "*?[{";

  private InputFiles() {}

  /**
   * The files and directories that {@code patterns} name, on any of Flink's file systems. A pattern
   * is a path, or a path with {@code * ? [..] {..}} in some of its names. Hidden files ({@code .x},
   * {@code _x}) are named only in full.
   *
   * @return at least one path a pattern, in the file system's order of names
   * @throws FileNotFoundException naming every pattern that nothing matches
   * @throws IOException if a file system cannot be asked
   */
  public static List<Path> resolve(List<String> patterns) throws IOException {
    List<Path> paths = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String pattern : patterns) {
      List<Path> matches = resolve(pattern);
      if (matches.isEmpty()) {
        missing.add(pattern);
      }
      paths.addAll(matches);
    }
    if (!missing.isEmpty()) {
      throw new FileNotFoundException("no file to read matches " + String.join(", ", missing));
    }
    if (paths.isEmpty()) {
      throw new FileNotFoundException("no file to read is named");
    }
    return paths;
  }

  private static List<Path> resolve(String pattern) throws IOException {
    int glob = firstGlobCharacter(pattern);
    if (glob == pattern.length()) {
      Path path = new Path(pattern);
      return path.getFileSystem().exists(path) ? List.of(path) : List.of();
    }
    int base = pattern.lastIndexOf('/', glob) + 1;
    List<Path> matches = List.of(new Path(base == 0 ? "." : pattern.substring(0, base)));
    StringTokenizer names = new StringTokenizer(pattern.substring(base), "/");
    while (names.hasMoreTokens()) {
      matches = children(matches, names.nextToken());
    }
    return matches;
  }

  private static int firstGlobCharacter(String pattern) {
    int i = 0;
    while (i < pattern.length() && GLOB_CHARACTERS.indexOf(pattern.charAt(i)) < 0) {
      i++;
    }
    return i;
  }

  private static List<Path> children(List<Path> directories, String name) throws IOException {
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + name);
    boolean hiddenWanted = name.startsWith(".") || name.startsWith("_");
    List<Path> matches = new ArrayList<>();
    for (Path directory : directories) {
      FileSystem fileSystem = directory.getFileSystem();
      if (!fileSystem.exists(directory) || !fileSystem.getFileStatus(directory).isDir()) {
        continue;
      }
      Arrays.stream(fileSystem.listStatus(directory))
          .map(FileStatus::getPath)
          .filter(path -> matcher.matches(java.nio.file.Path.of(path.getName())))
          .filter(path -> hiddenWanted || !isHidden(path))
          .sorted(Comparator.comparing(Path::getName))
          .forEach(matches::add);
    }
    return matches;
  }

  private static boolean isHidden(Path path) {
    return path.getName().startsWith(".") || path.getName().startsWith("_");
  }
}
