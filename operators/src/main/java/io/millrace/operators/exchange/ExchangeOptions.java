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
              "Whether an exchange by key sends one batch per key group, not one per subtask. Only then"
                  + " are unaligned checkpoints unaligned there too; it costs throughput.");

  private ExchangeOptions() {}
}
