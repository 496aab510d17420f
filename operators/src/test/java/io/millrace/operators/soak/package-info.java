// SPDX-License-Identifier: Apache-2.0
/** Whether jobs with keyed state hold what they hold: programs that run for minutes. */
package io.millrace.operators.soak;
