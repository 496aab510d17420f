// SPDX-License-Identifier: Apache-2.0
/** Assigns types to expressions: function lookup, implicit casts and constant folding. */
package io.millrace.expression.resolve;
