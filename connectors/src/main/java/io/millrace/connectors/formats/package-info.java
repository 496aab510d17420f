// SPDX-License-Identifier: Apache-2.0
/**
 * Formats: lines to rows with {@link io.millrace.connectors.formats.JsonLineParser} and {@link
 * io.millrace.connectors.formats.CsvLineParser}; tables to files with {@link
 * io.millrace.connectors.formats.RecordEncoder} and {@link
 * io.millrace.connectors.formats.TableEncoder}. What is written is read back to the same values.
 */
package io.millrace.connectors.formats;
