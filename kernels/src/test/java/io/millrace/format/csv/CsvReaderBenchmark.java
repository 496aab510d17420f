// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.device.DeviceStream;
import io.millrace.format.FieldQuotes;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordReader;
import io.millrace.format.RecordReaderBenchmark;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import org.openjdk.jmh.annotations.Param;

/** Reads bids from CSV, whose line feeds may be within quotes or not. */
public class CsvReaderBenchmark extends RecordReaderBenchmark {
  @Param({"false", "true"})
  public boolean quotedLineFeeds;

  @Override
  protected RecordReader open(DeviceStream stream, MemoryResource memory) {
    return new CsvReader(CsvBidLines.SCHEMA, CsvReaderOptions.DEFAULT, stream, memory);
  }

  @Override
  protected byte[] text(int records) {
    return CsvBidLines.lines(records);
  }

  @Override
  protected RecordBytes find(Buffer text, DeviceStream stream, MemoryResource memory) {
    return quotedLineFeeds
        ? RecordBytes.quotedLines(text, FieldQuotes.DEFAULT, stream, memory)
        : RecordBytes.lines(text, stream, memory);
  }
}
