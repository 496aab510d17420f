// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The options of a job's exchanges, which are read when the job is built. */
@PublicEvolving
public final class ExchangeOptions {
  /** {@link BatchExchange#perKeyGroup} for all exchanges by key. */
  public static final ConfigOption<Boolean> PER_KEY_GROUP =
      ConfigOptions.key("millrace.exchange.per-key-group")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Whether an exchange by key sends one batch per key group instead of one per subtask."
                  + " Then unaligned checkpoints are unaligned in the exchange, too; the price is"
                  + " throughput.");

  private ExchangeOptions() {}
}
