// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

/**
 * Where the texts of records, or of elements in them, are on the device.
 *
 * @param bytes address that positions count from
 * @param starts address of an INT32 for the first byte of each text
 * @param ends address of an INT32 for the place behind each text
 * @param count of texts
 */
record RecordTexts(long bytes, long starts, long ends, int count) {}
