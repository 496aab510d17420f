// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.record.ChangeEnvelope.Operation;
import io.millrace.format.record.RecordKernels.Strings;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * Where the rows of envelopes are, and what becomes of each, in the order of the records; both rows
 * of an update are next to each other. Made on the host: 20 bytes of a record are copied, beside
 * which no kernel is worth its launch.
 */
final class ChangeTexts {
  // The numbers of Flink's RowKind.
  private static final byte INSERT = 0;
  private static final byte UPDATE_BEFORE = 1;
  private static final byte UPDATE_AFTER = 2;
  private static final byte DELETE = 3;
  private static final int NO_TEXT = -1;
  // Starts, ends, and those of further texts.
  private static final int POSITIONS = 4;
  private static final int MAX_POSITIONS = Integer.MAX_VALUE - 8;

  private final ChangeEnvelope envelope;
  private final FoundTexts before;
  private final FoundTexts after;
  private final int[] positions;
  private final int[] records;
  private final byte[] kinds;
  private final Map<Integer, String> faults = new TreeMap<>();
  private boolean hasOthers;
  private int rows;

  /** The rows of no envelopes: none. */
  ChangeTexts() {
    this.envelope = null;
    this.before = null;
    this.after = null;
    this.positions = new int[0];
    this.records = new int[0];
    this.kinds = new byte[0];
  }

  /**
   * Waits for the stream.
   *
   * @param pass over envelopes, one or more
   * @param valid whether a record is an envelope
   */
  ChangeTexts(ChangeEnvelope envelope, RecordPass pass, IntPredicate valid) {
    RecordFields fields = pass.records().fields();
    this.envelope = envelope;
    this.before = new FoundTexts(pass, fields.indexOf(envelope.before()));
    this.after = new FoundTexts(pass, fields.indexOf(envelope.after()));
    int capacity = capacity((long) before.count() + after.count());
    this.positions = new int[POSITIONS * capacity];
    this.records = new int[capacity];
    this.kinds = new byte[capacity];
    addRows(pass, fields.indexOf(envelope.operation()), valid);
  }

  private static int capacity(long rows) {
    if (rows * POSITIONS > MAX_POSITIONS) {
      throw new GpuOutOfMemoryException(
          "expected at most " + MAX_POSITIONS / POSITIONS + " rows of changes, got up to " + rows);
    }
    return (int) rows;
  }

  private void addRows(RecordPass pass, int operation, IntPredicate valid) {
    DeviceStream stream = pass.records().stream();
    int count = pass.records().count();
    Strings column = pass.strings(operation);
    int[] offsets = HostCopy.integers(column.offsets(), count + 1, stream);
    byte[] text = HostCopy.bytes(column.bytes(), offsets[count], stream);
    for (int record = 0; record < count; record++) {
      if (valid.test(record)) {
        Operation what = envelope.operation(text, offsets[record], offsets[record + 1]);
        if (what == null) {
          String path = column.field().path();
          faults.put(record, "column '" + path + "': the value is not a known operation");
        } else {
          addRows(record, what);
        }
      }
    }
  }

  private void addRows(int record, Operation what) {
    boolean isUpdate = what == Operation.UPDATE;
    boolean isCanal = envelope == ChangeEnvelope.CANAL;
    boolean isDeleteOfBefore = what == Operation.DELETE && !isCanal;
    FoundTexts source = isDeleteOfBefore ? before : after;
    if (what == Operation.NONE || !checkPresent(source, record)) {
      return;
    }
    int count = source.count(record);
    if (isUpdate && count > 0 && !checkPresent(before, record)) {
      return;
    }
    if (isUpdate && before.count(record) < count) {
      faults.put(record, "column '" + before.field().path() + "' has too few rows");
      return;
    }
    for (int i = 0; i < count; i++) {
      if (isUpdate) {
        add(record, UPDATE_BEFORE, before, i, isCanal);
        add(record, UPDATE_AFTER, after, i, false);
      } else {
        add(record, what == Operation.INSERT ? INSERT : DELETE, source, i, false);
      }
    }
  }

  private boolean checkPresent(FoundTexts texts, int record) {
    if (!texts.isPresent(record)) {
      faults.put(record, "column '" + texts.field().path() + "' is null or missing");
    }
    return texts.isPresent(record);
  }

  /**
   * @param isPartial whether members that the text lacks are those of the row after the change
   */
  private void add(int record, byte kind, FoundTexts texts, int element, boolean isPartial) {
    int capacity = records.length;
    positions[rows] = texts.start(record, element);
    positions[capacity + rows] = texts.end(record, element);
    positions[2 * capacity + rows] = isPartial ? after.start(record, element) : NO_TEXT;
    positions[3 * capacity + rows] = isPartial ? after.end(record, element) : NO_TEXT;
    hasOthers |= isPartial;
    records[rows] = record;
    kinds[rows] = kind;
    rows++;
  }

  int rows() {
    return rows;
  }

  /** The record of each row. */
  int[] records() {
    return Arrays.copyOf(records, rows);
  }

  /** Why envelopes are malformed, by record. */
  Map<Integer, String> faults() {
    return faults;
  }

  /** A copy on the device of the positions; the caller's. */
  Buffer copyPositions(DeviceStream stream, MemoryResource memory) {
    long bytes = (long) positions.length * Integer.BYTES;
    try (StagingBuffer staged = stream.device().stagingPool().acquire(Math.max(1, bytes))) {
      for (int i = 0; i < positions.length; i++) {
        HostMemory.putInt(staged.address() + (long) i * Integer.BYTES, positions[i]);
      }
      Buffer copy = Buffer.copyOf(staged.address(), bytes, stream, memory);
      stream.synchronize();
      return copy;
    }
  }

  /**
   * The rows, one or more, as texts.
   *
   * @param bytes address that positions count from
   * @param copied address of {@link #copyPositions}
   */
  RecordTexts texts(long bytes, long copied) {
    long each = (long) records.length * Integer.BYTES;
    return new RecordTexts(
        bytes,
        copied,
        copied + each,
        hasOthers ? copied + 2 * each : 0,
        hasOthers ? copied + 3 * each : 0,
        0,
        0,
        rows);
  }

  /** A copy on the device of an INT8 for each row, the number of its kind; the caller's. */
  Buffer copyKinds(DeviceStream stream, MemoryResource memory) {
    try (StagingBuffer staged = stream.device().stagingPool().acquire(Math.max(1, rows))) {
      HostMemory.copyFromArray(staged.address(), kinds, 0, rows);
      Buffer copy = Buffer.copyOf(staged.address(), rows, stream, memory);
      stream.synchronize();
      return copy;
    }
  }
}
