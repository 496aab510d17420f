// SPDX-License-Identifier: Apache-2.0
/** Expressions and schemas written as SQL. */
package io.millrace.operators.sql;
