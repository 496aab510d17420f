// SPDX-License-Identifier: Apache-2.0
/** Integers and floating-point numbers: operations, casts, parsing. */
package io.millrace.expression.function.numeric;
