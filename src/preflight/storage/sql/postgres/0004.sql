-- Folding: runs that asked the same are attached to one question, and its answer is every one's. A row for each of
-- the digests (`fold`) by which the question of a run is found to be the same.

CREATE TABLE preflight.attachment (
    seq          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question_id  TEXT NOT NULL REFERENCES preflight.question (question_id),
    fold         TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT NOT NULL,           -- '' where the run has none
    decision_id  TEXT NOT NULL            -- the decision that asked
);

CREATE UNIQUE INDEX attachment_run ON preflight.attachment (question_id, call_id, fold);
CREATE INDEX attachment_fold ON preflight.attachment (tenant, conversation, fold);
CREATE INDEX attachment_call ON preflight.attachment (tenant, conversation, call_id);

CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.attachment
    FOR EACH ROW EXECUTE FUNCTION preflight.refuse_unburied();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON preflight.attachment
    FOR EACH STATEMENT EXECUTE FUNCTION preflight.refuse_change();
ALTER TABLE preflight.attachment ENABLE ALWAYS TRIGGER no_change;
ALTER TABLE preflight.attachment ENABLE ALWAYS TRIGGER no_truncate;

ALTER TABLE preflight.attachment ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON preflight.attachment USING (tenant = current_setting('preflight.tenant', true));
