// SPDX-License-Identifier: Apache-2.0
/** Functions and casts of dates, times and timestamps. */
package io.millrace.expression.function.temporal;
