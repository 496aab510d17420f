/** Batches between the host and the device beside the work of the chain. */
package io.millrace.operators.transfer;
