// SPDX-License-Identifier: Apache-2.0
/** Functions and casts of strings. */
package io.millrace.expression.function.string;
