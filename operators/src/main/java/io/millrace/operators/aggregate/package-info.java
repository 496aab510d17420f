// SPDX-License-Identifier: Apache-2.0
/** Aggregates of the rows of each key, with their changes as a changelog. */
package io.millrace.operators.aggregate;
