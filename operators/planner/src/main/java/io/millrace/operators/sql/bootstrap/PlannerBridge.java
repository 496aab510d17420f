// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.bootstrap;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * Loads the classes that extend the planner's beside the planner, which a Flink distribution keeps
 * behind a class loader, and all other classes of Millrace where operators, functions and
 * connectors have them. So each class exists once: types are the same on both sides, and the native
 * library is bound once.
 */
final class PlannerBridge extends URLClassLoader {
  /** The packages whose classes extend the planner's. */
  static final String PACKAGE = "io.millrace.operators.sql.planner.";

  static {
    ClassLoader.registerAsParallelCapable();
  }

  private final ClassLoader planner;
  private final ClassLoader owner;

  /**
   * @param jar that has the classes of {@link #PACKAGE}
   * @param planner loads the planner's classes and Flink's
   * @param owner loads Millrace's other classes
   */
  PlannerBridge(URL jar, ClassLoader planner, ClassLoader owner) {
    super(new URL[] {jar}, null);
    this.planner = planner;
    this.owner = owner;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PACKAGE)) {
      return (name.startsWith("io.millrace.") ? owner : planner).loadClass(name);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }
}
