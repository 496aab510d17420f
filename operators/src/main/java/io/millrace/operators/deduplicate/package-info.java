// SPDX-License-Identifier: Apache-2.0
/** De-duplication: one row of each key. */
package io.millrace.operators.deduplicate;
