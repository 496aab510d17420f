// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.DeviceStream;
import io.millrace.format.RecordReader;
import io.millrace.format.RecordReaderBenchmark;
import io.millrace.memory.MemoryResource;

/** Reads bids from lines of JSON. */
public class JsonReaderBenchmark extends RecordReaderBenchmark {
  @Override
  protected RecordReader open(DeviceStream stream, MemoryResource memory) {
    return new JsonReader(JsonBidLines.SCHEMA, stream, memory);
  }

  @Override
  protected byte[] text(int records) {
    return JsonBidLines.lines(records);
  }
}
