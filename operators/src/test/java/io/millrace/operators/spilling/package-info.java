// SPDX-License-Identifier: Apache-2.0
/** Jobs that hold more than their device's memory. */
package io.millrace.operators.spilling;
