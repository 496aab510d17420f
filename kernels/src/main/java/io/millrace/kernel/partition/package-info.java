// SPDX-License-Identifier: Apache-2.0
/** Stable partitioning of tables: by the hash of keys, by a given column, in turns. */
package io.millrace.kernel.partition;
