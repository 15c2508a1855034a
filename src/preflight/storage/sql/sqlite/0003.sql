-- Retention: a record may leave the log, and what stands of it in `buried` keeps its place, its chain and its
-- leaf in the tree. The signed tombstone says so; without it the audit reports the removal.

CREATE TABLE tombstone (
    seq  INTEGER PRIMARY KEY,
    body BLOB NOT NULL                    -- a signed envelope that lists what was removed
) STRICT;

CREATE TABLE buried (
    seq             INTEGER PRIMARY KEY,
    record_id       TEXT NOT NULL,
    decision_id     TEXT NOT NULL,
    state           TEXT NOT NULL,
    tenant          TEXT NOT NULL,
    conversation    TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    digest          TEXT NOT NULL,
    previous_digest TEXT,
    question_id     TEXT,
    key_id          TEXT,                 -- as in `record`, and always empty: both are read as one log
    signature       BLOB,
    body            BLOB NOT NULL DEFAULT x''
) STRICT;

CREATE INDEX buried_question ON buried (question_id) WHERE question_id IS NOT NULL;

CREATE TRIGGER tombstone_no_update BEFORE UPDATE ON tombstone
BEGIN SELECT RAISE(ABORT, 'tombstones are append-only'); END;
CREATE TRIGGER tombstone_no_delete BEFORE DELETE ON tombstone
BEGIN SELECT RAISE(ABORT, 'tombstones are append-only'); END;
CREATE TRIGGER tombstone_no_replace BEFORE INSERT ON tombstone
WHEN EXISTS (SELECT 1 FROM tombstone WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER buried_no_update BEFORE UPDATE ON buried
BEGIN SELECT RAISE(ABORT, 'what stands of records is append-only'); END;
CREATE TRIGGER buried_no_delete BEFORE DELETE ON buried
BEGIN SELECT RAISE(ABORT, 'what stands of records is append-only'); END;
-- What is buried is exactly what stands in the log, and never the newest record under its key: the next one
-- chains to that, and the last place of the log is not given twice.
CREATE TRIGGER buried_from_record BEFORE INSERT ON buried
WHEN EXISTS (SELECT 1 FROM buried WHERE seq = NEW.seq) OR NOT EXISTS (
    SELECT 1 FROM record
    WHERE seq = NEW.seq AND digest = NEW.digest AND previous_digest IS NEW.previous_digest
      AND record_id = NEW.record_id AND decision_id = NEW.decision_id AND state = NEW.state AND tenant = NEW.tenant
      AND conversation = NEW.conversation AND action_key = NEW.action_key
) OR NOT EXISTS (
    SELECT 1 FROM record
    WHERE tenant = NEW.tenant AND conversation = NEW.conversation AND action_key = NEW.action_key AND seq > NEW.seq
)
BEGIN SELECT RAISE(ABORT, 'only a record that others follow under its key is buried'); END;

DROP TRIGGER record_no_delete;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
WHEN NOT EXISTS (SELECT 1 FROM buried WHERE seq = OLD.seq AND digest = OLD.digest)
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
DROP TRIGGER question_no_delete;
CREATE TRIGGER question_no_delete BEFORE DELETE ON question
WHEN NOT EXISTS (SELECT 1 FROM buried WHERE question_id = OLD.question_id)
BEGIN SELECT RAISE(ABORT, 'questions are append-only'); END;
DROP TRIGGER answer_no_delete;
CREATE TRIGGER answer_no_delete BEFORE DELETE ON answer
WHEN NOT EXISTS (SELECT 1 FROM buried WHERE question_id = OLD.question_id)
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
