// SPDX-License-Identifier: Apache-2.0
/** Decimal arithmetic, functions and casts. */
package io.millrace.expression.function.decimal;
