// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlTextException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.assertj.core.api.AbstractThrowableAssert;
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
        group-by:
          keys: [auction, eur]
          aggregates: {bids: COUNT(*), "the highest": MAX(eur)}
        sink: {format: arrow}
        batch.latency: 20ms
        """);
    EtlCommand command = new EtlCommand();
    new CommandLine(command).parseArgs("--config", file.toString(), "--input", "other.json");
    Configuration configuration = EtlOptions.parse(command.fileSettings(), command.givenSettings());
    assertThat(configuration.toMap())
        .containsEntry("source.path", "other.json")
        .containsEntry("source.schema", "auction BIGINT, price DECIMAL(10, 2)")
        .containsEntry("select", "auction, price AS eur")
        .containsEntry("group-by.keys", "auction, eur")
        .containsEntry("group-by.aggregates", "COUNT(*) AS `bids`, MAX(eur) AS `the highest`");
    assertThat(configuration.get(EtlOptions.SINK_FORMAT)).isEqualTo(Format.ARROW);
    assertThat(configuration.get(EtlOptions.BATCH_LATENCY)).isEqualTo(Duration.ofMillis(20));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sourc | x | there is no option 'sourc'; the options are source.type",
        "sink.format | xml | sink.format: expected one of json, csv, arrow, parquet, got 'xml'",
        "select | '' | select is empty; leave it out, or give it a value",
        "bad-rows.max | few | bad-rows.max: expected a number of rows such as 100 or a share such as 1%, got 'few'",
        "batch.latency | soon | batch.latency: expected a duration such as 100ms or 10s",
        "group-by.window.tumble | long | group-by.window.tumble: expected a duration such as 100ms or 10s",
        "source.events | many | source.events: expected a whole number, got 'many'",
        "parallelism | 0 | parallelism: expected at least 1, got 0",
        "source.events | -1 | source.events: expected at least 0, got -1",
        "source.rate | -5 | source.rate: expected at least 0, got -5",
        "batch.latency | 0ms | batch.latency: expected at least 1 ms, got 0 ms",
        "checkpoint.interval | 0s | checkpoint.interval: expected at least 1 ms, got 0 ms",
        "sink.rolling-policy.file-size | large | sink.rolling-policy.file-size: expected a size such as 128mb, got 'large'",
        "sink.compaction.file-size | 0 | sink.compaction.file-size: expected at least 1, got 0",
        "sink.compaction.checkpoints | 0 | sink.compaction.checkpoints: expected at least 1, got 0",
        "sink.auto-compaction | on | sink.auto-compaction: expected true or false, got 'on'"
      })
  void badOptionsAreSaidInOneLine(String key, String value, String message) {
    assertThatThrownBy(() -> EtlOptions.parse(Map.of(key, value)))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(message)
        .hasMessageNotContaining("\n");
  }

  private static final Map<String, String> FROM_CSV =
      Map.of("source.type", "files", "source.format", "csv");
  private static final Map<String, String> FROM_JSON = Map.of("source.type", "files");
  private static final Map<String, String> FAILING =
      Map.of("source.type", "files", "on-error", "fail");
  private static final Map<String, String> DISCARDED = Map.of("sink.type", "discard");
  private static final Map<String, String> TO_JSON = Map.of("sink.format", "json");

  /** Settings under which an option has an effect, and those under which it has none. */
  private record Effect(List<Map<String, String>> some, List<Map<String, String>> none) {}

  private static final Effect ALWAYS =
      new Effect(List.of(Map.of(), FROM_CSV, DISCARDED), List.of());
  private static final Effect GENERATED =
      new Effect(List.of(Map.of()), List.of(FROM_CSV, FROM_JSON));
  private static final Effect FROM_FILES =
      new Effect(List.of(FROM_CSV, FROM_JSON), List.of(Map.of()));
  private static final Effect TO_FILES = new Effect(List.of(Map.of(), TO_JSON), List.of(DISCARDED));
  private static final Map<String, String> JOINED = Map.of("sink.auto-compaction", "true");
  private static final Effect TO_JOINED_FILES =
      new Effect(
          List.of(JOINED, with(JOINED, "sink.format", "parquet")),
          List.of(Map.of(), TO_JSON, DISCARDED));
  private static final Map<String, String> GROUPS = Map.of("group-by.keys", "auction");
  private static final Effect GROUPED = new Effect(List.of(GROUPS), List.of(Map.of(), FROM_CSV));
  private static final Map<String, String> WINDOWS =
      Map.of("group-by.keys", "auction", "group-by.window.tumble", "1s");
  private static final Map<String, String> SESSIONS =
      Map.of("group-by.keys", "auction", "group-by.window.session", "1s");
  private static final Effect WINDOWED = new Effect(List.of(WINDOWS), List.of(Map.of(), GROUPS));
  private static final Map<String, String> WINDOWS_OF_FILES = with(WINDOWS, "source.path", "in");
  private static final Map<String, String> WINDOWS_WITH_WATERMARK =
      with(WINDOWS_OF_FILES, "source.watermark.column", "ts");
  private static final Effect SKIPPING =
      new Effect(List.of(FROM_CSV, FROM_JSON), List.of(Map.of(), FAILING));
  private static final Effect FROM_TOPICS =
      new Effect(List.of(Map.of("source.type", "kafka")), List.of(Map.of(), FROM_CSV));
  private static final Map<String, String> KAFKA = Map.of("source.type", "kafka");
  private static final Map<String, String> TOPIC = Map.of("sink.type", "kafka");
  private static final Map<String, String> ARROW_TOPIC = with(TOPIC, "sink.kafka.format", "arrow");
  private static final Effect FROM_AVRO =
      new Effect(
          List.of(with(KAFKA, "source.kafka.format", "avro")), List.of(Map.of(), FROM_CSV, KAFKA));
  private static final Effect TO_AVRO =
      new Effect(
          List.of(with(TOPIC, "sink.kafka.format", "avro")), List.of(Map.of(), DISCARDED, TOPIC));
  private static final Effect TO_TOPIC =
      new Effect(List.of(Map.of("sink.type", "kafka, files")), List.of(Map.of(), DISCARDED));
  private static final Effect TO_TABLE =
      new Effect(List.of(Map.of("sink.type", "postgres")), List.of(Map.of(), DISCARDED));

  private static final Map<String, Effect> EFFECTS =
      Map.ofEntries(
          Map.entry("source.type", ALWAYS),
          Map.entry("source.events", GENERATED),
          Map.entry("source.rate", GENERATED),
          Map.entry(
              "source.path",
              new Effect(List.of(Map.of(), FROM_CSV), List.of(Map.of("source.type", "nexmark")))),
          Map.entry("source.format", FROM_FILES),
          Map.entry("source.schema", FROM_FILES),
          Map.entry(
              "source.watermark.column",
              new Effect(List.of(WINDOWS_OF_FILES), List.of(Map.of(), FROM_CSV, WINDOWS))),
          Map.entry(
              "source.watermark.delay",
              new Effect(
                  List.of(WINDOWS_WITH_WATERMARK), List.of(Map.of(), WINDOWS, WINDOWS_OF_FILES))),
          Map.entry("where", ALWAYS),
          Map.entry("select", ALWAYS),
          Map.entry("group-by.keys", ALWAYS),
          Map.entry("group-by.aggregates", GROUPED),
          Map.entry("group-by.result", new Effect(List.of(GROUPS), List.of(Map.of(), WINDOWS))),
          Map.entry(
              "group-by.state-ttl",
              new Effect(
                  List.of(with(GROUPS, "group-by.result", "changes")),
                  List.of(Map.of(), GROUPS, WINDOWS))),
          Map.entry("group-by.two-phase", new Effect(List.of(GROUPS), List.of(Map.of(), WINDOWS))),
          Map.entry("group-by.window.tumble", GROUPED),
          Map.entry("group-by.window.hop.size", GROUPED),
          Map.entry("group-by.window.hop.slide", GROUPED),
          Map.entry("group-by.window.cumulate.max", GROUPED),
          Map.entry("group-by.window.cumulate.step", GROUPED),
          Map.entry("group-by.window.session", GROUPED),
          Map.entry("group-by.window.time", WINDOWED),
          Map.entry(
              "group-by.window.offset",
              new Effect(List.of(WINDOWS), List.of(Map.of(), GROUPS, SESSIONS))),
          Map.entry("group-by.window.early-firing", WINDOWED),
          Map.entry("group-by.window.allowed-lateness", WINDOWED),
          Map.entry(
              "group-by.window.late-rows",
              new Effect(
                  List.of(WINDOWS, SESSIONS),
                  List.of(Map.of(), GROUPS, with(WINDOWS, "sink.type", "discard")))),
          Map.entry("partition.by", new Effect(List.of(Map.of(), FROM_CSV), List.of(GROUPS))),
          Map.entry("sink.type", ALWAYS),
          Map.entry("source.kafka.bootstrap-servers", FROM_TOPICS),
          Map.entry("source.kafka.topic", FROM_TOPICS),
          Map.entry("source.kafka.format", FROM_TOPICS),
          Map.entry("source.avro.schema", FROM_AVRO),
          Map.entry("source.avro.registry", FROM_AVRO),
          Map.entry("source.avro.registry-user", FROM_AVRO),
          Map.entry("source.avro.registry-password-variable", FROM_AVRO),
          Map.entry("sink.avro.registry", TO_AVRO),
          Map.entry("sink.avro.registry-user", TO_AVRO),
          Map.entry("sink.avro.registry-password-variable", TO_AVRO),
          Map.entry("source.kafka.group", FROM_TOPICS),
          Map.entry("source.kafka.start", FROM_TOPICS),
          Map.entry("source.kafka.end", FROM_TOPICS),
          Map.entry(
              "source.watermark.idle",
              new Effect(
                  List.of(
                      with(with(WINDOWS, "source.watermark.column", "ts"), "source.type", "kafka")),
                  List.of(Map.of(), KAFKA, WINDOWS_WITH_WATERMARK))),
          Map.entry("sink.kafka.bootstrap-servers", TO_TOPIC),
          Map.entry("sink.kafka.topic", TO_TOPIC),
          Map.entry("sink.kafka.format", TO_TOPIC),
          Map.entry("sink.kafka.key", new Effect(List.of(TOPIC), List.of(Map.of(), ARROW_TOPIC))),
          Map.entry("sink.kafka.guarantee", TO_TOPIC),
          Map.entry(
              "sink.kafka.transactional-id-prefix",
              new Effect(
                  List.of(TOPIC),
                  List.of(Map.of(), with(TOPIC, "sink.kafka.guarantee", "at-least-once")))),
          Map.entry("sink.postgres.url", TO_TABLE),
          Map.entry("sink.postgres.user", TO_TABLE),
          Map.entry("sink.postgres.password-variable", TO_TABLE),
          Map.entry("sink.postgres.table", TO_TABLE),
          Map.entry("sink.postgres.key", TO_TABLE),
          Map.entry("sink.postgres.guarantee", TO_TABLE),
          Map.entry("sink.postgres.id", TO_TABLE),
          Map.entry("bad-rows.topic", FROM_TOPICS),
          Map.entry("sink.path", TO_FILES),
          Map.entry("sink.format", TO_FILES),
          Map.entry("sink.existing", TO_FILES),
          Map.entry("sink.rolling-policy.file-size", TO_FILES),
          Map.entry("sink.rolling-policy.rollover-interval", TO_FILES),
          Map.entry("sink.auto-compaction", TO_FILES),
          Map.entry("sink.compaction.file-size", TO_JOINED_FILES),
          Map.entry("sink.compaction.checkpoints", TO_JOINED_FILES),
          Map.entry(
              "csv.header",
              new Effect(List.of(Map.of(), FROM_JSON, FROM_CSV), List.of(TO_JSON, DISCARDED))),
          Map.entry(
              "csv.delimiter",
              new Effect(List.of(Map.of(), FROM_JSON, FROM_CSV), List.of(TO_JSON, DISCARDED))),
          Map.entry(
              "csv.quoted-line-feeds", new Effect(List.of(FROM_CSV), List.of(Map.of(), FROM_JSON))),
          Map.entry("on-error", FROM_FILES),
          Map.entry("bad-rows.path", SKIPPING),
          Map.entry("bad-rows.max", SKIPPING),
          Map.entry("batch.rows", ALWAYS),
          Map.entry("batch.latency", FROM_FILES),
          Map.entry("parallelism", ALWAYS),
          Map.entry("checkpoint.interval", ALWAYS),
          Map.entry("checkpoint.path", ALWAYS),
          Map.entry("savepoint.path", ALWAYS),
          Map.entry("millrace.device", ALWAYS));

  @Test
  void anOptionThatWouldBeIgnoredIsRefused() {
    assertThat(EFFECTS.keySet())
        .containsExactlyInAnyOrderElementsOf(
            EtlOptions.ALL.stream().map(ConfigOption::key).toList());
    for (ConfigOption<?> option : EtlOptions.ALL) {
      Effect effect = EFFECTS.get(option.key());
      for (Map<String, String> settings : effect.some) {
        assertThat(EtlOptions.parse(with(settings, option)).contains(option)).isTrue();
      }
      for (Map<String, String> settings : effect.none) {
        assertThatThrownBy(() -> EtlOptions.parse(with(settings, option)))
            .isInstanceOf(UsageException.class)
            .hasMessageStartingWith(option.key() + " has no effect here: it is used only where ");
        assertThatThrownBy(() -> EtlOptions.parse(with(settings, option), Map.of()))
            .isInstanceOf(UsageException.class);
      }
    }
  }

  private static Map<String, String> with(Map<String, String> settings, ConfigOption<?> option) {
    Object value = option.defaultValue();
    return with(
        settings,
        option.key(),
        value == null
            ? "1"
            : value instanceof List<?> list
                ? list.get(0).toString()
                : value instanceof Duration duration
                    ? duration.toMillis() + "ms"
                    : value.toString());
  }

  private static Map<String, String> with(Map<String, String> settings, String key, String value) {
    Map<String, String> all = new HashMap<>(settings);
    all.putIfAbsent(key, value);
    return all;
  }

  @Test
  void recordsOfAvroNeedASchemaOrARegistry() {
    Map<String, String> settings =
        Map.of(
            "source.type",
            "kafka",
            "source.kafka.bootstrap-servers",
            "broker:9092",
            "source.kafka.topic",
            "bids",
            "source.kafka.format",
            "avro",
            "source.schema",
            "price INT");
    String schema =
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":"
            + "[{\"name\":\"price\",\"type\":\"%s\"}]}";
    assertAvro(settings).hasMessageEndingWith("for records of Avro, got neither");
    Map<String, String> given = with(settings, "source.avro.schema", schema.formatted("int"));
    assertThat(EtlKafka.schema(EtlOptions.parse(given)).names()).containsExactly("price");
    assertAvro(with(given, "source.avro.registry", "http://host:8081"))
        .hasMessageEndingWith("for records of Avro, got both");
    assertAvro(with(settings, "source.avro.schema", schema.formatted("string")))
        .hasMessage(
            "source.schema: expected INT for column 'price', the writer's schema has string");
    assertAvro(with(settings, "source.avro.schema", "missing.avsc"))
        .hasMessageStartingWith("source.avro.schema: the file cannot be read: ");
    assertAvro(with(settings, "source.avro.registry", "host"))
        .hasMessageStartingWith(
            "source.avro.registry: expected the address of a registry over HTTP");
  }

  private static AbstractThrowableAssert<?, ?> assertAvro(Map<String, String> settings) {
    return assertThatThrownBy(() -> EtlKafka.schema(EtlOptions.parse(settings)))
        .isInstanceOf(UsageException.class);
  }

  @Test
  void anOptionOfTheFileMayBeIdleWhereTheCommandLineChangesWhatItDependsOn() {
    Map<String, String> file = Map.of("sink.path", "out", "sink.format", "arrow");
    assertThat(EtlOptions.parse(file, DISCARDED).get(EtlOptions.SINK_PATH)).isEqualTo("out");
  }

  @Test
  void eachOptionOfTheFileHasOneOnTheCommandLineAndAnExplanation() throws IOException {
    String page = Files.readString(Path.of("../docs/etl.md"));
    for (ConfigOption<?> option : EtlOptions.ALL) {
      assertThat(page).contains("`" + option.key() + "`");
    }
    for (CommandLine.Model.OptionSpec option :
        new CommandLine(new EtlCommand()).getCommandSpec().options()) {
      assertThat(page).contains("`" + option.longestName());
    }
  }

  @Test
  void anItemWithoutAValueIsRefused() throws IOException {
    Path file = folder.resolve("etl.yaml");
    Files.writeString(file, "select: [a, , b]");
    assertThatThrownBy(() -> YamlSettings.read(file)).isInstanceOf(UsageException.class);
    Files.writeString(file, "select:\n- a\n-\n");
    assertThatThrownBy(() -> YamlSettings.read(file)).hasMessage("select: item 2 is empty");
    Files.writeString(file, "source: {schema: {a: INT, b: }}");
    assertThatThrownBy(() -> YamlSettings.read(file))
        .hasMessage("source.schema: the type of column 'b' is empty");
    Files.writeString(file, "source: {schema: {my col: INT NOT NULL}}");
    assertThat(YamlSettings.read(file)).isEqualTo(Map.of("source.schema", "`my col` INT NOT NULL"));
    Files.writeString(file, "group-by: {aggregates: {n: COUNT(*), s: }}");
    assertThatThrownBy(() -> YamlSettings.read(file))
        .hasMessage("group-by.aggregates: the aggregate 's' is empty");
  }

  @Test
  void columnsAreReadAsSqlWritesThem() {
    Schema schema =
        SchemaParser.parse(
            "s", "a INT NOT NULL, `my ``col``, x` decimal(10, 2), r ROW<x INT NOT NULL, y INT>");
    assertThat(schema.names()).containsExactly("a", "my `col`, x", "r");
    assertThat(schema.field(0).nullable()).isFalse();
    assertThat(schema.field(1)).isEqualTo(Field.of("my `col`, x", DataType.decimal(10, 2)));
    assertThat(schema.type(2).fields().get(0).nullable()).isFalse();
    assertThat(SchemaParser.parseNames("a, `b, c`")).containsExactly("a", "b, c");
    assertThatThrownBy(() -> SchemaParser.parse("s", "`a INT"))
        .isInstanceOf(SqlTextException.class);
  }

  @Test
  void aFileThatIsNotYamlIsToldWithoutItsText() throws IOException {
    Path file = folder.resolve("broken.yaml");
    for (String broken :
        List.of("a: [1,\n  secret }", "a: 'x'\nb: *secret", "a: 1\nb: \"secret\" secret")) {
      Files.writeString(file, broken);
      assertThatThrownBy(() -> YamlSettings.read(file))
          .isInstanceOf(UsageException.class)
          .hasMessageContaining("broken.yaml is not YAML: see line 2, column ")
          .hasMessageNotContaining("secret");
    }
    Files.writeString(file, "a: [{password: secret}]");
    assertThatThrownBy(() -> YamlSettings.read(file))
        .isInstanceOf(UsageException.class)
        .hasMessage("a: item 1: expected text, got a mapping");
    assertThatThrownBy(() -> YamlSettings.read(folder.resolve("none.yaml")))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("cannot read the file");
  }
}
