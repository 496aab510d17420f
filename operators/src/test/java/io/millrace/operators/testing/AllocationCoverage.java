// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.millrace.device.PinnedStagingPool;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Compares the lines of main code that ask for memory with those where {@link OutOfMemoryTest}s
 * failed a request: those of this process, and of all processes with the same folder {@value
 * #FOLDER}, which share the tests of a module.
 *
 * <p>A line asks for memory if it calls {@link MemoryResource#allocate}, a method of {@link Buffer}
 * that allocates, or {@link PinnedStagingPool#acquire}. Lines of the memory and device packages do
 * not count, because they only pass requests on. Access to a spilled or shared buffer may also
 * allocate memory, but such lines are not counted.
 */
public final class AllocationCoverage {
  private static final String MAIN = "io.millrace";
  private static final Set<String> MEMORY_LAYER =
      Set.of(
          "io.millrace.memory",
          "io.millrace.memory.resource",
          "io.millrace.memory.retry",
          "io.millrace.memory.spill",
          "io.millrace.device");
  private static final Set<String> BUFFERS =
      Set.of("allocate", "copyOf", "deepCopy", "shallowCopy");

  /** The system property with a folder that processes keep what they covered in; may be absent. */
  private static final String FOLDER = "millrace.allocation.coverage";

  private static final Set<SourceLine> FAILED = ConcurrentHashMap.newKeySet();
  private static final Set<String> BEGUN = ConcurrentHashMap.newKeySet();

  private final JavaClasses mainClasses;

  private AllocationCoverage(JavaClasses mainClasses) {
    this.mainClasses = mainClasses;
  }

  /**
   * The coverage of the main code of this project on the class path.
   *
   * @param names prefixes of the full names of the classes that are covered
   */
  public static AllocationCoverage ofMainCode(String... names) {
    JavaClasses mainClasses =
        importPackages(MAIN, location -> !AllocationRequest.isTestCode(location.toString()));
    return new AllocationCoverage(
        mainClasses.that(
            DescribedPredicate.describe(
                "begin with " + Arrays.toString(names),
                type -> Arrays.stream(names).anyMatch(type.getName()::startsWith))));
  }

  // Classes of other projects do not matter, and resolving them would take seconds.
  private static JavaClasses importPackages(String name, ImportOption option) {
    return ArchConfiguration.withThreadLocalScope(
        configuration -> {
          configuration.setResolveMissingDependenciesFromClassPath(false);
          return new ClassFileImporter().withImportOption(option).importPackages(name);
        });
  }

  /** The coverage of any classes. */
  static AllocationCoverage of(Class<?>... classes) {
    return new AllocationCoverage(new ClassFileImporter().importClasses(classes));
  }

  static void began(Method test) {
    String name = name(test.getDeclaringClass().getName(), test.getName());
    if (BEGUN.add(name)) {
      write("begun " + name);
    }
  }

  static void failed(SourceLine line) {
    if (FAILED.add(line)) {
      write("failed " + line.className() + " " + line.line());
    }
  }

  private static Optional<Path> folder() {
    return Optional.ofNullable(System.getProperty(FOLDER)).map(Path::of);
  }

  private static void write(String line) {
    folder().ifPresent(folder -> write(folder, line));
  }

  private static synchronized void write(Path folder, String line) {
    try {
      Files.createDirectories(folder);
      Files.writeString(
          folder.resolve(ProcessHandle.current().pid() + ".txt"),
          line + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds what other processes covered. */
  private static void read() {
    folder().filter(Files::isDirectory).ifPresent(AllocationCoverage::read);
  }

  private static void read(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        for (String line : Files.readAllLines(file)) {
          String[] words = line.split(" ", -1);
          if (words[0].equals("begun")) {
            BEGUN.add(words[1]);
          } else {
            FAILED.add(new SourceLine(words[1], Integer.parseInt(words[2])));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The {@link OutOfMemoryTest}s of {@code testPackage} and its subpackages that did not run. */
  public static List<String> testsNotRun(String testPackage) {
    List<String> tests = new ArrayList<>();
    for (JavaClass type :
        importPackages(testPackage, location -> location.contains("/test-classes/"))) {
      for (JavaMethod method : type.getMethods()) {
        if (method.isAnnotatedWith(OutOfMemoryTest.class)) {
          tests.add(name(type.getName(), method.getName()));
        }
      }
    }
    read();
    tests.removeAll(BEGUN);
    return tests;
  }

  private static String name(String className, String method) {
    return className + "#" + method;
  }

  /**
   * The gaps in the coverage, as text: each line that asks for memory but never failed, and each
   * exempt class without such a line.
   *
   * @param exemptions the full names of classes whose lines need not fail, each with the reason
   */
  public List<String> gaps(Map<String, String> exemptions) {
    read();
    List<String> gaps = new ArrayList<>();
    Set<String> exempted = new TreeSet<>(exemptions.keySet());
    for (JavaAccess<?> request : requests()) {
      SourceLine line = new SourceLine(request.getOriginOwner().getName(), request.getLineNumber());
      if (FAILED.contains(line)) {
        continue;
      }
      if (exemptions.containsKey(line.className())) {
        exempted.remove(line.className());
      } else {
        gaps.add("no request failed at " + line + ": " + request.getDescription());
      }
    }
    exempted.forEach(
        type -> gaps.add(type + " has no line that never failed; remove its exemption"));
    return gaps;
  }

  private List<JavaAccess<?>> requests() {
    List<JavaAccess<?>> requests = new ArrayList<>();
    for (JavaClass type : mainClasses) {
      if (!MEMORY_LAYER.contains(type.getPackageName())) {
        type.getAccessesFromSelf().stream()
            .filter(access -> asksForMemory(access.getTarget()))
            .forEach(requests::add);
      }
    }
    return requests;
  }

  private static boolean asksForMemory(AccessTarget target) {
    JavaClass owner = target.getOwner();
    String name = target.getName();
    return (owner.isEquivalentTo(Buffer.class) && BUFFERS.contains(name))
        || (owner.isAssignableTo(MemoryResource.class) && name.equals("allocate"))
        || (owner.isEquivalentTo(PinnedStagingPool.class) && name.equals("acquire"));
  }
}
