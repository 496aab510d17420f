// SPDX-License-Identifier: Apache-2.0
/** Memory resources, buffers and their owners. */
package io.millrace.memory;
