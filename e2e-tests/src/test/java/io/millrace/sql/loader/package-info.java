// SPDX-License-Identifier: Apache-2.0
/** SQL with the planner behind a class loader of its own, as in a distribution. */
package io.millrace.sql.loader;
