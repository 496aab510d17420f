// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import java.util.List;

/** The operations of json.cu, on the host or by its kernels. Addresses are on the device. */
interface JsonKernels {
  PerDevice<JsonKernels> KERNELS =
      new PerDevice<>(host -> new HostJsonKernels(), CudaJsonKernels::new);

  /**
   * Where the values of a field go; an address is 0 where a field has none.
   *
   * @param values of fixed width; of a string the INT32 position of its bytes, with the highest bit
   *     if there are escapes among them, in a form of its own for each device
   * @param second of a string INT32 offsets, one more than rows; of a timestamp in two parts the
   *     INT32 nanoseconds
   * @param validity a bit per row; 0 if the field may not be null
   */
  record Target(long values, long second, long validity) {}

  /**
   * Records to be read.
   *
   * @param plan what {@link JsonFields#write} wrote
   * @param powers the powers of five of {@link io.millrace.format.text.FloatingPoint}
   * @param positions an INT32 for each record, and one more
   * @param errors an INT64 for each record: {@link JsonError#word}
   * @param scratch address of {@link #scratchBytes} bytes
   * @param result address of {@link #resultBytes} bytes that the host and the device reach
   */
  record Records(
      JsonFields fields,
      long plan,
      long powers,
      long bytes,
      long positions,
      int count,
      List<Target> targets,
      long errors,
      long scratch,
      long result,
      DeviceStream stream) {

    /** The address of the INT32 number of nulls of a field. */
    long nullCount(int field) {
      return result + (long) field * Integer.BYTES;
    }

    /** The address of the INT32 number of records of {@link JsonError#UNDECIDED}. */
    long undecided() {
      return nullCount(fields.size());
    }

    /** The address of the INT64 number of bytes of a string field. */
    long stringBytes(int string) {
      return result + countBytes(fields) + (long) string * Long.BYTES;
    }
  }

  /** The bytes of a string field, once they have a place. */
  record Strings(long starts, long offsets, long bytes) {}

  /** Bytes of a number for each field and one more, in whole words. */
  static int countBytes(JsonFields fields) {
    return (fields.size() / 2 + 1) * Long.BYTES;
  }

  static int resultBytes(JsonFields fields) {
    return countBytes(fields) + fields.strings() * Long.BYTES;
  }

  /** Bytes of scratch memory. */
  long scratchBytes(JsonFields fields, int count);

  /**
   * Reads the records, except the bytes of strings. What is null has zeros for its value. Waits for
   * the work.
   */
  void parse(Records records);

  /**
   * Copies the bytes of strings. Enqueued.
   *
   * @param strings those of each string field
   */
  void copyStrings(Records records, List<Strings> strings);
}
