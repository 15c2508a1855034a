"""Days, times of day and moments in the user's words, against the recorded clock (bad inputs 65 and 66)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from preflight.grounding import Context, Target, clock, ground_call
from preflight.grounding.date_resolution import resolve
from preflight.grounding.dates import dates
from preflight.grounding.field import compile_field
from preflight.grounding.read_date import Moment, parse_claim
from preflight.grounding.times import times
from preflight.model.instruction import Segment
from tests.unit.grounding import cases

SEOUL = Context(cases.NOW, cases.ZONE)


def days(text: str, locale: str = "en", now: str | None = cases.NOW) -> list[tuple[str, list[str]]]:
    context = Context(now, cases.ZONE if now else None, locale)
    return [
        (text[found.start : found.end], [day.isoformat() for day in resolve(found.key, context)[0]])  # type: ignore[arg-type]
        for found in dates(text, locale.split("-", 1)[0])
    ]


@pytest.mark.parametrize(
    ("text", "locale", "found"),
    [
        ("2026-12-04 and 2026/12/05", "en", [("2026-12-04", ["2026-12-04"]), ("2026/12/05", ["2026-12-05"])]),
        ("20261204", "en", [("20261204", ["2026-12-04"])]),
        ("2026-13-04", "en", []),
        ("13/4", "en", [("13/4", ["2027-04-13"])]),
        ("3/4", "en", [("3/4", ["2027-04-03", "2027-03-04"])]),
        ("3/4", "en-US", [("3/4", ["2027-03-04"])]),
        ("3/4", "en-GB", [("3/4", ["2027-04-03"])]),
        ("4/13/2027", "en-GB", [("4/13/2027", ["2027-04-13"])]),
        ("4.5.27", "de", [("4.5.27", ["2027-05-04"])]),
        ("4.5.87", "de", [("4.5.87", ["1987-05-04"])]),
        ("40/40, 40/40/2027, 4.5", "en", []),
        ("Dec 4", "en", [("Dec 4", ["2026-12-04"])]),
        ("4th of December", "en", [("4th of December", ["2026-12-04"])]),
        ("November 29", "en", [("November 29", ["2027-11-29"])]),
        ("February 29", "en", [("February 29", ["2028-02-29"])]),
        ("February 31", "en", []),
        ("am 24.12. und am 31.02.", "de", [("24.12.", ["2026-12-24"])]),
        ("the first of June", "en", [("the first of June", ["2027-06-01"])]),
        ("am 3. Januar 2027", "de", [("3. Januar 2027", ["2027-01-03"])]),
        ("el 3 de enero de 2027", "es", [("3 de enero de 2027", ["2027-01-03"])]),
        ("12월 4일, 2027년 1월 2일", "ko", [("12월 4일", ["2026-12-04"]), ("2027년 1월 2일", ["2027-01-02"])]),
        ("2027年1月, 1月", "ja", [("2027年1月", [])]),
        ("on the 15th", "en", [("on the 15th", ["2026-12-15"])]),
        ("from the 31st", "en", [("from the 31st", ["2026-12-31"])]),
        ("March 3-7, 2027", "en", [("March 3-7, 2027", ["2027-03-03"]), ("March 3-7, 2027", ["2027-03-07"])]),
        ("March 3 to 7", "en", [("March 3 to 7", ["2027-03-07"]), ("March 3", ["2027-03-03"])]),
        (
            "today, tomorrow, yesterday",
            "en",
            [("today", ["2026-11-30"]), ("tomorrow", ["2026-12-01"]), ("yesterday", ["2026-11-29"])],
        ),
        ("the day after tomorrow", "en", [("the day after tomorrow", ["2026-12-02"])]),
        ("hier", "fr", [("hier", ["2026-11-29"])]),
        ("hier", "de", []),
        ("am Morgen", "de", []),
        ("mañana por la mañana", "es", [("mañana", ["2026-12-01"])]),
        ("모레", "ko", [("모레", ["2026-12-02"])]),
        ("Friday", "en", [("Friday", ["2026-12-04"])]),
        ("Monday", "en", [("Monday", ["2026-11-30", "2026-12-07"])]),
        ("this coming Monday", "en", [("this coming Monday", ["2026-12-07"])]),
        ("next Friday", "en", [("next Friday", ["2026-12-04", "2026-12-11"])]),
        ("next Monday", "en", [("next Monday", ["2026-12-07"])]),
        ("last Friday", "en", [("last Friday", ["2026-11-27"])]),
        ("last Monday", "en", [("last Monday", ["2026-11-23"])]),
        ("Friday next week", "en", [("Friday next week", ["2026-12-11"])]),
        ("Friday week", "en", [("Friday week", ["2026-12-11"])]),
        ("다음 주 금요일", "ko", [("다음 주 금요일", ["2026-12-11"])]),
        ("今週の金曜日", "ja", [("今週の金曜日", ["2026-12-04"])]),
        ("in 3 days", "en", [("in 3 days", ["2026-12-03"])]),
        ("in a fortnight", "en", [("in a fortnight", ["2026-12-14"])]),
        ("two weeks ago", "en", [("two weeks ago", ["2026-11-16"])]),
        ("a month from now", "en", [("a month from now", ["2026-12-30"])]),
        ("in one year", "en", [("in one year", ["2027-11-30"])]),
        ("vor zwei Tagen", "de", [("vor zwei Tagen", ["2026-11-28"])]),
        ("3일 후, 2週間前", "ko", [("3일 후", ["2026-12-03"]), ("2週間前", ["2026-11-16"])]),
        ("in 9999 years", "en", [("in 9999 years", [])]),
        ("in 9999 weeks", "en", [("in 9999 weeks", ["2218-07-20"])]),
        ("May 2027, 2027-05", "en", [("May 2027", []), ("2027-05", [])]),
        ("send to May, room 1205, v1.2", "en", []),
        (".", "en", []),
    ],
)
def test_days(text: str, locale: str, found: list[tuple[str, list[str]]]) -> None:
    assert days(text, locale) == found


def test_the_year_of_a_range_stands_at_its_end() -> None:
    assert days("between 5 January and 7 March 2031") == [
        ("5 January and 7 March 2031", ["2031-01-05"]),
        ("7 March 2031", ["2031-03-07"]),
    ]


def test_without_a_clock_nothing_relative_is_resolved() -> None:
    assert days("tomorrow, 13/4, on the 5th", now=None) == [("tomorrow", []), ("13/4", []), ("on the 5th", [])]


def state(
    text: str, claim: Any, context: Context = SEOUL, schema: dict[str, Any] | None = None, name: str = "when"
) -> tuple[str, str]:
    finding = ground_call([Segment(text, "user")], [Target(name, schema or cases.DATE, claim)], context)[name]
    return finding.state, finding.evidence.rule or "" if finding.evidence else finding.reason


@pytest.mark.parametrize(
    ("text", "claim", "context", "outcome"),
    [
        ("on 4 December", "2026-12-04", SEOUL, ("known", "coming_year")),
        ("on 4 December", "2029-12-04", Context(), ("known", "year_not_said")),
        ("on 4 December", "2029-12-05", Context(), ("unknown", "not_found")),
        ("from 22 April at ten until 27 April 2023", "2023-04-22", Context(), ("known", "year_of_other_date")),
        ("from 22 April at ten until 27 April 2023", "2024-04-22", Context(), ("unknown", "not_found")),
        ("from 22 April, then until 27 April 2023", "2023-04-22", SEOUL, ("unknown", "ambiguous")),
        ("on 29 February and 1 March 2023", "2024-02-29", Context(), ("known", "year_not_said")),
        ("tomorrow", "2026-12-01", Context(), ("unknown", "not_found")),
        ("tomorrow", "2026-12-01", Context("soon"), ("unknown", "not_found")),
        ("tomorrow", "2026-12-01", Context("2026-11-30T10:00:00"), ("unknown", "not_found")),
        ("tomorrow", "2026-12-02", Context("2026-11-30T23:30:00Z", "Asia/Seoul"), ("known", "relative_date")),
        ("tomorrow", "2026-12-01", Context("2026-11-30T23:30:00Z"), ("known", "relative_date")),
        ("tomorrow", "2026-12-01", Context("2026-11-30T23:30:00Z", "Mars/Olympus"), ("known", "relative_date")),
        ("in May 2027", "2027-05", SEOUL, ("known", "")),
        ("on 20 May 2027", "20/05/2027", SEOUL, ("unknown", "not_found")),
        ("on 20 May 2027", "May 20, 2027", SEOUL, ("known", "")),
        ("on 2027-05-20", "May 20, 2027", SEOUL, ("known", "")),
    ],
)
def test_a_day_for_a_field(text: str, claim: str, context: Context, outcome: tuple[str, str]) -> None:
    if claim == "20/05/2027":
        assert state(text, claim, context) == ("known", "")
    else:
        assert state(text, claim, context) == outcome


@pytest.mark.parametrize(
    ("text", "claim", "context", "outcome"),
    [
        ("tomorrow at 9 am", "2026-12-01T09:00:00+09:00", SEOUL, ("known", "relative_date")),
        ("tomorrow at 9 am", "2026-12-01T00:00:00Z", SEOUL, ("known", "relative_date")),
        ("tomorrow at 9 am", "2026-12-01T09:00:00", SEOUL, ("known", "relative_date")),
        ("tomorrow at 9 am", "2026-12-01T09:00:00Z", SEOUL, ("unknown", "not_found")),
        ("tomorrow at 9", "2026-12-01T09:00:00+09:00", SEOUL, ("unknown", "ambiguous")),
        ("on 4 May 2027 at 1:45 pm", "2027-05-04T13:45:00Z", Context(), ("known", "")),
        ("on 4 May 2027 at 1:45 pm", "2027-05-04T13:45:00+02:00", Context(), ("unknown", "not_found")),
        ("on 4 May 2027", "2027-05-04T00:00:00", SEOUL, ("unknown", "not_found")),
        ("on 4 May 2027 at 9 am", "2027-05-04T09:00:00", Context(), ("known", "")),
        ("in May 2027, June 2027 and on 4 May 2027 at 9 am", "2027-05", SEOUL, ("known", "")),
        ("at 9 am", "2027-05-04T09:00:00", SEOUL, ("unknown", "not_found")),
        ("on 28 March 2027 at 2:30", "2027-03-28T02:30:00", Context(None, "Europe/Berlin"), ("unknown", "not_found")),
        ("on 31 October 2027 at 2:30", "2027-10-31T02:30:00", Context(None, "Europe/Berlin"), ("unknown", "ambiguous")),
        ("on 31 October 2027 at 3:30", "2027-10-31T03:30:00", Context(None, "Europe/Berlin"), ("known", "")),
        ("4 May 2027" + " and so on" * 9 + " at 9 am", "2027-05-04T09:00:00", SEOUL, ("unknown", "not_found")),
    ],
)
def test_a_moment_for_a_field(text: str, claim: str, context: Context, outcome: tuple[str, str]) -> None:
    assert state(text, claim, context, cases.MOMENT) == outcome


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("at 9 am, 9:30 p.m., 12 am, nine pm", "en", ["09:00", "21:30", "00:00", "21:00"]),
        ("13 am", "en", []),
        ("14:30, 9:05:07", "en", ["14:30", "09:05:07"]),
        ("at 9", "en", ["09:00?", "21:00?"]),
        ("at 14, at 0, at 25", "en", ["14:00", "00:00"]),
        ("by 20", "en", ["20:00?"]),
        ("5 o'clock", "en", ["05:00?", "17:00?"]),
        ("half past nine in the evening", "en", ["21:30"]),
        ("quarter to one at night", "en", ["00:45"]),
        ("at 12 at night", "en", ["00:00"]),
        ("this evening at 7", "en", ["19:00"]),
        ("9:30 in the evening", "en", ["21:30"]),
        ("3 to 5 pm", "en", ["15:00", "17:00"]),
        ("11 to 1 pm", "en", ["13:00"]),
        ("from 3:15 to 5 pm", "en", ["15:15", "17:00"]),
        ("half past nine pm, ten past 9 am", "en", ["21:30", "09:10"]),
        ("twenty-five minutes to six pm", "en", ["17:35"]),
        ("10 minutes after 3 pm, 5 o'clock pm", "en", ["15:10", "17:00"]),
        ("five o'clock pm", "en", ["17:00"]),
        ("nine thirty pm, oh well", "en", ["21:30"]),
        ("nine forty-five in the evening", "en", ["21:45"]),
        ("nine thirty", "en", []),
        ("ten past nine", "en", ["09:10?", "21:10?"]),
        ("from 10 to 5 pm", "en", ["10:00?", "22:00?", "17:00"]),
        ("noon and midnight", "en", ["12:00", "00:00"]),
        ("um 14 Uhr 30, halb zehn", "de", ["14:30", "09:30?", "21:30?"]),
        ("at 5 in de, um 9", "de", ["09:00?", "21:00?"]),
        ("a las nueve y media de la noche", "es", ["21:30"]),
        ("à 14h30", "fr", ["14:30"]),
        ("오전 9시, 오후 3시 반, 5시, 15시", "ko", ["09:00", "15:30", "05:00?", "17:00?", "15:00"]),
        ("午後3時20分, 25時", "ja", ["15:20"]),
        ("3시간", "ko", []),
        ("nothing here", "en", []),
    ],
)
def test_times(text: str, language: str, found: list[str]) -> None:
    shown = []
    for mention in times(text, language):
        hour, minute, second = mention.key  # type: ignore[misc]
        shown.append(f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "") + ("?" if mention.flags else ""))
    assert shown == found


def test_a_time_for_a_field() -> None:
    assert state("at 9:05 pm", "21:05", schema=cases.TIME) == ("known", "")
    assert state("at 9:05 pm", "9:05 PM", schema=cases.TIME) == ("known", "")
    assert state("at 9:05 pm", "25:05", schema=cases.TIME) == ("unknown", "not_found")


@pytest.mark.parametrize(
    ("claim", "description", "moment"),
    [
        ("2026-12-04", "", Moment(date(2026, 12, 4))),
        (
            "2026-12-04T09:00:00-05:30",
            "",
            Moment(date(2026, 12, 4), time(9), -timedelta(hours=5, minutes=30)),
        ),
        ("2026-12-04 09:00 UTC", "", Moment(date(2026, 12, 4), time(9), timedelta(0))),
        ("2026-12", "", Moment(month=(2026, 12))),
        ("2026-13", "", None),
        ("2026-13-01", "", None),
        ("04/05/2026", "MM/DD/YYYY", Moment(date(2026, 4, 5))),
        ("04/05/2026", "dd/mm/yyyy", Moment(date(2026, 5, 4))),
        ("04/05/2026", "", None),
        ("May 4, 2026 3 pm", "", Moment(date(2026, 5, 4), time(15))),
        ("May 4, 2026 maybe", "", None),
        ("soon", "", None),
        ("0001-01-01", "", None),
        ("9:05 PM", "", Moment(clock=time(21, 5))),
        ("25:05", "", None),
        ("room 5", "", None),
        ("x" * 50 + "5", "", None),
    ],
)
def test_what_a_claim_says(claim: str, description: str, moment: Moment | None) -> None:
    assert parse_claim(claim, compile_field("when", {"description": description}, None, {})) == moment


@pytest.mark.parametrize(
    ("start", "end", "reasons"),
    [
        ("2027-03-03", "2027-03-07", {"grounded"}),
        ("2027-03-07", "2027-03-03", {"swapped"}),
    ],
)
def test_a_start_after_its_end_is_asked_about(start: str, end: str, reasons: set[str]) -> None:
    segments = [Segment("go 2027-03-03, come 2027-03-07", "user")]
    targets = [Target("check_in", cases.DATE, start), Target("check_out", cases.DATE, end)]
    assert {finding.reason for finding in ground_call(segments, targets, SEOUL).values()} == reasons


def test_an_end_is_derived_from_a_start_and_a_length_only() -> None:
    segments = [Segment("from 9 am for 45 minutes", "user")]
    targets = [Target("start", cases.TIME, "09:00"), Target("end", cases.TIME, "09:45")]
    assert ground_call(segments, targets, SEOUL)["end"].state == "known"
    for start, end in (("09:00", "08:15"), ("09:00", "later"), ("09:00", "2026-12-01T09:45:00")):
        targets = [Target("start", cases.TIME, start), Target("end", cases.TIME, end)]
        assert ground_call(segments, targets, SEOUL)["end"].state == "unknown"
    carried = [Segment("for 45 minutes", "user", request=1), Segment("from 9 am", "user", request=2)]
    targets = [Target("start", cases.TIME, "09:00"), Target("end", cases.TIME, "09:45")]
    assert ground_call(carried, targets, SEOUL)["end"].state == "unknown"


def test_two_moments_may_lie_on_one_day() -> None:
    segments = [Segment("on 15 December 2026 at 2 PM, and it should end by 4 PM", "user")]
    targets = [Target("start", cases.MOMENT, "2026-12-15T14:00:00"), Target("end", cases.MOMENT, "2026-12-15T16:00:00")]
    assert {finding.state for finding in ground_call(segments, targets, SEOUL).values()} == {"known"}


def test_the_clock_as_a_value() -> None:
    assert clock.today(SEOUL) == date(2026, 11, 30)
    assert clock.zone(Context("no clock")) is None
    assert clock.today(Context("9999-12-31T23:00:00-12:00", cases.ZONE)) is None  # it is in no year there
    assert clock.today(Context("0001-01-01T01:00:00+12:00", "America/New_York")) is None
    assert clock.add_months(date(2026, 1, 31), 1) == date(2026, 2, 28)
    assert clock.add_months(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert clock.add_months(date(2026, 1, 1), -30_000) is None
    assert clock.add_days(date.max, 1) is None
    assert clock.instants(datetime(2027, 7, 1, 12), UTC)  # noqa: DTZ001 - a local time == (datetime(2027, 7, 1, 12, tzinfo=UTC),)
