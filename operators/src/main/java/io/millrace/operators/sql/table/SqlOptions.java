// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.transfer.WatermarkMode;
import java.time.Duration;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/**
 * The options of SQL jobs. Each is looked up in the configuration of the table environment, which
 * {@code SET} changes, then in the system properties of the process that plans the query.
 */
@PublicEvolving
public final class SqlOptions {
  /** Whether Millrace replaces nodes of SQL plans. */
  public static final ConfigOption<SqlMode> MODE =
      ConfigOptions.key("millrace.sql")
          .enumType(SqlMode.class)
          .defaultValue(SqlMode.OFF)
          .withDescription(
              "Whether Millrace's operators take the place of Flink's: 'off', 'explain' (EXPLAIN"
                  + " says which nodes would be replaced, and Flink's operators run) or 'on'.");

  /** The kinds of nodes that stay Flink's. */
  public static final ConfigOption<List<String>> DISABLED_NODES =
      ConfigOptions.key("millrace.sql.disabled-nodes")
          .stringType()
          .asList()
          .defaultValues()
          .withDescription(
              "Kinds of nodes that stay Flink's, by their names in EXPLAIN, such as"
                  + " 'Calc;Exchange'.");

  /** Whether nodes that are cheaper on rows are replaced too. */
  public static final ConfigOption<Boolean> REPLACE_CHEAP_NODES =
      ConfigOptions.key("millrace.sql.replace-cheap-nodes")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Whether a node between two operators of rows is replaced although it does so little"
                  + " that Flink does it faster than its rows become batches, such as a comparison"
                  + " of numbers, or although no GPU would compute what costs time in it.");

  /** How old the oldest row of a batch may become where rows become batches. */
  public static final ConfigOption<Duration> BATCH_LATENCY =
      ConfigOptions.key("millrace.sql.batch-latency")
          .durationType()
          .defaultValue(BatchOptions.DEFAULT.latency())
          .withDescription(
              "How old, in processing time, the oldest row of a batch may become before the batch"
                  + " is sent, where the rows of a Flink operator become batches.");

  /** What a watermark does with the rows of an unfinished batch. */
  public static final ConfigOption<WatermarkMode> WATERMARKS =
      ConfigOptions.key("millrace.sql.watermarks")
          .enumType(WatermarkMode.class)
          .defaultValue(WatermarkMode.HOLD)
          .withDescription(
              "What a watermark does where the rows of a Flink operator become batches, and in"
                  + " front of aggregates without windows also where an exchange joins batches:"
                  + " 'hold' (it waits for the batch, so fewer rows are late than in Flink) or"
                  + " 'flush' (it ends the batch). In mini-batch mode it ends the batch.");

  private SqlOptions() {}
}
