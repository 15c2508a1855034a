-- The record log, the questions and answers, the learned names; and the audit catalogue derived from the log.
--
-- What is stored for good sits in append-only tables. Three triggers guard each: updates and deletes are
-- refused, and an insert that collides with a row is dropped before `OR REPLACE` could put it in that
-- row's place (delete triggers do not fire on REPLACE). Against the file's owner only a chain and
-- signatures help; their columns are here and empty.

CREATE TABLE record (
    seq             INTEGER PRIMARY KEY,  -- order of commits
    record_id       TEXT NOT NULL,
    decision_id     TEXT NOT NULL,
    stage           INTEGER NOT NULL,     -- 0 decision, 1 start, 2 outcome, 3 settlement: the lifecycle's number
    unfinished      INTEGER NOT NULL,     -- 1 where the lifecycle waits for a next stage
    state           TEXT NOT NULL,
    tenant          TEXT NOT NULL,
    conversation    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    tool            TEXT,
    fingerprint     TEXT,
    call_id         TEXT,
    at              INTEGER NOT NULL,     -- microseconds since the epoch, UTC
    digest          TEXT NOT NULL,        -- hex SHA-256 of body
    previous_digest TEXT,
    signature       BLOB,
    key_id          TEXT,
    body            BLOB NOT NULL         -- the exact bytes that are hashed; the columns only find them
) STRICT;

CREATE UNIQUE INDEX record_id ON record (record_id);
-- One start, one outcome and one settlement for each decision (R-75): the authority, whatever races.
CREATE UNIQUE INDEX record_step ON record (decision_id, stage) WHERE stage > 0;
-- The newest start under a key, to see whether it has ended (R-77).
CREATE INDEX record_start ON record (tenant, conversation, action_key) WHERE stage = 1;
CREATE INDEX record_unfinished ON record (decision_id, stage) WHERE unfinished = 1;
CREATE INDEX record_executed ON record (tenant, conversation, user_id, action_key, fingerprint)
    WHERE state = 'executed';
CREATE INDEX record_call ON record (tenant, conversation, call_id) WHERE stage = 0 AND call_id IS NOT NULL;

CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER record_no_replace BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE record_id = NEW.record_id)
  OR EXISTS (SELECT 1 FROM record WHERE seq = NEW.seq)
  OR (NEW.stage > 0
      AND EXISTS (SELECT 1 FROM record WHERE stage > 0 AND decision_id = NEW.decision_id AND stage = NEW.stage))
BEGIN SELECT RAISE(IGNORE); END;

CREATE TABLE question (
    seq          INTEGER PRIMARY KEY,
    question_id  TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT,
    expires_at   INTEGER NOT NULL,        -- microseconds since the epoch, UTC
    body         BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX question_id ON question (question_id);
CREATE INDEX question_call ON question (tenant, conversation, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX question_expiry ON question (expires_at);

CREATE TRIGGER question_no_update BEFORE UPDATE ON question
BEGIN SELECT RAISE(ABORT, 'questions are append-only'); END;
CREATE TRIGGER question_no_delete BEFORE DELETE ON question
BEGIN SELECT RAISE(ABORT, 'questions are append-only'); END;
CREATE TRIGGER question_no_replace BEFORE INSERT ON question
WHEN EXISTS (SELECT 1 FROM question WHERE question_id = NEW.question_id)
  OR EXISTS (SELECT 1 FROM question WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;

-- At most one answer for each question: the first write wins (R-91).
CREATE TABLE answer (
    seq         INTEGER PRIMARY KEY,
    question_id TEXT NOT NULL,
    body        BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX answer_question ON answer (question_id);

CREATE TRIGGER answer_no_update BEFORE UPDATE ON answer
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answer_no_delete BEFORE DELETE ON answer
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answer_no_replace BEFORE INSERT ON answer
WHEN EXISTS (SELECT 1 FROM answer WHERE question_id = NEW.question_id)
  OR EXISTS (SELECT 1 FROM answer WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;

-- What a user means by a name. The newest row of a name is in force; one without a tool revokes it.
CREATE TABLE meaning (
    seq          INTEGER PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    server       TEXT,
    tool         TEXT,
    confirmed_by TEXT,
    at           TEXT NOT NULL
) STRICT;

CREATE INDEX meaning_name ON meaning (tenant, conversation, user_id, name);

CREATE TRIGGER meaning_no_update BEFORE UPDATE ON meaning
BEGIN SELECT RAISE(ABORT, 'learned names are append-only'); END;
CREATE TRIGGER meaning_no_delete BEFORE DELETE ON meaning
BEGIN SELECT RAISE(ABORT, 'learned names are append-only'); END;
CREATE TRIGGER meaning_no_replace BEFORE INSERT ON meaning
WHEN EXISTS (SELECT 1 FROM meaning WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;

-- Derived from the log, in batches, and brought up to date before an audit: the log's own pages stay few,
-- and an audit that finds nothing reads these short rows instead of every body. Dropping them loses nothing.
CREATE TABLE catalogue (
    seq          INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    state        TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    action_key   TEXT NOT NULL,
    tool         TEXT,
    sources      INTEGER NOT NULL         -- bit n: some slot was settled by the n-th source; 0 on steps
) STRICT;

CREATE INDEX catalogue_state ON catalogue (state);
CREATE INDEX catalogue_scope ON catalogue (tenant, conversation);
CREATE INDEX catalogue_user ON catalogue (user_id);
CREATE INDEX catalogue_key ON catalogue (action_key);
CREATE INDEX catalogue_tool ON catalogue (tool);

-- The slots of each decision, by name; `source` is '' where the slot is unknown.
CREATE TABLE catalogue_slot (
    name   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (name, seq, source)
) STRICT, WITHOUT ROWID;
