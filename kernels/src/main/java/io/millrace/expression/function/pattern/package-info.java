// SPDX-License-Identifier: Apache-2.0
/** LIKE, SIMILAR TO and regular expressions. */
package io.millrace.expression.function.pattern;
