// SPDX-License-Identifier: Apache-2.0
/** Processes that tests start, and waiting for what they do. */
package io.millrace.process;
