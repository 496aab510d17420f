// SPDX-License-Identifier: Apache-2.0
/** Hash functions of keys, each with the bits of another system. */
package io.millrace.kernel.hash;
