// SPDX-License-Identifier: Apache-2.0
/** Decompressed pages of Parquet to columns. Knows neither files nor compression. */
package io.millrace.format.parquet;
