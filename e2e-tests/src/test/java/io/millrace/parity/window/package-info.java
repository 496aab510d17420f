// SPDX-License-Identifier: Apache-2.0
/** Windows that emit changes, compared with those of Flink SQL. */
package io.millrace.parity.window;
