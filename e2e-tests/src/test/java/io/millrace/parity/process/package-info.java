// SPDX-License-Identifier: Apache-2.0
/** A function over keyed state does what a function of stock Flink does. */
package io.millrace.parity.process;
