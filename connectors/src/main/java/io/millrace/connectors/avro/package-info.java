// SPDX-License-Identifier: Apache-2.0
/** Schemas of Avro, from text and from registries, and the records that have them. */
package io.millrace.connectors.avro;
