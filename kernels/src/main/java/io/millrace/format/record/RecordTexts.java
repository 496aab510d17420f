// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

/**
 * Where the texts of records, or of elements in them, are on the device.
 *
 * @param bytes address that positions count from
 * @param starts address of an INT32 for the first byte of each text
 * @param ends address of an INT32 for the place behind each text
 * @param others address of an INT32 for the first byte of a further text of each record, negative
 *     for a record without one; 0 if no record has one
 * @param otherEnds address of an INT32 for the place behind each of these
 * @param programs address of the INT32 number of the program that reads each element; 0 if the
 *     format has none, or the texts are records
 * @param kept address of an INT8 for each text, whether the strings in it are copied; 0 if all are
 * @param count of records
 */
record RecordTexts(
    long bytes,
    long starts,
    long ends,
    long others,
    long otherEnds,
    long programs,
    long kept,
    int count) {
  static final RecordTexts NONE = new RecordTexts(0, 0, 0, 0, 0, 0, 0, 0);

  /** One text for each record. */
  RecordTexts(long bytes, long starts, long ends, int count) {
    this(bytes, starts, ends, 0, 0, 0, 0, count);
  }
}
