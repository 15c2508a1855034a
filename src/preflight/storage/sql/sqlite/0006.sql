-- That a question was put and nobody answered: declined, cancelled, out of time, or refused by a client by itself
-- (R-92). A question may have any number of them, and none of them closes it.

CREATE TABLE no_answer (
    seq         INTEGER PRIMARY KEY,
    question_id TEXT NOT NULL,
    body        BLOB NOT NULL
) STRICT;

CREATE INDEX no_answer_question ON no_answer (question_id);

CREATE TRIGGER no_answer_no_update BEFORE UPDATE ON no_answer
BEGIN SELECT RAISE(ABORT, 'missing answers are append-only'); END;
CREATE TRIGGER no_answer_no_delete BEFORE DELETE ON no_answer
WHEN NOT EXISTS (SELECT 1 FROM buried WHERE question_id = OLD.question_id)
BEGIN SELECT RAISE(ABORT, 'missing answers are append-only'); END;
CREATE TRIGGER no_answer_no_replace BEFORE INSERT ON no_answer
WHEN EXISTS (SELECT 1 FROM no_answer WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;
