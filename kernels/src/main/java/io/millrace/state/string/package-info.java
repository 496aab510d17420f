// SPDX-License-Identifier: Apache-2.0
/** The strings of keyed state: where the long ones lie, and strings of rows as columns. */
package io.millrace.state.string;
