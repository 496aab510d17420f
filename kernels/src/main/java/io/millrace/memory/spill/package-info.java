// SPDX-License-Identifier: Apache-2.0
/** Memory that moves between a device, pinned host memory and disk when a tier is full. */
package io.millrace.memory.spill;
