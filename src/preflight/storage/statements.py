"""The SQL that all databases share, with `:name` for each value; what differs stands in the drivers.

`stage > 0` is said wherever the index of steps is wanted: SQLite does not conclude it from `stage = 2`.
A value that may be None is cast, since PostgreSQL wants to know the type of every parameter. `/*+ name */`
names the index to use, where SQLite without statistics would take another.
"""

# ruff: noqa: S608  all that is put together here is fixed; every value is bound

from __future__ import annotations

_RECORD = "seq, digest, body, key_id, signature"

BY_ID = f"SELECT {_RECORD} FROM record WHERE record_id = :record_id"
STEPS = f"""
SELECT {_RECORD} FROM (
    SELECT {_RECORD}, 0 AS stage FROM record WHERE record_id = :decision_id AND decision_id = :decision_id
    UNION ALL
    SELECT {_RECORD}, stage FROM record WHERE decision_id = :decision_id AND stage > 0
) AS step ORDER BY stage
"""
FOR_CALL = f"""
SELECT {_RECORD} FROM record
WHERE tenant = :tenant AND conversation = :conversation AND call_id = :call_id AND stage = 0
ORDER BY seq DESC LIMIT 1
"""
STARTED_AS = """
SELECT started.decision_id, started.body FROM record AS decided
JOIN record AS started ON started.decision_id = decided.decision_id AND started.stage = 1 AND started.stage > 0
WHERE decided.tenant = :tenant AND decided.conversation = :conversation AND decided.call_id = :call_id
  AND decided.stage = 0 AND decided.decision_id <> :decision_id
"""
# Settlements come along: whether one says `failed` stands in its bytes only.
_NOT_FAILED = """
  AND NOT EXISTS (
    SELECT 1 FROM record AS ended
    WHERE ended.decision_id = started.decision_id AND ended.stage = 2 AND ended.stage > 0 AND ended.state = 'failed'
  )
"""
_SETTLED = """(
    SELECT settled.body FROM record AS settled
    WHERE settled.decision_id = started.decision_id AND settled.stage = 3 AND settled.stage > 0
)"""
STARTED_ON = f"""
SELECT body, {_SETTLED} FROM record AS started
WHERE tenant = :tenant AND instructed_by = :instruction {_NOT_FAILED}
ORDER BY seq
"""
EXECUTED = f"""
SELECT {_RECORD} FROM record
WHERE tenant = :tenant AND conversation = :conversation AND user_id = :user_id AND action_key = :action_key
  AND fingerprint = :fingerprint AND state = 'executed'
ORDER BY seq DESC LIMIT 1
"""
UNFINISHED = f"""
SELECT {_RECORD} FROM record /*+ record_unfinished */
WHERE unfinished = 1 AND NOT EXISTS (
    SELECT 1 FROM record AS later
    WHERE later.stage > 0 AND later.decision_id = record.decision_id AND later.stage = record.stage + 1
) ORDER BY seq
"""
SCAN = f"SELECT {_RECORD} FROM record WHERE seq > :after ORDER BY seq LIMIT :page"
_RAW = """
seq, record_id, decision_id, state, tenant, conversation, action_key, body, digest, previous_digest, key_id, signature
"""
# What retention removed stands in `buried`, with an empty body. Each part is cut to a page by its own index:
# over both together, PostgreSQL would sort the log once for every page.
RAW_SCAN = f"""
SELECT * FROM (SELECT {_RAW} FROM record WHERE seq > :after ORDER BY seq LIMIT :page) AS kept
UNION ALL
SELECT * FROM (SELECT {_RAW} FROM buried WHERE seq > :after ORDER BY seq LIMIT :page) AS gone
ORDER BY seq LIMIT :page
"""
HEAD = """
SELECT count(*) + (SELECT count(*) FROM buried), coalesce(max(seq), 0),
       (SELECT digest FROM record ORDER BY seq DESC LIMIT 1)
FROM record
"""

# What a claim is judged by. Only the newest start under a key can be without an outcome: no later one was
# let in while it was.
STATE = """
SELECT state FROM (
    SELECT state, stage FROM record WHERE record_id = :decision_id AND decision_id = :decision_id AND stage = 0
    UNION ALL
    SELECT state, stage FROM record WHERE decision_id = :decision_id AND stage > 0
) AS step ORDER BY stage DESC LIMIT 1
"""
RUNNING = """
SELECT 1 FROM (
    SELECT decision_id FROM record /*+ record_start */
    WHERE tenant = :tenant AND conversation = :conversation AND action_key = :action_key AND stage = 1
    ORDER BY seq DESC LIMIT 1
) AS newest WHERE NOT EXISTS (
    SELECT 1 FROM record WHERE decision_id = newest.decision_id AND stage = 2 AND stage > 0
)
"""
STARTED = f"""
SELECT body, {_SETTLED} FROM record AS started
WHERE tenant = :tenant AND tool = :tool AND stage = 1 AND at >= :since
  AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id) {_NOT_FAILED}
ORDER BY at, seq
"""

ASK = """
INSERT INTO question (question_id, tenant, conversation, call_id, expires_at, body)
VALUES (:question_id, :tenant, :conversation, :call_id, :expires_at, :body)
ON CONFLICT DO NOTHING
"""
QUESTION = "SELECT body FROM question WHERE question_id = :question_id"
OPEN_QUESTIONS = """
SELECT body FROM question
WHERE expires_at > :now
  AND (CAST(:tenant AS TEXT) IS NULL OR (tenant = :tenant AND conversation = :conversation))
  AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.question_id = question.question_id)
ORDER BY seq
"""
# A call has its own questions, and those that it was attached to.
ASKED = """
SELECT body FROM (
    SELECT seq, body FROM question
    WHERE tenant = :tenant AND conversation = :conversation AND call_id = :call_id
    UNION
    SELECT question.seq, question.body FROM attachment JOIN question ON question.question_id = attachment.question_id
    WHERE attachment.tenant = :tenant AND attachment.conversation = :conversation AND attachment.call_id = :call_id
) AS of_call ORDER BY seq
"""
ANSWER = """
INSERT INTO answer (question_id, body)
SELECT question_id, :body FROM question WHERE question_id = :question_id
ON CONFLICT DO NOTHING RETURNING seq
"""
ANSWER_TO = "SELECT body FROM answer WHERE question_id = :question_id"
ANSWERS_FOR_CALL = """
SELECT body FROM (
    SELECT answer.seq, answer.body FROM question JOIN answer ON answer.question_id = question.question_id
    WHERE tenant = :tenant AND conversation = :conversation AND call_id = :call_id
    UNION
    SELECT answer.seq, answer.body FROM attachment JOIN answer ON answer.question_id = attachment.question_id
    WHERE tenant = :tenant AND conversation = :conversation AND call_id = :call_id
) AS of_call ORDER BY seq
"""
NO_ANSWER = """
INSERT INTO no_answer (question_id, body)
SELECT question_id, :body FROM question WHERE question_id = :question_id
RETURNING seq
"""
NO_ANSWERS = "SELECT body FROM no_answer WHERE question_id = :question_id ORDER BY seq"

_NEWEST_MEANING = """
    SELECT server, tool FROM meaning
    WHERE tenant = :tenant AND conversation = :conversation AND user_id = :user_id AND name = :name
    ORDER BY seq DESC LIMIT 1
"""
LEARN = f"""
INSERT INTO meaning (tenant, conversation, user_id, name, server, tool, confirmed_by, at)
SELECT :tenant, :conversation, :user_id, :name, :server, :tool, :by, :at
WHERE NOT EXISTS (SELECT 1 FROM ({_NEWEST_MEANING}) AS newest WHERE server = :server AND tool = :tool)
"""
FORGET = f"""
INSERT INTO meaning (tenant, conversation, user_id, name, at)
SELECT :tenant, :conversation, :user_id, :name, :at
WHERE EXISTS (SELECT 1 FROM ({_NEWEST_MEANING}) AS newest WHERE tool IS NOT NULL)
"""
MEANINGS = """
SELECT name, server, tool FROM meaning AS this
WHERE tenant = :tenant AND conversation = :conversation AND user_id = :user_id AND tool IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM meaning AS later
    WHERE tenant = :tenant AND conversation = :conversation AND user_id = :user_id AND name = this.name
      AND later.seq > this.seq
) ORDER BY seq
"""
