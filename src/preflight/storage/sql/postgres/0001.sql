-- The record log, the questions and answers, the learned names, in a schema of their own.
--
-- All is append-only. Places in the log are given here and nowhere else, under one lock that is held until
-- the commit is visible: `seq` counts without gaps in the order of commits, so that a head that was exported
-- once stays a prefix of the log for ever. The triggers fire in every mode of a session.
-- Texts: PostgreSQL stores no NUL, so the program writes `\0` for it and `\\` for a backslash.

CREATE SCHEMA IF NOT EXISTS preflight;

CREATE TABLE preflight.record (
    seq             BIGINT PRIMARY KEY,   -- order of commits
    record_id       TEXT NOT NULL,
    decision_id     TEXT NOT NULL,
    stage           SMALLINT NOT NULL,    -- 0 decision, 1 start, 2 outcome, 3 settlement: the lifecycle's number
    unfinished      SMALLINT NOT NULL,    -- 1 where the lifecycle waits for a next stage
    state           TEXT NOT NULL,
    tenant          TEXT NOT NULL,
    conversation    TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    action_key      TEXT NOT NULL,
    tool            TEXT,
    fingerprint     TEXT,
    call_id         TEXT,
    at              BIGINT NOT NULL,      -- microseconds since the epoch, UTC
    digest          TEXT NOT NULL,        -- hex SHA-256 of body
    previous_digest TEXT,
    key_id          TEXT,
    signature       BYTEA,
    body            BYTEA NOT NULL,       -- the exact bytes that are hashed; the columns only find them
    CONSTRAINT record_digest CHECK (digest = encode(sha256(body), 'hex')),
    CONSTRAINT record_stage CHECK (
        stage = CASE state WHEN 'executing' THEN 1 WHEN 'executed' THEN 2 WHEN 'failed' THEN 2 WHEN 'in_doubt' THEN 2
                           WHEN 'settled' THEN 3 ELSE 0 END
    ),
    CONSTRAINT record_decision CHECK (stage > 0 OR decision_id = record_id)
);

CREATE UNIQUE INDEX record_id ON preflight.record (record_id);
-- One start, one outcome and one settlement for each decision (R-75): the authority, whatever races.
CREATE UNIQUE INDEX record_step ON preflight.record (decision_id, stage) WHERE stage > 0;
-- The newest record under a key: what the next one chains to (R-72).
CREATE INDEX record_chain ON preflight.record (action_key, tenant, conversation, seq);
-- The newest start under a key, to see whether it has ended (R-77).
CREATE INDEX record_start ON preflight.record (action_key, tenant, conversation, seq) WHERE stage = 1;
-- Starts that count against a limit over time (R-66).
CREATE INDEX record_tool ON preflight.record (tenant, tool, at, user_id) WHERE stage = 1;
CREATE INDEX record_unfinished ON preflight.record (decision_id, stage) WHERE unfinished = 1;
CREATE INDEX record_executed ON preflight.record (tenant, conversation, user_id, action_key, fingerprint, seq)
    WHERE state = 'executed';
CREATE INDEX record_call ON preflight.record (tenant, conversation, call_id, seq)
    WHERE stage = 0 AND call_id IS NOT NULL;
-- What an audit asks for, newest first.
CREATE INDEX record_audit_scope ON preflight.record (tenant, conversation, seq);
CREATE INDEX record_audit_user ON preflight.record (user_id, seq);
CREATE INDEX record_audit_tool ON preflight.record (tool, seq);
CREATE INDEX record_audit_state ON preflight.record (state, seq);
CREATE INDEX record_audit_time ON preflight.record USING brin (at);

-- The slots of each decision, by name; `source` is '' where the slot is unknown.
CREATE TABLE preflight.slot (
    name   TEXT NOT NULL,
    seq    BIGINT NOT NULL,
    source TEXT NOT NULL,
    tenant TEXT NOT NULL,
    PRIMARY KEY (name, seq, source)
);

CREATE INDEX slot_source ON preflight.slot (source, seq);

CREATE TABLE preflight.question (
    seq          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question_id  TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT,
    expires_at   BIGINT NOT NULL,         -- microseconds since the epoch, UTC
    body         BYTEA NOT NULL
);

CREATE UNIQUE INDEX question_id ON preflight.question (question_id);
CREATE INDEX question_call ON preflight.question (tenant, conversation, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX question_expiry ON preflight.question (expires_at);

-- At most one answer for each question: the first write wins (R-91).
CREATE TABLE preflight.answer (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    question_id TEXT NOT NULL REFERENCES preflight.question (question_id),
    body        BYTEA NOT NULL
);

CREATE UNIQUE INDEX answer_question ON preflight.answer (question_id);

-- What a user means by a name. The newest row of a name is in force; one without a tool revokes it.
CREATE TABLE preflight.meaning (
    seq          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    server       TEXT,
    tool         TEXT,
    confirmed_by TEXT,
    at           TEXT NOT NULL
);

CREATE INDEX meaning_name ON preflight.meaning (tenant, conversation, user_id, name, seq);

-- Nothing is changed or removed (R-71): not by the owner by accident, not in the `replica` mode of a session.
CREATE FUNCTION preflight.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% rows are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['record', 'slot', 'question', 'answer', 'meaning'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.%I '
                       'FOR EACH ROW EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON preflight.%I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_change', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END
$$;

-- The next place in the log, and the chain: a record is let in only if it names the digest before it.
-- It runs as the owner, for whom the log is not cut down to one tenant's rows.
CREATE FUNCTION preflight.place() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    head TEXT;
BEGIN
    PERFORM pg_advisory_xact_lock(8097398);
    SELECT coalesce(max(seq), 0) + 1 INTO NEW.seq FROM preflight.record;
    SELECT digest INTO head FROM preflight.record
    WHERE action_key = NEW.action_key AND tenant = NEW.tenant AND conversation = NEW.conversation
    ORDER BY seq DESC LIMIT 1;
    IF NEW.previous_digest IS DISTINCT FROM head THEN
        RAISE EXCEPTION 'a record must name the digest of the one before it under its key'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER place BEFORE INSERT ON preflight.record FOR EACH ROW EXECUTE FUNCTION preflight.place();
ALTER TABLE preflight.record ENABLE ALWAYS TRIGGER place;

-- Store one record, or say why not: `known` (its id is in the log), `refused` (the lifecycle, R-75, or
-- another run under its key, R-77), `moved` (another record came before it; `head` is what to chain to).
-- `follows` holds the states that its decision may be in. The commit does not wait for the disk: the lock is
-- free at once, and `flush` waits where it must.
CREATE FUNCTION preflight.store(
    p_record_id TEXT, p_decision_id TEXT, p_stage SMALLINT, p_unfinished SMALLINT, p_state TEXT, p_tenant TEXT,
    p_conversation TEXT, p_user_id TEXT, p_action_key TEXT, p_tool TEXT, p_fingerprint TEXT, p_call_id TEXT,
    p_at BIGINT, p_digest TEXT, p_previous TEXT, p_key_id TEXT, p_signature BYTEA, p_body BYTEA,
    follows TEXT[], names TEXT[], sources TEXT[], OUT verdict TEXT, OUT place BIGINT, OUT head TEXT
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present TEXT;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(8097398);
    IF EXISTS (SELECT 1 FROM preflight.record r WHERE r.record_id = p_record_id) THEN
        verdict := 'known';
        RETURN;
    END IF;
    IF p_stage > 0 THEN
        SELECT r.state INTO present FROM preflight.record r
        WHERE r.decision_id = p_decision_id AND r.stage > 0 ORDER BY r.stage DESC LIMIT 1;
        IF present IS NULL THEN
            SELECT r.state INTO present FROM preflight.record r WHERE r.record_id = p_decision_id AND r.stage = 0;
        END IF;
        IF present IS NULL OR NOT present = ANY (follows) THEN
            verdict := 'refused';
            RETURN;
        END IF;
    END IF;
    -- only the newest start under a key can be without an outcome: no later one was let in while it was
    IF p_stage = 1 AND EXISTS (
        SELECT 1 FROM (
            SELECT r.decision_id FROM preflight.record r
            WHERE r.action_key = p_action_key AND r.tenant = p_tenant AND r.conversation = p_conversation
              AND r.stage = 1
            ORDER BY r.seq DESC LIMIT 1
        ) AS newest WHERE NOT EXISTS (
            SELECT 1 FROM preflight.record e WHERE e.decision_id = newest.decision_id AND e.stage = 2
        )
    ) THEN
        verdict := 'refused';
        RETURN;
    END IF;
    SELECT r.digest INTO head FROM preflight.record r
    WHERE r.action_key = p_action_key AND r.tenant = p_tenant AND r.conversation = p_conversation
    ORDER BY r.seq DESC LIMIT 1;
    IF p_previous IS DISTINCT FROM head THEN
        verdict := 'moved';
        RETURN;
    END IF;
    INSERT INTO preflight.record AS r (
        record_id, decision_id, stage, unfinished, state, tenant, conversation, user_id, action_key, tool,
        fingerprint, call_id, at, digest, previous_digest, key_id, signature, body
    ) VALUES (
        p_record_id, p_decision_id, p_stage, p_unfinished, p_state, p_tenant, p_conversation, p_user_id,
        p_action_key, p_tool, p_fingerprint, p_call_id, p_at, p_digest, p_previous, p_key_id, p_signature, p_body
    ) ON CONFLICT DO NOTHING RETURNING r.seq INTO place;
    IF place IS NULL THEN
        verdict := 'refused';
        RETURN;
    END IF;
    INSERT INTO preflight.slot (name, seq, source, tenant)
    SELECT DISTINCT s.name, place, s.source, p_tenant FROM unnest(names, sources) AS s (name, source);
    verdict := 'stored';
END
$$;

-- Wait until everything committed so far survives a loss of power. A server that is set not to wait at all is
-- overruled; one that waits for its replicas too is not.
CREATE FUNCTION preflight.flush() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_logical_emit_message(true, 'preflight', ''::text);
END
$$;

-- A session sees and writes the rows of the tenant that it names; the owner, and roles to whom a policy of
-- their own gives it (`roles.sql`), all rows.
ALTER TABLE preflight.record ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.slot ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.question ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.answer ENABLE ROW LEVEL SECURITY;
ALTER TABLE preflight.meaning ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON preflight.record USING (tenant = current_setting('preflight.tenant', true));
CREATE POLICY own_tenant ON preflight.slot USING (tenant = current_setting('preflight.tenant', true));
CREATE POLICY own_tenant ON preflight.question USING (tenant = current_setting('preflight.tenant', true));
CREATE POLICY own_tenant ON preflight.answer
    USING (EXISTS (SELECT 1 FROM preflight.question q WHERE q.question_id = answer.question_id));
CREATE POLICY own_tenant ON preflight.meaning USING (tenant = current_setting('preflight.tenant', true));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA preflight FROM PUBLIC;
