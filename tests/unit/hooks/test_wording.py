"""What the shipped hooks read from the user's words: when it should happen, what the act is called (R-21, R-103)."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.hooks.shipped.act import act_of
from preflight.hooks.shipped.request_text import current_segments, wordings
from preflight.hooks.shipped.when import classify
from preflight.model.instruction import ANSWER, Segment
from preflight.model.request import Scope, Utterance


def said(*texts: str | tuple[Any, ...]) -> Utterance:
    """An utterance of user segments; a tuple gives a segment's fields."""
    segments = tuple(Segment(*text) if isinstance(text, tuple) else Segment(text, "user") for text in texts)
    return Utterance(user_id="u1", scope=Scope(), segments=segments)


def again(text: str, request: int | None = None) -> tuple[Any, ...]:
    """A segment the user said when asked to say it again."""
    return (text, "user", ANSWER + "q1", request)


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("send 500 to bob", "immediate"),
        ("send 500 to bob now", "immediate"),
        ("Pay it RIGHT AWAY", "immediate"),
        ("send 500 to bob tomorrow", "scheduled"),
        ("in 3 days, pay the rent", "scheduled"),
        ("send 500 to bob in one second", "scheduled"),
        ("send 500 to bob in half an hour", "scheduled"),
        ("send 500 to bob in 45 mins", "scheduled"),
        ("send 500 to bob in several hours", "scheduled"),
        ("pay the rent on Friday", "scheduled"),
        ("next week remind me", "scheduled"),
        ("pay the rent every month", "recurring"),
        ("pay daily", "recurring"),
        ("from tomorrow, pay every day, later", "recurring"),
        ("once the rent is paid, send the receipt", "conditional"),
        ("if the balance falls below 100, top it up", "conditional"),
        ("내일 보내줘", "scheduled"),
        ("매달 보내줘", "recurring"),
        ("明日送って", "scheduled"),
        # a time that belongs to a thing
        ("book a table for tomorrow", "immediate"),
        ("the report from Friday, send it", "immediate"),
        ("send it, if possible", "immediate"),
        # what leaves it open
        ("send it now and tomorrow", None),
        ("", None),
        ("   ", None),
        ("отправь завтра", None),
    ],
)
def test_when_is_read_from_explicit_wording_only(text: str, case: str | None) -> None:
    assert classify(said(text)) == case


@pytest.mark.parametrize(
    "when",
    """if he agrees|when Bob confirms|when the price hits 50|if it rains|provided he agrees|assuming that he agrees
as long as he agrees|unless he paid|once he signs|should he agree|should the price fall, and only then
but not until he replies|don't do it till he has replied|wenn er zustimmt|falls er zustimmt|cuando confirme|si acepta
quand il confirme|s'il accepte
upon receipt of the invoice|on receipt of the invoice|pending approval by Kim|subject to Kim's approval
the moment he confirms|given that he agrees|in the event of rain|depending on whether Bob agrees|but first let me check
after Kim approves|following Kim's confirmation|if you can see that the invoice is paid|if required by the invoice
nach Eingang der Rechnung|erst nach Zustimmung|siempre que acepte|à réception de la facture
雨の場合のみ|彼が来てから|그가 동의하면|비가 오면|그가 올 때|彼が同意したら|彼が同意すれば""".replace("\n", "|").split(
        "|"
    ),
)
def test_a_condition_is_never_passed_over(when: str) -> None:
    # a call that runs before its condition is the one that cannot be taken back
    assert classify(said(f"send 500 to bob {when}")) == "conditional"


@pytest.mark.parametrize(
    "when",
    """2 hours from now|two days from today|after 2 hours|after lunch|this evening|in the morning
at night|overnight|at the end of the month|at month-end|end of day|at the weekend|on Christmas|on New Year's Eve
on my birthday|on the 1st|on the first|not now|but not yet|in a bit|in a while|eventually|at some point
hold off for now|wait until 5|wait for a week|나중에|이따가|다음 주에|저녁에|주말에|後で|来週|今夜
später|nächste Woche|heute Abend|am Wochenende
más tarde|la próxima semana|la semana que viene|esta noche|plus tard|la semaine prochaine|ce soir
pas maintenant|in fifteen minutes|in 1.5 hours|in two and a half hours|in 30m|in 2h|2 hours before tomorrow
in 2 Stunden|dans deux heures|en 2 horas|dentro de 2 horas|2時間後に|30分後に|on the 15th of the month|in December
next summer|in the new year|at dawn|at lunch|at 1830|at 18.30|before bed|am Abend|mittags|irgendwann|à 18h|あした|夜に
""".strip()
    .replace("\n", "|")
    .split("|"),
)
def test_later_is_never_passed_over(when: str) -> None:
    assert classify(said(f"send 500 to bob {when}")) == "scheduled"


@pytest.mark.parametrize(
    "text",
    """send 500 to bob if possible|send 500 to bob when you can|if you don't mind, send 500 to bob
send 500 to bob, if that's ok|I'd appreciate it if you sent 500 to bob|send 500 to bob even if he complains
ask bob if he is free|let me know if bob got it|after all, send 500 to bob|send it just once|send 500 to bob by Friday
send 500 to bob as soon as possible|wenn möglich, sende es|s'il vous plaît, envoie-le|envíalo si es posible
use overnight shipping|book a car with a short wait time|the table should be round, send it
send bob "see you tomorrow at nine"|send bob 'please wait until I am back'
화면 밝기를 낮춰줘|예를 例えば送って""".replace("\n", "|").split("|"),
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert classify(said(text)) == "immediate"


@pytest.mark.parametrize(
    "often",
    """biweekly|nightly|twice a month|every 1st|every Christmas|on weekdays|monatlich|alle zwei Wochen|par mois
mensualmente|por mes|毎年|隔週|1時間ごとに|격주로""".replace("\n", "|").split("|"),
)
def test_over_and_over_is_never_passed_over(often: str) -> None:
    assert classify(said(f"send 500 to bob {often}")) == "recurring"


def test_what_others_wrote_says_nothing_about_when() -> None:
    #
    assert classify(said("send this to bob\n> please pay tomorrow, if it rains")) == "immediate"


def test_untrusted_words_say_nothing_about_when_or_what() -> None:
    utterance = said("send 500 to bob", ("do it tomorrow", "untrusted"), ("delete it every day", "system"))
    assert classify(utterance) == "immediate"
    assert act_of(utterance) == "send 500 to bob"


def test_without_segments_nothing_is_said() -> None:
    silent = Utterance(user_id="u1", scope=Scope(), segments=None)
    assert (classify(silent), act_of(silent), wordings(silent)) == (None, None, [])


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Please send 500 to Bob. Thanks!", "send 500 to Bob"),
        ("could you please delete the file", "delete the file"),
        ("Hi, I'd like to pay the rent because it is due", "pay the rent"),
        ("ok now let's go ahead and merge it\nthen rest", "merge it; rest"),
        ("Read the notice and adjust my rent, then tell Ann.", "Read the notice; adjust my rent; tell Ann"),
        ("send   500\tto bob", "send 500 to bob"),
        ("please", None),
        ("x" * 400, "x" * 300),
    ],
)
def test_the_act_is_every_clause_in_the_users_own_words(text: str, act: str | None) -> None:
    assert act_of(said(text)) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("dry run: pay 500", "dry run"),
        ("just simulate: pay 500 to Bob", "simulate"),
        ("translate into German: pay 500", "translate into German"),
        ("Tell Ann: pay 500. Then pay 600.", "Tell Ann"),
        ("draft a message saying: pay 500", "draft a message saying"),
        ("prepare, but do not send: pay 500", "prepare; do not send"),
        ("don't do it yet: pay 500", "don't do it yet"),
        ("two things: pay 500 and tell Ann", "two things; pay 500; tell Ann"),
        ("Hi Claude: pay 500", "Claude; pay 500"),
        ("at 10:30 pay 500", "at 10:30 pay 500"),
    ],
)
def test_what_is_only_spoken_of_is_no_act(text: str, act: str) -> None:
    assert act_of(said(text)) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("pay 500?", None),
        ("pay 500, right?", None),
        ("pay 500 - is that correct?", None),
        ("pay 500, or should I wait?", None),
        ("tell Ann, and pay 500, is that right?", None),
        ("Tell Ann. Pay 500, right?", "Tell Ann"),
        ("You already paid? Pay 500", "Pay 500"),
        ("can you pay 500?", "pay 500"),
        ("pay 500 please?", "pay 500 please"),
        ("would you mind paying 500?", "mind paying 500"),
        ("Is it due? Then pay 500.", "pay 500"),
    ],
)
def test_what_is_asked_is_no_order(text: str, act: str | None) -> None:
    assert act_of(said(text)) == act


def words(utterance: Utterance) -> str:
    return "\n".join(segment.text for segment in current_segments(utterance))


def test_only_the_latest_request_counts() -> None:
    assert words(said("first", "second")) == "second"
    numbered = said(
        ("first", "user", None, 1), ("second", "user", None, 2), ("more of it", "user", None, 2), "unnumbered"
    )
    assert words(numbered) == "second\nmore of it"


@pytest.mark.parametrize("number", [None, 4])
def test_what_is_said_again_replaces_the_act_and_not_the_time(number: int | None) -> None:
    # without this, "send 500 to bob tomorrow", said again as "transfer 500 to bob", would run at once
    first = ("send 500 to bob tomorrow", "user", None, number)
    utterance = said(
        ("do that", "user", None, None if number is None else 3), first, again("transfer 500 to bob", number)
    )
    assert classify(utterance) == "scheduled"
    assert act_of(utterance) == "transfer 500 to bob"
    assert wordings(utterance) == ["transfer 500 to bob", "send 500 to bob tomorrow"]


def test_a_time_that_is_said_again_counts_alone() -> None:
    assert classify(said("send it now or tomorrow", again("tomorrow"))) == "scheduled"
    assert classify(said("send it tomorrow", again("send it now"), again("send it"))) == "immediate"


def test_an_answer_belongs_to_the_request_before_it() -> None:
    assert words(said("first", again("first again"), "second")) == "second"
    assert wordings(said(again("only this"))) == ["only this"]
