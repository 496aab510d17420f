// SPDX-License-Identifier: Apache-2.0
/** Rows to columns and back: Flink's RowData, Row and POJOs on one side, tables on the other. */
package io.millrace.operators.row;
