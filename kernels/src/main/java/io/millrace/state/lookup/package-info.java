// SPDX-License-Identifier: Apache-2.0
/** The rows of keys in state tables, without changing these. */
package io.millrace.state.lookup;
