// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.memory.Buffer;

/** Where the elements of a field's lists are, on the host. */
final class FoundTexts {
  private final RecordField field;
  private final int[] offsets;
  private final int[] validity;
  private final int[] starts;
  private final int[] ends;

  /**
   * Waits for the stream.
   *
   * @param pass over one record or more
   * @param index the number of a nullable field of lists
   */
  FoundTexts(RecordPass pass, int index) {
    DeviceStream stream = pass.records().stream();
    Target lists = pass.records().targets().get(index);
    int records = pass.records().count();
    int count = pass.elementCount(index);
    int words = (records - 1) / Integer.SIZE + 1;
    this.field = pass.records().fields().get(index);
    this.offsets = HostCopy.integers(lists.second(), records + 1, stream);
    this.validity = HostCopy.integers(lists.validity(), words, stream);
    if (count == 0) {
      this.starts = new int[0];
      this.ends = new int[0];
      return;
    }
    try (Buffer found = pass.allocateElements(index)) {
      RecordTexts texts = pass.findElements(index, found);
      this.starts = HostCopy.integers(texts.starts(), count, stream);
      this.ends = HostCopy.integers(texts.ends(), count, stream);
    }
  }

  RecordField field() {
    return field;
  }

  /** Whether the field is there, and not null. */
  boolean isPresent(int record) {
    return (validity[record / Integer.SIZE] >> record & 1) != 0;
  }

  /** The elements of all records. */
  int count() {
    return starts.length;
  }

  /** The elements of a record. */
  int count(int record) {
    return offsets[record + 1] - offsets[record];
  }

  /** The first byte of an element of a record. */
  int start(int record, int element) {
    return starts[offsets[record] + element];
  }

  /** The place behind an element of a record. */
  int end(int record, int element) {
    return ends[offsets[record] + element];
  }
}
