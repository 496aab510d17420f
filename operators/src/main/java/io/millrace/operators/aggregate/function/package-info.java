// SPDX-License-Identifier: Apache-2.0
/** Aggregate functions of one's own. */
package io.millrace.operators.aggregate.function;
