// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import org.apache.flink.annotation.Internal;

/**
 * Rows in the form of files.
 *
 * @param folder of the files, below that of the sink, as in {@code day=2026-11-26/}
 * @param bytes not copied
 */
@Internal
@SuppressWarnings("ArrayRecordComponent") // no rows are compared
public record EncodedRows(String folder, byte[] bytes) {}
