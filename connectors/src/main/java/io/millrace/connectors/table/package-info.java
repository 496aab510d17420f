// SPDX-License-Identifier: Apache-2.0
/** What the tables of all connectors share: options, formats, columns that a source reads. */
package io.millrace.connectors.table;
