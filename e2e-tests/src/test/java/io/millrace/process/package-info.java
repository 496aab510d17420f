// SPDX-License-Identifier: Apache-2.0
/** Processes that tests start, waiting for what they do, and the files that they commit. */
package io.millrace.process;
