-- That a question was put and nobody answered: declined, cancelled, out of time, or refused by a client by itself
-- (R-92). A question may have any number of them, and none of them closes it.

CREATE TABLE preflight.no_answer (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question_id TEXT NOT NULL REFERENCES preflight.question (question_id),
    body        BYTEA NOT NULL
);

CREATE INDEX no_answer_question ON preflight.no_answer (question_id, seq);

CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.no_answer
    FOR EACH ROW EXECUTE FUNCTION preflight.refuse_unburied();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON preflight.no_answer
    FOR EACH STATEMENT EXECUTE FUNCTION preflight.refuse_change();
ALTER TABLE preflight.no_answer ENABLE ALWAYS TRIGGER no_change;
ALTER TABLE preflight.no_answer ENABLE ALWAYS TRIGGER no_truncate;

ALTER TABLE preflight.no_answer ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON preflight.no_answer
    USING (EXISTS (SELECT 1 FROM preflight.question q WHERE q.question_id = no_answer.question_id));
