// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Which package of the project depends on which, a line a package: {@code a -> b c}. */
final class PackageTable {
  private static final String ROOT = "io.millrace.";

  private PackageTable() {}

  /** The table of the classes as they are. */
  static String of(JavaClasses classes) {
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (JavaClass type : classes) {
      if (type.getSimpleName().equals("package-info")) {
        continue;
      }
      Set<String> targets = arrows.computeIfAbsent(nameOf(type), name -> new TreeSet<>());
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        boolean isMarker = nameOf(target).equals("annotation");
        boolean isRelocated = target.getPackageName().contains(".shaded.");
        if (target.getPackageName().startsWith(ROOT) && !isMarker && !isRelocated) {
          targets.add(nameOf(target));
        }
      }
      targets.remove(nameOf(type));
    }
    return arrows.entrySet().stream()
        .map(entry -> (entry.getKey() + " -> " + String.join(" ", entry.getValue())).strip())
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static String nameOf(JavaClass type) {
    String name = type.getPackageName();
    return name.startsWith(ROOT) ? name.substring(ROOT.length()) : name;
  }

  /** The table as it is written down. */
  static String read() throws IOException {
    try (InputStream stream = PackageTable.class.getResourceAsStream("/packages.txt")) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
