// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which conditions the source of a job evaluates. */
class EtlSourceFilterTest {
  @TempDir Path folder;

  private static EtlPlan plan(Map<String, String> settings) {
    return EtlPlan.of(Configuration.fromMap(settings));
  }

  private Map<String, String> files(String format, String where) throws IOException {
    Path input = Files.writeString(folder.resolve("in"), "");
    Map<String, String> settings = new TreeMap<>();
    settings.put("source.type", "files");
    settings.put("source.path", input.toString());
    settings.put("source.format", format);
    settings.put("source.schema", "a INT, s STRING, d DOUBLE");
    settings.put("sink.path", folder.resolve("out").toString());
    settings.put("where", where);
    return settings;
  }

  @ParameterizedTest
  @CsvSource({
    "json, a > 3 AND NOT d IS NULL, true",
    "csv, a > 3 OR d <= 0.5, true",
    "json, s = 'x', false",
    "json, a > 3 OR s IS NULL, false",
    "json, 10 / a > 3, false"
  })
  void conditionsOfFixedWidthAreTheSources(String format, String where, boolean ofSource)
      throws IOException {
    EtlPlan plan = plan(files(format, where));
    assertThat(plan.sourceFilter().isPresent()).isEqualTo(ofSource);
    assertThat(plan.selectionOfRows().condition().isEmpty()).isEqualTo(ofSource);
  }

  private static Map<String, String> topics(String where) {
    Map<String, String> settings = new TreeMap<>();
    settings.put("source.type", "kafka");
    settings.put("source.kafka.bootstrap-servers", "localhost:1");
    settings.put("source.kafka.topic", "rows");
    settings.put("source.schema", "a INT, at TIMESTAMP(3)");
    settings.put("source.kafka.metadata.written", "timestamp");
    settings.put("sink.type", "discard");
    settings.put("where", where);
    return settings;
  }

  @Test
  void metadataColumnsAreNotOfTheRecords() {
    Map<String, String> settings = topics("a > 3");
    assertThat(plan(settings).sourceFilter()).isPresent();
    assertThat(plan(topics("written IS NOT NULL")).sourceFilter()).isEmpty();
    settings.put("source.watermark.column", "at");
    assertThat(plan(settings).sourceFilter()).isPresent();
    settings.put("source.watermark.column", "written");
    assertThat(plan(settings).sourceFilter()).isEmpty();
  }
}
