// SPDX-License-Identifier: Apache-2.0
/** PostgreSQL: connections, and what sinks and sources ask of its catalog. */
package io.millrace.connectors.postgres;
