// SPDX-License-Identifier: Apache-2.0
/**
 * Kafka and PostgreSQL for tests: in containers where Docker answers, else as processes; ZooKeeper.
 */
package io.millrace.services;
