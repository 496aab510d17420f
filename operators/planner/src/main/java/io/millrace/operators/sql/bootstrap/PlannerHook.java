// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.bootstrap;

import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import org.apache.flink.FlinkVersion;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.factories.Factory;
import org.apache.flink.table.planner.loader.PlannerModule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs Millrace's stage of planning into Flink's planner, once in a process. If that cannot be
 * done, because Flink has another version or Millrace is not in Flink's {@code lib} folder, a
 * warning says so and Flink plans as ever.
 */
@Internal
public final class PlannerHook {
  /** The version of Flink whose planner the classes of the package {@code planner} extend. */
  private static final FlinkVersion PLANNER_VERSION = FlinkVersion.v2_3;

  private static final String PLANNER_CLASS =
      "org.apache.flink.table.planner.calcite.CalciteConfig";
  private static final String INSTALLATION = PlannerBridge.PACKAGE + "PlannerInstallation";
  private static final Logger LOG = LoggerFactory.getLogger(PlannerHook.class);

  private PlannerHook() {}

  /** Holds the only result: Flink makes many factories, in several threads. */
  private static final class Installed {
    static final boolean DONE = tryInstall();
  }

  /**
   * Installs the stage if no earlier call did.
   *
   * @return whether it is installed
   */
  public static boolean install() {
    return Installed.DONE;
  }

  private static boolean tryInstall() {
    try {
      String obstacle = obstacle();
      if (obstacle == null) {
        Class.forName(INSTALLATION, true, plannerSide()).getMethod("install").invoke(null);
        return true;
      }
      LOG.warn("Flink's operators run all SQL: {}", obstacle);
    } catch (InvocationTargetException e) {
      LOG.warn("Flink's operators run all SQL: its planner took no further stage", e.getCause());
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.warn("Flink's operators run all SQL: its planner took no further stage", e);
    }
    return false;
  }

  private static String obstacle() {
    if (FlinkVersion.current() != PLANNER_VERSION) {
      return "expected Flink " + PLANNER_VERSION + ", got " + FlinkVersion.current();
    }
    return PlannerHook.class.getClassLoader() == Factory.class.getClassLoader()
        ? null
        : "Millrace's jars have to be in Flink's lib folder, not in the jar of a job";
  }

  /** The class loader that sees both the planner and Millrace. */
  private static ClassLoader plannerSide() {
    ClassLoader owner = PlannerHook.class.getClassLoader();
    try {
      Class.forName(PLANNER_CLASS, false, owner);
      return owner;
    } catch (ClassNotFoundException isolated) {
      URL jar = PlannerHook.class.getProtectionDomain().getCodeSource().getLocation();
      return new PlannerBridge(jar, PlannerModule.getInstance().getSubmoduleClassLoader(), owner);
    }
  }
}
