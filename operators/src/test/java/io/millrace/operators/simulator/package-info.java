// SPDX-License-Identifier: Apache-2.0
/** Random schedules of what a task may meet, for operators with keyed state. */
package io.millrace.operators.simulator;
