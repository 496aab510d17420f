// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import java.util.List;

/**
 * The operations of record_columns.cuh for a format, on the host or by its kernels. Addresses are
 * on the device.
 */
@Internal
public interface RecordKernels {
  /**
   * Where the values of a field go; an address is 0 where a field has none.
   *
   * @param values of fixed width; of a string the INT32 position of its first byte, with the
   *     highest bit if it is written otherwise than it is; of a list an INT64, the position of its
   *     first byte, and in the high half what the format needs to find its elements; in a form of
   *     its own for each device
   * @param second of a string or list INT32 offsets, one more than rows; of a timestamp in two
   *     parts the INT32 nanoseconds
   * @param validity a bit per row; 0 if the field may not be null
   */
  record Target(long values, long second, long validity) {}

  /**
   * Records to be read.
   *
   * @param plan what {@link RecordFields#write} wrote, and behind it {@link RecordFormat#write}
   * @param powers the powers of five of {@link io.millrace.format.text.FloatingPoint}
   * @param positions an INT32 for the first byte of each record
   * @param ends an INT32 for the place behind each record
   * @param others as in {@link RecordTexts}
   * @param otherEnds likewise
   * @param programs likewise
   * @param kept likewise
   * @param errors an INT64 for each record: {@link RecordError#word}
   * @param scratch address of {@link #scratchBytes} bytes
   * @param result address of {@link #resultBytes} bytes that the host and the device reach
   */
  record Records(
      RecordFormat format,
      RecordFields fields,
      long plan,
      long powers,
      long bytes,
      long positions,
      long ends,
      long others,
      long otherEnds,
      long programs,
      long kept,
      int count,
      List<Target> targets,
      long errors,
      long scratch,
      long result,
      DeviceStream stream) {

    /** These records, of which only some have strings that are copied; {@link RecordTexts}. */
    Records withKept(long newKept) {
      return new Records(
          format, fields, plan, powers, bytes, positions, ends, others, otherEnds, programs,
          newKept, count, targets, errors, scratch, result, stream);
    }

    /** The address of the INT32 number of nulls of a field. */
    long nullCount(int field) {
      return result + (long) field * Integer.BYTES;
    }

    /** The address of the INT32 number of records of {@link RecordError#UNDECIDED}. */
    long undecided() {
      return nullCount(fields.size());
    }

    /** The address of the INT64 number of bytes or elements of a field of strings or lists. */
    long stringBytes(int string) {
      return result + countBytes(fields) + (long) string * Long.BYTES;
    }
  }

  /**
   * The kernels of a format on each device.
   *
   * @param module the name of the format's CUDA module, with which the names of its kernels begin
   */
  static PerDevice<RecordKernels> ofModule(String module) {
    return new PerDevice<>(
        host -> new HostRecordKernels(), device -> new CudaRecordKernels(device, module));
  }

  /** The bytes of a string field, once they have a place. */
  record Strings(RecordField field, long starts, long offsets, long bytes) {}

  /** Bytes of a number for each field and one more, in whole words. */
  static int countBytes(RecordFields fields) {
    return (fields.size() / 2 + 1) * Long.BYTES;
  }

  static int resultBytes(RecordFields fields) {
    return countBytes(fields) + fields.strings() * Long.BYTES;
  }

  /** Bytes of scratch memory. */
  long scratchBytes(RecordFields fields, int count);

  /**
   * Reads the records, except the bytes of strings. What is null has zeros for its value. Enqueued.
   */
  void parse(Records records);

  /**
   * Makes offsets of the lengths of strings and lists, and counts nulls, bytes and elements, after
   * the records were parsed. Strings of records that are not kept have no bytes, unless the record
   * is undecided. Waits for the work.
   */
  void sumLengths(Records records);

  /**
   * Finds the elements of the lists of a field, after their lengths were summed. Enqueued.
   *
   * @param field the number of a field of lists
   * @param starts an INT32 for the first byte of each element
   * @param ends an INT32 for the place behind each element
   * @param programs an INT32 for the number of the program that reads each element; 0 if the format
   *     has none
   * @param kept an INT8 for each element, whether the record is kept; 0 if all are
   */
  void findElements(Records records, int field, long starts, long ends, long programs, long kept);

  /**
   * Copies the bytes of strings. Enqueued.
   *
   * @param strings those of each string field
   */
  void copyStrings(Records records, List<Strings> strings);
}
