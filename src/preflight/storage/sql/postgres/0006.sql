-- Which instruction a start is of, or a decision to start later (R-79), so that one is found to do again what another
-- did. On these only.

ALTER TABLE preflight.record ADD COLUMN instructed_by TEXT;

CREATE INDEX record_instructed ON preflight.record (tenant, instructed_by) WHERE instructed_by IS NOT NULL;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOR name IN SELECT rolname FROM pg_roles WHERE rolname IN ('preflight_app', 'preflight_operator') LOOP
        EXECUTE format('GRANT INSERT (instructed_by) ON preflight.record TO %I', name);
    END LOOP;
END
$$;

-- As before, with the new column.
DROP FUNCTION preflight.store;
CREATE FUNCTION preflight.store(
    p_record_id TEXT, p_decision_id TEXT, p_stage SMALLINT, p_unfinished SMALLINT, p_state TEXT, p_tenant TEXT,
    p_conversation TEXT, p_user_id TEXT, p_action_key TEXT, p_tool TEXT, p_fingerprint TEXT, p_call_id TEXT,
    p_instructed_by TEXT, p_at BIGINT, p_digest TEXT, p_previous TEXT, p_key_id TEXT, p_signature BYTEA, p_body BYTEA,
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
        fingerprint, call_id, instructed_by, at, digest, previous_digest, key_id, signature, body
    ) VALUES (
        p_record_id, p_decision_id, p_stage, p_unfinished, p_state, p_tenant, p_conversation, p_user_id,
        p_action_key, p_tool, p_fingerprint, p_call_id, p_instructed_by, p_at, p_digest, p_previous, p_key_id,
        p_signature, p_body
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
