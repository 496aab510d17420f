// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.DeviceStream;
import io.millrace.format.BidLines;
import io.millrace.format.RecordWriter;
import io.millrace.format.RecordWriterBenchmark;
import io.millrace.memory.MemoryResource;

/** Writes bids as datums of Avro. */
public class AvroWriterBenchmark extends RecordWriterBenchmark {
  @Override
  protected RecordWriter open(DeviceStream stream, MemoryResource memory) {
    return new AvroWriter(BidLines.SCHEMA, stream, memory);
  }
}
