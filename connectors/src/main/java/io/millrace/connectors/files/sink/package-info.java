// SPDX-License-Identifier: Apache-2.0
/**
 * Files as sinks, each row exactly once: batches to bytes, and when files are closed. {@link
 * io.millrace.connectors.files.sink.FileSinks} has the formats of lines and of Arrow.
 */
package io.millrace.connectors.files.sink;
