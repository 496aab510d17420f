// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.bootstrap;

import java.util.Set;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.factories.Factory;

/**
 * Installs the planner hook. Flink makes an instance of every table factory when it looks for one
 * of them, which it does before it plans the first query. Makes no tables.
 */
@Internal
public final class MillraceSqlFactory implements Factory {
  public MillraceSqlFactory() {
    PlannerHook.install();
  }

  @Override
  public String factoryIdentifier() {
    return "millrace-sql";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of();
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }
}
