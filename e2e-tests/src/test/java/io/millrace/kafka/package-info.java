// SPDX-License-Identifier: Apache-2.0
/** Jobs that read and write topics of a real broker. */
package io.millrace.kafka;
