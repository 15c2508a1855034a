-- Deferred runs: the row of each that waits, the notes of its changes, and the starts of occurrences.

-- The one table whose rows change: it only says when a worker looks, and what users moved or cancelled. What
-- was meant stands in the `deferred` record, what was done to the row in its notes.
CREATE TABLE preflight.deferral (
    deferral_id  TEXT PRIMARY KEY,
    decision_id  TEXT NOT NULL,           -- the `deferred` record
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT,
    state        TEXT NOT NULL,
    due          BIGINT NOT NULL,         -- microseconds since the epoch, UTC
    lease        BIGINT NOT NULL DEFAULT 0,  -- until when a worker has it
    occurrence   TEXT,
    event        TEXT,
    question_id  TEXT,
    version      BIGINT NOT NULL,
    body         BYTEA NOT NULL
);

CREATE INDEX deferral_due ON preflight.deferral (due) WHERE state = 'waiting';
CREATE INDEX deferral_decision ON preflight.deferral (decision_id);
CREATE INDEX deferral_call ON preflight.deferral (tenant, conversation, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX deferral_event ON preflight.deferral (event) WHERE state = 'waiting' AND event IS NOT NULL;
CREATE INDEX deferral_question ON preflight.deferral (question_id) WHERE state = 'held' AND question_id IS NOT NULL;

CREATE TABLE preflight.deferral_note (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deferral_id TEXT NOT NULL REFERENCES preflight.deferral,
    body        BYTEA NOT NULL
);

CREATE INDEX deferral_note_of ON preflight.deferral_note (deferral_id, seq);

-- The one start of each occurrence (R-83): the authority, whatever races.
CREATE TABLE preflight.occurrence (
    decision_id TEXT NOT NULL,
    occurrence  TEXT NOT NULL,
    started_id  TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    PRIMARY KEY (decision_id, occurrence)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['deferral_note', 'occurrence'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.%I '
                       'FOR EACH ROW EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON preflight.%I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_change', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END
$$;

ALTER TABLE preflight.deferral ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.deferral_note ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.occurrence ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON preflight.deferral USING (tenant = current_setting('preflight.tenant', true));
CREATE POLICY own_tenant ON preflight.deferral_note
    USING (EXISTS (SELECT 1 FROM preflight.deferral d WHERE d.deferral_id = deferral_note.deferral_id));
CREATE POLICY own_tenant ON preflight.occurrence USING (tenant = current_setting('preflight.tenant', true));
