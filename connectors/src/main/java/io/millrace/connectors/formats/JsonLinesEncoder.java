// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.json.JsonWriter;
import io.millrace.memory.MemoryResource;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes JSON lines, as {@link JsonWriter} does, that {@link JsonLineParser} reads back to the same
 * values.
 */
@PublicEvolving
public final class JsonLinesEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private final TimestampFormat timestamps;

  /** Timestamps are written as in ISO 8601. */
  public JsonLinesEncoder() {
    this(TimestampFormat.ISO_8601);
  }

  public JsonLinesEncoder(TimestampFormat timestamps) {
    this.timestamps = Objects.requireNonNull(timestamps, "timestamps are null");
  }

  @Override
  public String fileSuffix() {
    return ".jsonl";
  }

  @Override
  public void checkSupported(Schema schema) {
    JsonWriter.checkSupported(schema);
  }

  @Override
  public RecordWriter createWriter(Schema schema, DeviceStream stream, MemoryResource memory) {
    return new JsonWriter(schema, timestamps, stream, memory);
  }
}
