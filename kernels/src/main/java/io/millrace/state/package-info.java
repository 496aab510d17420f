// SPDX-License-Identifier: Apache-2.0
/**
 * Keyed state: a row per key in tables that grow, are shared with snapshots until they are written
 * to, and may be spilled. Batches update them; knows no Flink.
 */
package io.millrace.state;
