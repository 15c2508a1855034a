"""How often, in the user's words: the whole of it is read, or it is asked about (R-81)."""

from __future__ import annotations

import time

import pytest

from preflight.grounding import Context
from preflight.hooks.shipped.recurrence import recurrences
from preflight.hooks.shipped.trigger import trigger_of
from preflight.hooks.shipped.unused_time import unused_time
from preflight.hooks.shipped.when import classify
from preflight.model.evidence import Located, NotGrounded
from preflight.model.instruction import Segment
from preflight.model.request import Request, Scope, Utterance
from tests.unit.gates import TOOL

NOW = "2026-12-01T01:00:00+00:00"


def read(text: str) -> list[Located | NotGrounded]:
    return list(recurrences(text, 0, Context(now=NOW, zone="Europe/Berlin")))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Pay Bob at 9am every Monday and Thursday until I cancel", "0 9 * * 1,4 until cancelled"),
        ("Pay Bob every Monday, Wednesday and Friday at 9am until I cancel", "0 9 * * 1,3,5 until cancelled"),
        ("Pay Bob on Mondays and Thursdays at 18:30 until I cancel", "30 18 * * 1,4 until cancelled"),
        ("Pay Bob every Monday to Friday at 18:30 until I cancel", "30 18 * * 1-5 until cancelled"),
        ("Pay Bob every day at 9am and 6pm until I cancel", "0 9,18 * * * until cancelled"),
        ("Pay Bob every day at 9am, 1pm and at 6pm until I cancel", "0 9,13,18 * * * until cancelled"),
        ("Pay Bob on the 1st and 15th of every month at 9am until I cancel", "0 9 1,15 * * until cancelled"),
        ("Pay Bob every month on the 1st at 9am until further notice", "0 9 1 * * until cancelled"),
        ("Zahle Bob jeden Montag um 9 Uhr morgens, bis ich absage", "0 9 * * 1 until cancelled"),
        ("Zahle Bob täglich um 18:30 bis auf Widerruf", "30 18 * * * until cancelled"),
        ("Zahle Bob am 1. jedes Monats um 18:30 bis auf Widerruf", "30 18 1 * * until cancelled"),
        ("Paga a Bob cada lunes a las 18:30 hasta que cancele", "30 18 * * 1 until cancelled"),
        ("Paga a Bob todos los días a las 18:30 hasta nuevo aviso", "30 18 * * * until cancelled"),
        ("Paga a Bob los lunes y jueves a las 18:30 hasta nuevo aviso", "30 18 * * 1,4 until cancelled"),
        ("Paie Bob chaque lundi à 18h30 jusqu'à nouvel ordre", "30 18 * * 1 until cancelled"),
        ("Paie Bob tous les jours à 18h30 jusqu'à ce que j'annule", "30 18 * * * until cancelled"),
        ("취소할 때까지 매일 오전 9시에 Bob에게 보내줘", "0 9 * * * until cancelled"),
        ("취소할 때까지 매주 월요일과 목요일 오전 9시에 보내줘", "0 9 * * 1,4 until cancelled"),
        ("취소할 때까지 매월 1일 오전 9시에 보내줘", "0 9 1 * * until cancelled"),
        ("キャンセルするまで毎日午前9時に送って", "0 9 * * * until cancelled"),
        ("キャンセルするまで毎週月曜日の午前9時に送って", "0 9 * * 1 until cancelled"),
        ("Pay Bob every Monday at 9am through 31 December 2026", "0 9 * * 1 until 2026-12-31T22:59:59+00:00"),
        ("Zahle Bob jeden Montag um 18:30 bis zum 31. Dezember 2026", "30 18 * * 1 until 2026-12-31T22:59:59+00:00"),
        ("2026년 12월 31일까지 매일 오전 9시에 보내줘", "0 9 * * * until 2026-12-31T22:59:59+00:00"),
    ],
)
def test_the_whole_of_it_is_read(text: str, value: str) -> None:
    (found,) = read(text)
    assert isinstance(found, Located), found
    assert found.value == value
    assert classify(Utterance(user_id="u", scope=Scope(), segments=(Segment(text, "user"),), now=NOW)) == "recurring"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Pay Bob every day at 9am except on Sundays until I cancel", "when_unreadable"),
        ("Pay Bob every Monday at 9am, but not on holidays, until I cancel", "when_unreadable"),
        ("Pay Bob every day at 9am, every other Friday at noon, until I cancel", "when_unreadable"),
        ("Check every hour between 9am and 5pm until I cancel", "when_unreadable"),
        ("Pay Bob every day at 9am and 6:30pm until I cancel", "when_unreadable"),
        ("Pay Bob every day at 9am; remind me at 6pm; until I cancel", "when_said_twice"),
        ("Pay Bob every day at 9am or 6pm until I cancel", "when_said_twice"),
        ("Pay Bob every day at 9 until I cancel", "ambiguous"),
        ("Pay Bob every day at 9am and at 6 until I cancel", "ambiguous"),
        ("매주 월요일 9시 제외하고 매일", "when_unreadable"),
        ("Pay Bob every Monday at 9am", "end_not_said"),
        ("Pay Bob every Monday at 9am until 3 March or until 4 March", "end_not_said"),
    ],
)
def test_what_would_be_passed_over_is_asked_about(text: str, reason: str) -> None:
    (found,) = read(text)
    assert isinstance(found, NotGrounded), found
    assert found.reason == reason


@pytest.mark.parametrize(
    "more",
    [
        "from January", "starting 14 December", "starting next month", "at most 3 times", "twice", "for 5 days",
        "for a week",
        "in December", "but never on Sunday", "weekdays only", "not on holidays", "and Thursday",
        "as well as on Thursday",
        "no, actually Tuesday", "in odd weeks", "only in 2027", "UTC", "in New York time", "+02:00", "in London",
        "their time", "nicht im August", "for the rent of 3 March",
    ],
)  # fmt: skip
def test_what_the_words_say_beside_it_is_never_passed_over(more: str) -> None:
    (found,) = read(f"Pay Bob every Monday at 09:00 {more} until I cancel")
    assert isinstance(found, NotGrounded), found


@pytest.mark.parametrize("dates", ["1st to 5th", "1st-5th", "1st or 15th", "first and 15th"])
def test_of_several_days_of_a_month_none_is_passed_over(dates: str) -> None:
    found = read(f"Pay Bob on the {dates} of every month at 09:00 until I cancel")
    assert [type(each) for each in found] in ([], [NotGrounded])
    (before,) = read("Pay Bob before the 5th of every month at 09:00 until I cancel")
    assert isinstance(before, NotGrounded)


@pytest.mark.parametrize("text", ["Pay Bob on Monday at 9am", "Pay Bob every other Friday at 9am", "Pay every invoice"])
def test_what_is_no_recurrence_of_these_forms_is_not_read(text: str) -> None:
    assert read(text) == []


def test_without_a_zone_an_end_cannot_be_read() -> None:
    (found,) = recurrences("Pay every day at 9am until 31 December 2026", 0, Context(now=None))
    assert found == NotGrounded("end_not_said")


@pytest.mark.parametrize(
    "text",
    [
        "every Monday, and" + ", and" * 20_000,
        "every Monday and " * 5_000,
        ",".join(str(number % 31 + 1) for number in range(30_000)),
        "every day at 9am" + " and 6pm" * 10_000,
        "4 December at 18:30, " * 4_000,
        "“" * 100_000,
    ],
    ids=["ands", "days", "dates", "hours", "moments", "quotes"],
)
def test_a_long_text_is_read_in_time_that_grows_with_it(text: str) -> None:
    said = Utterance(user_id="u", scope=Scope(), segments=(Segment(text, "user"),), now=NOW, zone="Europe/Berlin")
    began = time.process_time()
    trigger_of(said, {})
    unused_time(
        Request.parse({"user_id": "u", "tool": TOOL, "instruction": text, "now": NOW}), "immediate", (), bool, {}
    )
    assert time.process_time() - began < 15  # 1 to 4 s here; comparing all with all takes 30 s and more
