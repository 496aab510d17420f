// SPDX-License-Identifier: Apache-2.0
/** The fluent API of DataStream jobs. */
package io.millrace.operators.api;
