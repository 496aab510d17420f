// SPDX-License-Identifier: Apache-2.0
/** Tables of PostgreSQL as dimension tables for lookups. */
package io.millrace.connectors.postgres.dimension;
