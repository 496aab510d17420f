// SPDX-License-Identifier: Apache-2.0
/** Functions of SQL over ROW, ARRAY and MAP. */
package io.millrace.expression.function.nested;
