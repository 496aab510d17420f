// SPDX-License-Identifier: Apache-2.0
/** Lookups of keys in dimension tables, which are read again at intervals. */
package io.millrace.operators.lookup;
