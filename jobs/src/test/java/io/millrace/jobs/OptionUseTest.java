// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionUseTest {
  /** The ends of their keys are names of the user. */
  @ParameterizedTest
  @CsvSource({
    "source.kafka.metadata.at, source.type is kafka",
    "source.kafka.properties.fetch.min.bytes, source.type is kafka",
    "sink.kafka.properties.linger.ms, sink.type has kafka"
  })
  void optionsOfKafkaNeedKafka(String key, String condition) {
    assertThatThrownBy(() -> EtlOptions.parse(Map.of(key, "1")))
        .isInstanceOf(UsageException.class)
        .hasMessage(key + " has no effect here: it is used only where " + condition);
  }

  /** Jobs with one name would drop each other's staged rows. */
  @Test
  void tablesHaveNamesOfTheirOwn() {
    assertThat(EtlPostgresSink.id("public", "bids")).isEqualTo("t_bids");
    assertThat(EtlPostgresSink.id("public", "order_events_per_customer_daily"))
        .startsWith("t_order_events_")
        .hasSizeLessThanOrEqualTo(24)
        .isNotEqualTo(EtlPostgresSink.id("public", "order_events_per_customer_hourly"));
    assertThat(EtlPostgresSink.id("audit", "bids"))
        .isNotEqualTo(EtlPostgresSink.id("public", "bids"))
        .isNotEqualTo(EtlPostgresSink.id("archive", "bids"));
    assertThat(EtlPostgresSink.id("public", "Bids"))
        .isNotEqualTo(EtlPostgresSink.id("public", "bids"));
  }
}
