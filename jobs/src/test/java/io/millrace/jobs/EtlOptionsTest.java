package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.EtlOptions.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class EtlOptionsTest {
  @TempDir Path folder;

  @Test
  void optionsOfTheCommandLineWinOverTheFile() throws IOException {
    Path file = folder.resolve("etl.yaml");
    Files.writeString(
        file,
        """
        source:
          type: files
          path: bids.json
          schema:
            auction: BIGINT
            price: DECIMAL(10, 2)
        select: [auction, price AS eur]
        sink: {format: arrow}
        batch.latency: 20ms
        """);
    EtlCommand command = new EtlCommand();
    new CommandLine(command).parseArgs("--config", file.toString(), "--input", "other.json");
    Configuration configuration =
        EtlOptions.parse(command.fileSettings(), command.givenSettings());
    assertThat(configuration.toMap())
        .containsEntry("source.path", "other.json")
        .containsEntry("source.schema", "auction BIGINT, price DECIMAL(10, 2)")
        .containsEntry("select", "auction, price AS eur");
    assertThat(configuration.get(EtlOptions.SINK_FORMAT)).isEqualTo(Format.ARROW);
    assertThat(configuration.get(EtlOptions.BATCH_LATENCY)).isEqualTo(Duration.ofMillis(20));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sourc | x | there is no option 'sourc'; the options are source.type",
        "sink.format | xml | sink.format must be one of json, csv, arrow, but is 'xml'",
        "select | | select is empty; leave it out, or give it a value",
        "bad-rows.max | few | bad-rows.max must be a number of rows such as 100 or a share such as 1%, but is 'few'",
        "batch.latency | soon | batch.latency must be a duration such as 100ms or 10s",
        "source.events | many | source.events must be a whole number, but is 'many'",
        "parallelism | 0 | parallelism must be at least 1, but is 0",
        "source.events | -1 | source.events must be at least 0, but is -1",
        "source.rate | -5 | source.rate must be at least 0, but is -5",
        "batch.latency | 0ms | batch.latency must be at least 1 ms, but is 0 ms",
        "checkpoint.interval | 0s | checkpoint.interval must be at least 1 ms, but is 0 ms"
      })
  void badOptionsAreSaidInOneLine(String key, String value, String message) {
    assertThatThrownBy(() -> EtlOptions.parse(Map.of(key, value)))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void aFileThatIsNotYamlIsSaidInOneLine() throws IOException {
    Path file = folder.resolve("broken.yaml");
    Files.writeString(file, "a: [1,\nb: }");
    assertThatThrownBy(() -> YamlSettings.read(file))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("broken.yaml is not YAML")
        .hasMessageNotContaining("\n");
    assertThatThrownBy(() -> YamlSettings.read(folder.resolve("none.yaml")))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("cannot read the file");
  }
}
