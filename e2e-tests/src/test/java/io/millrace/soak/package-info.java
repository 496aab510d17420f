// SPDX-License-Identifier: Apache-2.0
/**
 * Programs that run the ETL job over Kafka for long, or at given rates, and print what they saw.
 */
package io.millrace.soak;
