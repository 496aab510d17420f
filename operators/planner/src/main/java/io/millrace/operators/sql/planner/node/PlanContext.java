// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import io.millrace.device.Device;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.transfer.WatermarkMode;
import java.util.Map;
import java.util.Set;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.planner.utils.InternalConfigOptions;
import org.apache.flink.table.planner.utils.TableConfigUtils;

/**
 * The options of a query.
 *
 * @param config of the table environment that plans the query
 */
@Internal
public record PlanContext(TableConfig config) {
  public SqlMode mode() {
    return option(SqlOptions.MODE);
  }

  /** Whether Millrace's nodes are executed, not only explained. */
  boolean isExecuted() {
    return mode() == SqlMode.ON;
  }

  /**
   * Checks that each disabled kind of node is one of {@code kinds}.
   *
   * @throws ValidationException if a name is not one of them
   */
  public void checkDisabledNodes(Set<String> kinds) {
    for (String kind : option(SqlOptions.DISABLED_NODES)) {
      if (!kinds.contains(kind)) {
        throw new ValidationException(
            "expected kinds of nodes in '"
                + SqlOptions.DISABLED_NODES.key()
                + "', which are "
                + String.join(", ", kinds)
                + "; got '"
                + kind
                + "'");
      }
    }
  }

  boolean isDisabled(String kind) {
    return option(SqlOptions.DISABLED_NODES).contains(kind);
  }

  /** Whether nodes between operators of rows are replaced although they do little. */
  public boolean replacesCheapNodes() {
    return option(SqlOptions.REPLACE_CHEAP_NODES);
  }

  /** Whether the job is planned for the host alone, by the property that chooses the device. */
  public boolean isForHost() {
    return "host".equals(System.getProperty(Device.OPTION));
  }

  private <T> T option(ConfigOption<T> option) {
    return config.getOptional(option).orElseGet(() -> ofProcess(option));
  }

  private static <T> T ofProcess(ConfigOption<T> option) {
    String value = System.getProperty(option.key());
    return Configuration.fromMap(value == null ? Map.of() : Map.of(option.key(), value))
        .get(option);
  }

  /** The current database of the session. */
  public String database() {
    return config.get(InternalConfigOptions.TABLE_QUERY_CURRENT_DATABASE);
  }

  /** Whether a CAST that fails gives NULL, as in Flink before 1.15. */
  public boolean hasLegacyCasts() {
    return config.get(ExecutionConfigOptions.TABLE_EXEC_LEGACY_CAST_BEHAVIOUR).isEnabled();
  }

  /** What expressions need of the session. */
  public ExpressionSettings expressionSettings() {
    return ExpressionSettings.DEFAULT.withZone(TableConfigUtils.getLocalTimeZone(config));
  }

  /** How long keys stay in state: {@code table.exec.state.ttl}. */
  public StateTtl stateTtl() {
    return StateTtl.ofProcessingTime(config.get(ExecutionConfigOptions.IDLE_STATE_RETENTION));
  }

  /** When rows of Flink's operators become batches. */
  public BatchOptions batchOptions() {
    return BatchOptions.latency(option(SqlOptions.BATCH_LATENCY)).withWatermarks(watermarks());
  }

  /**
   * What watermarks do where rows become batches, and where batches are joined in front of an
   * operator to which they mean nothing. A mini-batch ends with its watermark.
   */
  public WatermarkMode watermarks() {
    boolean miniBatch = config.get(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED);
    return miniBatch ? WatermarkMode.FLUSH : option(SqlOptions.WATERMARKS);
  }
}
