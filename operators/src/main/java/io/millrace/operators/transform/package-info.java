// SPDX-License-Identifier: Apache-2.0
/** Operators that map each batch to a batch. */
package io.millrace.operators.transform;
