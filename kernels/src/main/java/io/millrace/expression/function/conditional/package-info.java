// SPDX-License-Identifier: Apache-2.0
/** Conditional functions. */
package io.millrace.expression.function.conditional;
