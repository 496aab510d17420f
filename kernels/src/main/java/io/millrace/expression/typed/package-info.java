// SPDX-License-Identifier: Apache-2.0
/** Expressions with known types and bound functions. */
package io.millrace.expression.typed;
