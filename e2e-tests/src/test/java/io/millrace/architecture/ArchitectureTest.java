// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.millrace.memory.spill.SpillManager;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;

/** The arrows of ARCHITECTURE.md, and the habits that keep code testable. */
@AnalyzeClasses(
    packages = "io.millrace",
    importOptions = {
      DoNotIncludeTests.class,
      ArchitectureTest.DoNotIncludeRelocatedAndTestJars.class
    })
class ArchitectureTest {
  private static final String[] KERNELS = {
    "io.millrace.annotation..",
    "io.millrace.device..",
    "io.millrace.memory..",
    "io.millrace.column..",
    "io.millrace.arrow..",
    "io.millrace.kernel..",
    "io.millrace.text..",
    "io.millrace.regexp..",
    "io.millrace.state..",
    "io.millrace.expression..",
    "io.millrace.calc..",
    "io.millrace.format.."
  };

  /**
   * Jars of operators and jobs carry relocated libraries, which this project does not rule, and
   * tests of other modules come as jars.
   */
  static final class DoNotIncludeRelocatedAndTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("/shaded/") && !location.contains("-tests.jar");
    }
  }

  @ArchTest
  static final ArchRule ONLY_THE_DEVICE_LAYER_KNOWS_JCUDA =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.millrace.device..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("jcuda..");

  /**
   * Each package depends on exactly the packages that {@code packages.txt} lists for it: a new
   * package or arrow is a line that a reviewer sees.
   */
  @ArchTest
  static void packagesDependOnWhatTheTableSays(JavaClasses classes) throws IOException {
    assertThat(PackageTable.of(classes)).isEqualTo(PackageTable.read());
  }

  @ArchTest
  static final ArchRule KERNELS_KNOW_NO_ENGINE =
      noClasses()
          .that()
          .resideInAnyPackage(KERNELS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.apache.flink..", "org.apache.kafka..");

  /**
   * They are behind a class loader of their own in a Flink distribution, and change with its
   * versions.
   */
  @ArchTest
  static final ArchRule ONLY_THE_PLANNER_PACKAGES_KNOW_FLINKS_PLANNER =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "io.millrace.operators.sql.planner..",
              // Text of SQL is parsed by a parser that the jar carries, relocated.
              "io.millrace.operators.sql")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.flink.table.planner.calcite..",
              "org.apache.flink.table.planner.plan..",
              "org.apache.flink.table.planner.delegation..",
              "org.apache.calcite..",
              "scala..");

  /**
   * A job is read where the planner is not: in the JobManager and the TaskManagers of a Flink
   * distribution. A lambda is read with the class that made it.
   */
  @ArchTest
  static void plannerPackagesPutNoLambdaIntoJobs(JavaClasses classes) {
    assertThat(classes)
        .filteredOn(type -> type.getPackageName().startsWith("io.millrace.operators.sql.planner"))
        .isNotEmpty()
        .noneMatch(
            type ->
                Arrays.stream(type.reflect().getDeclaredMethods())
                    .anyMatch(method -> method.getName().equals("$deserializeLambda$")));
  }

  @ArchTest
  static final ArchRule PUBLIC_TYPES_SAY_FOR_WHOM =
      classes()
          .that()
          .arePublic()
          .and()
          .areTopLevelClasses()
          .should()
          .beAnnotatedWith(io.millrace.annotation.PublicEvolving.class)
          .orShould()
          .beAnnotatedWith(io.millrace.annotation.Internal.class)
          .orShould()
          .beAnnotatedWith(org.apache.flink.annotation.PublicEvolving.class)
          .orShould()
          .beAnnotatedWith(org.apache.flink.annotation.Internal.class);

  /** What is public only for a neighbouring package of kernels is not for other modules. */
  @ArchTest
  static final ArchRule INTERNAL_TYPES_OF_KERNELS_STAY_IN_KERNELS =
      noClasses()
          .that()
          .resideOutsideOfPackages(KERNELS)
          .should()
          .dependOnClassesThat()
          .areAnnotatedWith(io.millrace.annotation.Internal.class);

  @ArchTest
  static final ArchRule PACKAGES_MAKE_NO_CYCLE =
      slices().matching("io.millrace.(**)").should().beFreeOfCycles();

  /** Time and randomness come through constructors, except for a job's own progress line. */
  @ArchTest
  static final ArchRule CLOCKS_AND_RANDOMNESS_ARE_PASSED_IN =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("io.millrace.jobs.EtlProgress")
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callConstructor(Random.class);

  /** Managers of memory are named as Arrow and cuDF name them. */
  @ArchTest
  static final ArchRule NAMES_SAY_WHAT_A_CLASS_IS =
      noClasses()
          .that()
          .areNotAssignableTo("org.apache.arrow.memory.AllocationManager")
          .and()
          .areNotAssignableTo(SpillManager.class)
          .should()
          .haveSimpleNameEndingWith("Utils")
          .orShould()
          .haveSimpleNameEndingWith("Util")
          .orShould()
          .haveSimpleNameEndingWith("Helper")
          .orShould()
          .haveSimpleNameEndingWith("Manager");

  @ArchTest
  static final ArchRule STATIC_FIELDS_ARE_FINAL =
      fields()
          .that()
          .areStatic()
          .and()
          .areDeclaredInClassesThat()
          .resideInAPackage("io.millrace..")
          .should()
          .beFinal();
}
