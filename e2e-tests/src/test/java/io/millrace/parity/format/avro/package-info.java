// SPDX-License-Identifier: Apache-2.0
/** Avro to columns and back, against Flink's format {@code avro}. */
package io.millrace.parity.format.avro;
