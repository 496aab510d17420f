// SPDX-License-Identifier: Apache-2.0
/**
 * Sends batches to other subtasks: by the key group of their rows, or in turns. The upstream side
 * partitions on the device and sends one part a target; the downstream side joins the parts again.
 */
package io.millrace.operators.exchange;
