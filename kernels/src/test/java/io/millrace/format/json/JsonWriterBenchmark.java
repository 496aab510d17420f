// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.RecordWriterBenchmark;
import io.millrace.memory.MemoryResource;

/** Writes bids as lines of JSON, of about 243 bytes. */
public class JsonWriterBenchmark extends RecordWriterBenchmark {
  @Override
  protected RecordWriter open(DeviceStream stream, MemoryResource memory) {
    return new JsonWriter(JsonBidLines.SCHEMA, stream, memory);
  }
}
