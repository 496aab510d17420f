// SPDX-License-Identifier: Apache-2.0
/** Bytes of records to tables: what all formats have in common. */
package io.millrace.format;
