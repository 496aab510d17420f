// SPDX-License-Identifier: Apache-2.0
/** Three-valued logic. */
package io.millrace.expression.function.logical;
