// SPDX-License-Identifier: Apache-2.0
/** Sources of memory: resources of a device and of the host, and adaptors around them. */
package io.millrace.memory.resource;
