-- Folding: runs that asked the same are attached to one question, and its answer is every one's. A row for each of
-- the digests (`fold`) by which the question of a run is found to be the same.

CREATE TABLE attachment (
    seq          INTEGER PRIMARY KEY,
    question_id  TEXT NOT NULL,
    fold         TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT NOT NULL,           -- '' where the run has none
    decision_id  TEXT NOT NULL            -- the decision that asked
) STRICT;

CREATE UNIQUE INDEX attachment_run ON attachment (question_id, call_id, fold);
CREATE INDEX attachment_fold ON attachment (tenant, conversation, fold);
CREATE INDEX attachment_call ON attachment (tenant, conversation, call_id);

CREATE TRIGGER attachment_no_update BEFORE UPDATE ON attachment
BEGIN SELECT RAISE(ABORT, 'attachments are append-only'); END;
CREATE TRIGGER attachment_no_delete BEFORE DELETE ON attachment
WHEN NOT EXISTS (SELECT 1 FROM buried WHERE question_id = OLD.question_id)
BEGIN SELECT RAISE(ABORT, 'attachments are append-only'); END;
CREATE TRIGGER attachment_no_replace BEFORE INSERT ON attachment
WHEN EXISTS (SELECT 1 FROM attachment WHERE seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM attachment
             WHERE question_id = NEW.question_id AND call_id = NEW.call_id AND fold = NEW.fold)
BEGIN SELECT RAISE(IGNORE); END;
