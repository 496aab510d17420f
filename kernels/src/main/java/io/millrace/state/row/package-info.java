// SPDX-License-Identifier: Apache-2.0
/** The rows of state tables: their schema, the words of their keys and values, and their memory. */
package io.millrace.state.row;
