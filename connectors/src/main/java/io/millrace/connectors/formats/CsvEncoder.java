// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.csv.CsvWriter;
import io.millrace.memory.MemoryResource;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes CSV, as {@link CsvWriter} does, that {@link CsvLineParser} reads back to the same values,
 * with the same options.
 *
 * <p>Strings may have line feeds in them, which only {@code LineFraming.QUOTED_LINE_FEED} reads.
 */
@PublicEvolving
public final class CsvEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private final CsvOptions options;
  private final TimestampFormat timestamps;

  /** Timestamps are written as in ISO 8601. */
  public CsvEncoder(CsvOptions options) {
    this(options, TimestampFormat.ISO_8601);
  }

  public CsvEncoder(CsvOptions options, TimestampFormat timestamps) {
    this.options = Objects.requireNonNull(options, "options are null");
    this.timestamps = Objects.requireNonNull(timestamps, "timestamps are null");
  }

  @Override
  public String fileSuffix() {
    return ".csv";
  }

  /** The header, if there is to be one. */
  @Override
  public byte[] fileStart(Schema schema) {
    if (!options.header()) {
      return new byte[0];
    }
    String header =
        schema.names().stream()
            .map(this::field)
            .collect(Collectors.joining(String.valueOf(options.delimiter()), "", "\n"));
    return header.getBytes(StandardCharsets.UTF_8);
  }

  private String field(String name) {
    boolean needsQuotes =
        name.isEmpty()
            || name.chars()
                .anyMatch(c -> c == options.delimiter() || c == '"' || c == '\n' || c == '\r');
    return needsQuotes ? '"' + name.replace("\"", "\"\"") + '"' : name;
  }

  @Override
  public void checkSupported(Schema schema) {
    CsvWriter.checkSupported(schema);
  }

  @Override
  public RecordWriter createWriter(Schema schema, DeviceStream stream, MemoryResource memory) {
    return new CsvWriter(schema, options.delimiter(), timestamps, stream, memory);
  }
}
