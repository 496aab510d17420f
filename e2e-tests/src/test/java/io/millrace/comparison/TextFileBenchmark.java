// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.block.TextBlockFormat;
import io.millrace.connectors.files.block.TextDecodingOperator;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.records.CsvRecordFormat;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.formats.csv.CsvReaderFormat;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Bids from files of JSON lines or of CSV, a filter and a projection, by key to files of CSV, by
 * Millrace and by stock Flink, which reads each line of JSON by Jackson and each line of CSV by
 * {@code CsvReaderFormat}, which also uses Jackson. Two subtasks of each operator; objects are
 * reused. The processor time is that of the whole process, from the start of a job to its end. Both
 * write the same lines. The jobs run in turn, some rounds, of which the first does not count.
 */
public final class TextFileBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("auction", DataType.INT64),
          Field.of("bidder", DataType.INT64),
          Field.of("price", DataType.INT64),
          Field.of("channel", DataType.STRING),
          Field.of("dateTime", DataType.timestamp(3)),
          Field.of("extra", DataType.STRING));
  private static final long MIN_PRICE = 50_000_000;
  private static final BigDecimal RATE = new BigDecimal("0.908");
  private static final int FILES = 8;
  private static final int BATCH_ROWS = 1 << 16;

  private final Format format;
  private final MiniCluster cluster;
  private final Path input;
  private final Path output;
  private final long rows;

  private TextFileBenchmark(Format format, MiniCluster cluster, Path folder, long rows) {
    this.format = format;
    this.cluster = cluster;
    this.input = folder.resolve("in");
    this.output = folder.resolve("out");
    this.rows = rows;
  }

  /** The format of the files that are read. */
  private enum Format {
    JSON,
    CSV
  }

  /** A bid as Jackson reads it. */
  @JsonPropertyOrder({"auction", "bidder", "price", "channel", "dateTime", "extra"})
  public static final class Bid {
    public long auction;
    public long bidder;
    public long price;
    public String channel;
    public String dateTime;
    public String extra;
  }

  /** Reads a line. */
  private static final class ReadBid extends RichMapFunction<String, Bid> {
    private static final long serialVersionUID = 1L;

    private transient ObjectMapper mapper;

    @Override
    public Bid map(String line) throws IOException {
      if (mapper == null) {
        mapper = new ObjectMapper();
      }
      return mapper.readValue(line, Bid.class);
    }
  }

  /** Runs the jobs. Arguments: json or csv, Ki rows, the number of rounds. */
  public static void main(String[] arguments) throws Exception {
    Format format = Format.valueOf(arguments[0].toUpperCase(Locale.ROOT));
    long rows = Long.parseLong(arguments[1]) << 10;
    int rounds = Integer.parseInt(arguments[2]);
    Path folder = Files.createTempDirectory("text-files");
    MiniCluster cluster = BidJob.cluster();
    try {
      cluster.start();
      new TextFileBenchmark(format, cluster, folder, rows).report(rounds);
    } finally {
      cluster.closeAsync().join();
      delete(folder);
    }
  }

  private void report(int rounds) throws Exception {
    writeInput();
    double[] stock = new double[rounds];
    double[] ours = new double[rounds];
    for (int round = -1; round < rounds; round++) {
      double stockNanos = run(this::stock);
      String[] expected = lines();
      double nanos = run(this::millrace);
      if (!Arrays.equals(expected, lines())) {
        throw new IllegalStateException("expected the same lines of both jobs");
      }
      System.err.printf(
          Locale.ROOT, "round %d: stock %.0f, Millrace %.0f ns a row%n", round, stockNanos, nanos);
      if (round >= 0) {
        stock[round] = stockNanos;
        ours[round] = nanos;
      }
    }
    System.out.println("| job | processor ns a row, in each round |");
    System.out.println("|---|---|");
    System.out.println("| stock Flink | " + Arrays.toString(stock) + " |");
    System.out.println("| Millrace | " + Arrays.toString(ours) + " |");
    for (int round = 0; round < rounds; round++) {
      System.out.printf(Locale.ROOT, "ratio %.2f%n", stock[round] / ours[round]);
    }
  }

  private void writeInput() throws IOException {
    Files.createDirectories(input);
    Random random = new Random(1);
    for (int file = 0; file < FILES; file++) {
      try (BufferedWriter writer = Files.newBufferedWriter(input.resolve(file + ".txt"))) {
        for (long i = 0; i < rows / FILES; i++) {
          writer.write(format == Format.JSON ? BidJob.jsonBid(random) : BidJob.csvBid(random));
          writer.write('\n');
        }
      }
    }
  }

  private double run(BidJob job) throws Exception {
    delete(output);
    return job.run(cluster, Duration.ofSeconds(5), rows);
  }

  private void stock(StreamExecutionEnvironment environment) {
    (format == Format.JSON ? jsonBids(environment) : csvBids(environment))
        .filter(bid -> bid.price > MIN_PRICE)
        .map(
            bid ->
                Tuple4.of(
                    bid.auction,
                    bid.bidder,
                    BigDecimal.valueOf(bid.price).multiply(RATE),
                    bid.channel))
        .returns(Types.TUPLE(Types.LONG, Types.LONG, Types.BIG_DEC, Types.STRING))
        .keyBy(bid -> bid.f0)
        .map(bid -> bid.f0 + "," + bid.f1 + "," + bid.f2.toPlainString() + "," + bid.f3)
        .sinkTo(
            FileSink.forRowFormat(flinkPath(output), new SimpleStringEncoder<String>()).build());
  }

  private DataStream<Bid> jsonBids(StreamExecutionEnvironment environment) {
    return environment
        .fromSource(
            FileSource.forRecordStreamFormat(new TextLineInputFormat(), flinkPath(input)).build(),
            WatermarkStrategy.noWatermarks(),
            "lines")
        .map(new ReadBid());
  }

  private DataStream<Bid> csvBids(StreamExecutionEnvironment environment) {
    return environment.fromSource(
        FileSource.forRecordStreamFormat(CsvReaderFormat.forPojo(Bid.class), flinkPath(input))
            .build(),
        WatermarkStrategy.noWatermarks(),
        "lines");
  }

  private void millrace(StreamExecutionEnvironment environment) throws IOException {
    TextFileSource files = TextFileSource.of(List.of(input.toString()));
    ColumnStream bids =
        ColumnStream.fromBatches(
            TextDecodingOperator.decode(
                environment.fromSource(
                    files.create(new TextBlockFormat(files.lines())),
                    WatermarkStrategy.noWatermarks(),
                    "lines"),
                format == Format.JSON
                    ? new JsonRecordFormat(SCHEMA)
                    : new CsvRecordFormat(SCHEMA, CsvOptions.DEFAULT),
                files.lines(),
                MalformedLinePolicy.FAIL,
                BATCH_ROWS,
                Optional.empty()));
    ColumnStream selected =
        bids.filter(col("price").gt(MIN_PRICE))
            .select(
                col("auction"),
                col("bidder"),
                col("price").times(lit(RATE)).as("eur"),
                col("channel"))
            .keyBy("auction");
    FileSinks.write(
        selected.toBatches(),
        selected.schema(),
        new CsvEncoder(CsvOptions.DEFAULT),
        flinkPath(output));
  }

  private static org.apache.flink.core.fs.Path flinkPath(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri());
  }

  private String[] lines() throws IOException {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.walk(output)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        lines.addAll(Files.readAllLines(file));
      }
    }
    String[] sorted = lines.toArray(String[]::new);
    Arrays.sort(sorted);
    return sorted;
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted((left, right) -> right.compareTo(left)).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
