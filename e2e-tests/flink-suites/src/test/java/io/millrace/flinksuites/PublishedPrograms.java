// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import org.apache.flink.table.planner.plan.nodes.exec.testutils.SemanticTestBase;
import org.apache.flink.table.test.program.SqlTestStep;
import org.apache.flink.table.test.program.TableTestProgram;
import org.apache.flink.table.test.program.TestStep;
import org.apache.flink.table.test.program.TestStep.TestKind;

/** The programs of Flink's tests of nodes that consist of one SQL statement. */
final class PublishedPrograms {
  private static final String CLASSES = "TestPrograms.class";
  private static final String NODES = "org/apache/flink/table/planner/plan/nodes/exec/";
  private static final Set<TestKind> SETUP =
      EnumSet.of(
          TestKind.CONFIG,
          TestKind.SOURCE_WITH_DATA,
          TestKind.SOURCE_WITH_RESTORE_DATA,
          TestKind.SINK_WITH_DATA,
          TestKind.SINK_WITH_RESTORE_DATA,
          TestKind.FUNCTION,
          TestKind.SQL);

  private PublishedPrograms() {}

  /** The classes with programs. */
  static List<Class<?>> classes() throws IOException, ReflectiveOperationException {
    List<Class<?>> classes = new ArrayList<>();
    File jar =
        new File(
            SemanticTestBase.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    try (JarFile entries = new JarFile(jar)) {
      for (String name : entries.stream().map(Object::toString).sorted().toList()) {
        if (name.startsWith(NODES) && name.endsWith(CLASSES)) {
          classes.add(Class.forName(name.replace('/', '.').replaceAll("\\.class$", "")));
        }
      }
    }
    return classes;
  }

  /** The programs of a class that {@link ProgramRunner} can run. */
  static List<TableTestProgram> of(Class<?> programs) throws ReflectiveOperationException {
    List<TableTestProgram> found = new ArrayList<>();
    for (Field field : programs.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == TableTestProgram.class) {
        field.setAccessible(true);
        TableTestProgram program = (TableTestProgram) field.get(null);
        if (isRunnable(program)) {
          found.add(program);
        }
      }
    }
    return found;
  }

  private static boolean isRunnable(TableTestProgram program) {
    return program.runSteps.size() == 1
        && program.runSteps.get(0) instanceof SqlTestStep
        && program.setupSteps.stream().map(TestStep::getKind).allMatch(SETUP::contains);
  }
}
