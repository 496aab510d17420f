// SPDX-License-Identifier: Apache-2.0
/**
 * Sends batches to other subtasks: by the key group of their rows, or round robin. The upstream
 * side partitions each batch on the device and sends one part per target; the downstream side joins
 * the parts.
 */
package io.millrace.operators.exchange;
