// SPDX-License-Identifier: Apache-2.0
/** Exceptions for invalid expressions and for rows that fail. */
package io.millrace.expression.error;
