// SPDX-License-Identifier: Apache-2.0
/** The resources of an operator, its chain, job and process: device, streams, memory, options. */
package io.millrace.operators.context;
