// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.device.DeviceStream;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.RecordReader;
import io.millrace.memory.MemoryResource;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiFunction;

/** Reads records with a reader of Millrace on a test's device. */
public final class MillraceRecords {
  private static final RecordResult NO_ROW = RecordResult.of(List.of());

  private MillraceRecords() {}

  /**
   * The result of each record.
   *
   * @param open makes the reader
   */
  public static List<RecordResult> read(
      BiFunction<DeviceStream, MemoryResource, RecordReader> open,
      List<byte[]> records,
      DeviceExtension device) {
    try (RecordBytes bytes = RecordLines.records(records, device);
        RecordReader reader = open.apply(device.stream(), device.memory());
        ParsedRecords parsed = reader.read(bytes)) {
      List<RecordResult> results = new ArrayList<>(Collections.nCopies(records.size(), NO_ROW));
      List<List<Object>> rows = device.rows(parsed.table());
      for (int row = 0; row < rows.size(); row++) {
        List<List<Object>> ofRecord = new ArrayList<>(results.get(parsed.recordOf(row)).rows());
        ofRecord.add(rows.get(row));
        results.set(parsed.recordOf(row), RecordResult.of(ofRecord));
      }
      for (MalformedRecord malformed : parsed.malformed()) {
        results.set(malformed.record(), RecordResult.malformed(malformed.reason()));
      }
      return results;
    }
  }
}
