// SPDX-License-Identifier: Apache-2.0
/** Attempts of device work that run again, alone or in halves, when memory runs out. */
package io.millrace.memory.retry;
