// SPDX-License-Identifier: Apache-2.0
/** Batches between the host and the device beside the work of the chain. */
package io.millrace.operators.transfer;
