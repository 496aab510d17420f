// SPDX-License-Identifier: Apache-2.0
/** What a query reads of files: columns of partitions, conditions and a limit. */
package io.millrace.connectors.files.scan;
