// SPDX-License-Identifier: Apache-2.0
/** De-duplication: rankings that keep the first or the last row of each key. */
package io.millrace.operators.sql.planner.deduplicate;
