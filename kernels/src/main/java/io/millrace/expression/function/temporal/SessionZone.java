// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import java.time.ZoneId;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;

/** A time zone with its tables of offsets, which are built when they are first asked for. */
final class SessionZone {
  private static final Map<ZoneId, SessionZone> ZONES = new ConcurrentHashMap<>();

  private final TimeZone timeZone;
  private final ZoneId zoneId;
  private ZoneOffsetTable instants;
  private ZoneOffsetTable localTimes;
  private ZoneOffsetTable legacyInstants;
  private ZoneOffsetTable legacyLocalTimes;

  private SessionZone(TimeZone timeZone) {
    this.timeZone = timeZone;
    this.zoneId = timeZone.toZoneId();
  }

  /** As Flink takes a session's zone: by way of {@link TimeZone}, which does not know all. */
  static SessionZone of(ZoneId zone) {
    return ZONES.computeIfAbsent(zone, key -> new SessionZone(TimeZone.getTimeZone(key)));
  }

  /** The zone with an ID; UTC if there is none, as {@link TimeZone#getTimeZone(String)} has it. */
  static SessionZone of(String id) {
    return of(TimeZone.getTimeZone(id).toZoneId());
  }

  TimeZone timeZone() {
    return (TimeZone) timeZone.clone();
  }

  ZoneId zoneId() {
    return zoneId;
  }

  synchronized ZoneOffsetTable instants() {
    if (instants == null) {
      instants = ZoneOffsetTable.ofInstants(zoneId);
    }
    return instants;
  }

  synchronized ZoneOffsetTable localTimes() {
    if (localTimes == null) {
      localTimes = ZoneOffsetTable.ofLocalTimes(zoneId);
    }
    return localTimes;
  }

  /** Of {@link TimeZone}. */
  synchronized ZoneOffsetTable legacyInstants() {
    if (legacyInstants == null) {
      legacyInstants = ZoneOffsetTable.ofInstants(timeZone);
    }
    return legacyInstants;
  }

  /** Of {@link java.util.GregorianCalendar}. */
  synchronized ZoneOffsetTable legacyLocalTimes() {
    if (legacyLocalTimes == null) {
      legacyLocalTimes = ZoneOffsetTable.ofLocalTimes(timeZone);
    }
    return legacyLocalTimes;
  }

  @Override
  public String toString() {
    return zoneId.toString();
  }
}
