// SPDX-License-Identifier: Apache-2.0
/** Tests of the launcher's job in a process of its own, as its users see it. */
package io.millrace.launcher;
