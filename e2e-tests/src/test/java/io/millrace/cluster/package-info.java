// SPDX-License-Identifier: Apache-2.0
/** Tests on a cluster of real processes, and the harness that starts, kills and asks them. */
package io.millrace.cluster;
