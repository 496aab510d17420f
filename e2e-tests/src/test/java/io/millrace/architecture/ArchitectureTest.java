package io.millrace.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.millrace.memory.spill.SpillManager;
import java.time.Clock;
import java.time.Instant;
import java.util.Random;

/** The arrows of ARCHITECTURE.md, and the habits that keep code testable. */
@AnalyzeClasses(
    packages = "io.millrace",
    importOptions = {
      DoNotIncludeTests.class,
      ArchitectureTest.DoNotIncludeRelocatedAndTestJars.class
    })
class ArchitectureTest {
  /**
   * The job jar carries relocated libraries, which are not ours to rule, and other modules' tests
   * come as jars.
   */
  static final class DoNotIncludeRelocatedAndTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("/io/millrace/jobs/shaded/") && !location.contains("-tests.jar");
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

  @ArchTest
  static final ArchRule ARROWS_POINT_ONE_WAY =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("device")
          .definedBy("io.millrace.device..")
          .layer("memory")
          .definedBy("io.millrace.memory..")
          .layer("column")
          .definedBy("io.millrace.column..")
          .layer("arrow")
          .definedBy("io.millrace.arrow..")
          .layer("kernel")
          .definedBy("io.millrace.kernel..")
          .layer("operators")
          .definedBy("io.millrace.operators..")
          .layer("connectors")
          .definedBy("io.millrace.connectors..")
          .layer("jobs")
          .definedBy("io.millrace.jobs..")
          .whereLayer("device")
          .mayNotAccessAnyLayer()
          .whereLayer("memory")
          .mayOnlyAccessLayers("device")
          .whereLayer("column")
          .mayOnlyAccessLayers("device", "memory")
          .whereLayer("arrow")
          .mayOnlyAccessLayers("device", "memory", "column")
          .whereLayer("kernel")
          .mayOnlyAccessLayers("device", "memory", "column")
          .whereLayer("operators")
          .mayOnlyAccessLayers("device", "memory", "column", "arrow", "kernel")
          .whereLayer("jobs")
          .mayNotBeAccessedByAnyLayer();

  @ArchTest
  static final ArchRule KERNELS_KNOW_NO_ENGINE =
      noClasses()
          .that()
          .resideInAnyPackage(
              "io.millrace.device..",
              "io.millrace.memory..",
              "io.millrace.column..",
              "io.millrace.arrow..",
              "io.millrace.kernel..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.apache.flink..", "org.apache.kafka..");

  /** Whole batches and rows are what operators have in common; the fluent API knows all. */
  @ArchTest
  static final ArchRule OPERATORS_NEVER_IMPORT_EACH_OTHER =
      slices()
          .matching("io.millrace.operators.(*)..")
          .should()
          .notDependOnEachOther()
          .ignoreDependency(resideInAnyPackage("io.millrace.operators.api.."), alwaysTrue())
          .ignoreDependency(
              alwaysTrue(),
              resideInAnyPackage("io.millrace.operators.batch..", "io.millrace.operators.row.."));

  @ArchTest
  static final ArchRule PACKAGES_MAKE_NO_CYCLE =
      slices().matching("io.millrace.(**)").should().beFreeOfCycles();

  /** Time and randomness come through constructors, but for a job's own progress line. */
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
