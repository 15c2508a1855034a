"""The log as provenance: W3C PROV-JSON (member submission of 2013), for tools that draw or query it.

A check is an activity that used the values of slots and generated a decision; each value is attributed to the
person or the system it came from. An execution is an activity that used the decision; what became of it is generated
by it. Secrets stay masked (R-78).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from msgspec import UNSET

from preflight.audit.export import Silences, none_known, silences_of
from preflight.model.json_value import thaw
from preflight.model.question import NoAnswer
from preflight.model.record import Record
from preflight.model.slot import FieldState
from preflight.ports import Stored
from preflight.render.explain import silence_words

PREFIX: Final = "urn:preflight:"
_PERSONAL: Final = frozenset({"user_answer", "instruction", "pre_set_data"})
Document = dict[str, dict[str, Any]]


def as_prov(records: Iterable[Stored], silences: Silences = none_known) -> Document:
    """Return the records as one PROV-JSON document."""
    document: Document = {"prefix": {"pf": PREFIX}}
    for stored in records:
        _add(document, stored, silences_of(stored.record, silences))
    return document


def _add(document: Document, stored: Stored, silent: Sequence[NoAnswer]) -> None:
    record = stored.record
    entity = _name("record", record.record_id)
    attributes: dict[str, Any] = {
        "prov:type": _typed("pf:Record"),
        "pf:state": record.execution_decision,
        "pf:seq": stored.seq,
        "pf:digest": stored.digest,
        "pf:reason": record.reason,
    }
    if record.tool is not None:
        attributes |= {"pf:server": record.tool.server, "pf:tool": record.tool.name}
    if silent:
        attributes["pf:noAnswer"] = [silence_words(each) for each in silent]
    _put(document, "entity", entity, attributes)
    check = _name("check", record.decision_id)
    if record.record_id == record.decision_id:
        _put(document, "activity", check, {"prov:endTime": record.timestamp, "prov:type": _typed("pf:Check")})
        _relate(document, "wasGeneratedBy", entity=entity, activity=check, time=record.timestamp)
        _associate(document, check, record)
        for state in record.states:
            _slot(document, record, state, check, entity)
        return
    execution = _name("execution", record.decision_id)
    _put(document, "activity", execution, {"prov:type": _typed("pf:Execution")})
    _relate(document, "wasGeneratedBy", entity=entity, activity=execution, time=record.timestamp)
    if record.execution_decision == "executing":
        document["activity"][execution]["prov:startTime"] = record.timestamp
        _relate(document, "used", activity=execution, entity=_name("record", record.decision_id))
        _relate(document, "wasInformedBy", informed=execution, informant=check)
    elif record.execution_decision != "settled":
        document["activity"][execution]["prov:endTime"] = record.timestamp
    else:
        _settled(document, record, entity)


def _associate(document: Document, activity: str, record: Record) -> None:
    _put(document, "agent", "pf:software", {"prov:type": _typed("prov:SoftwareAgent"), "prov:label": "preflight"})
    _relate(document, "wasAssociatedWith", activity=activity, agent="pf:software")
    if record.user_id:
        _relate(document, "wasAssociatedWith", activity=activity, agent=_person(document, record, record.user_id))


def _slot(document: Document, record: Record, state: FieldState, check: str, decision: str) -> None:
    if state.status == "unknown":
        return
    value = _name("value", record.decision_id, state.name)
    attributes: dict[str, Any] = {
        "prov:type": _typed("pf:Value"),
        "pf:slot": state.name,
        "pf:status": state.status,
        "pf:source": state.source,
        "pf:originSource": state.origin_source,
    }
    if state.value is not UNSET and state.value is not None:
        attributes["prov:value"] = _literal(state.value)
    if state.origin is not None:
        attributes["pf:origin"] = state.origin
    _put(document, "entity", value, {key: each for key, each in attributes.items() if each is not None})
    _relate(document, "used", activity=check, entity=value)
    _relate(document, "wasDerivedFrom", generatedEntity=decision, usedEntity=value)
    if state.source in _PERSONAL and record.user_id:
        _relate(document, "wasAttributedTo", entity=value, agent=_person(document, record, record.user_id))


def _settled(document: Document, record: Record, entity: str) -> None:
    if record.outcome is not None and record.outcome.by:
        agent = _person(document, record, record.outcome.by)
        _relate(document, "wasAttributedTo", entity=entity, agent=agent)


def _person(document: Document, record: Record, name: str) -> str:
    agent = _name("person", record.scope.tenant, name)
    _put(document, "agent", agent, {"prov:type": _typed("prov:Person"), "prov:label": name})
    return agent


def _put(document: Document, kind: str, name: str, attributes: dict[str, Any]) -> None:
    document.setdefault(kind, {}).setdefault(name, {}).update(attributes)


def _relate(document: Document, relation: str, **parts: Any) -> None:
    found = document.setdefault(relation, {})
    found[f"_:{relation}{len(found) + 1}"] = {f"prov:{name}": value for name, value in parts.items()}


def _name(*parts: str) -> str:
    """Return a qualified name; what ids are made of may be anything."""
    return "pf:" + "/".join(quote(part, safe="") for part in parts)


def _typed(name: str) -> dict[str, str]:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _literal(value: object) -> object:
    """Return a literal: PROV-JSON has texts, numbers and truth values; other JSON is written out."""
    plain = thaw(value)
    return plain if isinstance(plain, str | int | float) else json.dumps(plain, ensure_ascii=False)
