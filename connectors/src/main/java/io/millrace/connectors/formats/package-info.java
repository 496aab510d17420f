// SPDX-License-Identifier: Apache-2.0
/**
 * Text formats: lines to rows with {@link io.millrace.connectors.formats.JsonLineParser} and {@link
 * io.millrace.connectors.formats.CsvLineParser}, tables to lines with {@link
 * io.millrace.connectors.formats.JsonLinesEncoder} and {@link
 * io.millrace.connectors.formats.CsvEncoder}. What is written is read back to the same values.
 */
package io.millrace.connectors.formats;
