// SPDX-License-Identifier: Apache-2.0
/** The order of rows by key columns. */
package io.millrace.kernel.sort;
