// SPDX-License-Identifier: Apache-2.0
/** Host vectors with the values of a chunk of rows, and functions over them. */
package io.millrace.expression.vector;
