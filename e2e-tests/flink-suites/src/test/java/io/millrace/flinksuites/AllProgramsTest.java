// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import io.millrace.operators.sql.table.SqlMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.test.program.TableTestProgram;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The programs of Flink's tests of nodes give the same rows with Millrace's nodes in their plans.
 * Updates on the way to them depend on the batches and are not compared.
 */
class AllProgramsTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

  @BeforeAll
  static void install() {
    assertThat(PlannerHook.install()).isTrue();
  }

  @Test
  void programsGiveTheRowsThatFlinkGives() throws Exception {
    List<String> differences = new ArrayList<>();
    List<String> fail = new ArrayList<>();
    int same = 0;
    String only = System.getProperty("millrace.programs", "");
    for (Class<?> programs : PublishedPrograms.classes()) {
      if (!programs.getSimpleName().matches(only.isEmpty() ? ".*" : only)) continue;
      for (TableTestProgram program : PublishedPrograms.of(programs)) {
        Map<String, List<String>> stock;
        try {
          stock = ProgramRun.rows(program, SqlMode.OFF);
        } catch (Exception e) {
          fail.add(program.id + " " + root(e));
          continue;
        }
        try {
          Map<String, List<String>> rows = ProgramRun.rows(program, SqlMode.ON);
          if (rows.equals(stock)) {
            same++;
          } else {
            differences.add(program.id + "\n  stock " + stock + "\n  here  " + rows);
          }
        } catch (Exception e) {
          differences.add(program.id + " " + root(e));
        }
      }
      System.out.println(programs.getSimpleName() + " " + same + " " + differences.size());
    }
    System.out.println("SAME " + same + "\nFAIL " + String.join("\n", fail) + "\nDIFF " + String.join("\n", differences));
    System.out.println(SubstitutionReport.text());
    assertThat(differences).isEmpty();
  }

  private static String root(Throwable e) {
    while (e.getCause() != null) {
      e = e.getCause();
    }
    java.io.StringWriter w = new java.io.StringWriter();
    e.printStackTrace(new java.io.PrintWriter(w));
    return w.toString().lines().limit(8).collect(java.util.stream.Collectors.joining(" | "));
  }
}
