// SPDX-License-Identifier: Apache-2.0
/** The expression API for users: columns, literals, functions and sort keys. */
package io.millrace.expression;
