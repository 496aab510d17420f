// SPDX-License-Identifier: Apache-2.0
/** Rows of a table in another order, any row any number of times. */
package io.millrace.kernel.gather;
