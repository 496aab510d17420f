// SPDX-License-Identifier: Apache-2.0
/** Encoded tables of files, each of which a source reads whole and an operator decodes in parts. */
package io.millrace.connectors.files.message;
