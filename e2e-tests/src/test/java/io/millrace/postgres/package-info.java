// SPDX-License-Identifier: Apache-2.0
/** The PostgreSQL connector with a real database, which is also killed and restarted. */
package io.millrace.postgres;
