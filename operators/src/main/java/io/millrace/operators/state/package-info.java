// SPDX-License-Identifier: Apache-2.0
/** Keyed state of operators on batches: checkpoints of it, and its return from them. */
package io.millrace.operators.state;
