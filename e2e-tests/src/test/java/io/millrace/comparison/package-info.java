// SPDX-License-Identifier: Apache-2.0
/** Jobs with keyed state against the same jobs by stock Flink SQL: rows per second. */
package io.millrace.comparison;
