// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;

/**
 * A record that is not a row.
 *
 * @param record its number among the records
 * @param start the position of its first byte
 * @param length bytes
 * @param position bytes of the record before the place where the fault was found
 * @param reason what the fault is, and of which field
 */
@PublicEvolving
public record MalformedRecord(int record, int start, int length, int position, String reason) {}
