// SPDX-License-Identifier: Apache-2.0
/** Tables to and from the binary format of PostgreSQL's COPY. */
package io.millrace.connectors.postgres.copy;
