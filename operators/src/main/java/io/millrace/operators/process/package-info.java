// SPDX-License-Identifier: Apache-2.0
/** Functions of users over the batches of a keyed stream and state of the keys. */
package io.millrace.operators.process;
