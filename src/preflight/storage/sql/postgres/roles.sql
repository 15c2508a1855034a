-- Two roles that may read and append, and nothing else. Run it as the owner of the schema, after the program
-- has made it, and again after every upgrade; then make logins members of one of them:
--
--     CREATE ROLE bank_agent LOGIN PASSWORD '...' IN ROLE preflight_app;
--
-- preflight_app       one tenant's rows: the one that the session names
-- preflight_operator  every tenant's rows: for the worker, the console, and programs that serve many tenants

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'preflight_app') THEN
        CREATE ROLE preflight_app NOLOGIN NOINHERIT;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'preflight_operator') THEN
        CREATE ROLE preflight_operator NOLOGIN NOINHERIT;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of this server made them meanwhile
END
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA preflight FROM preflight_app, preflight_operator;
GRANT USAGE ON SCHEMA preflight TO preflight_app, preflight_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA preflight TO preflight_app, preflight_operator;
-- by column, without `seq`: nobody chooses a place in the log
GRANT INSERT (
    record_id, decision_id, stage, unfinished, state, tenant, conversation, user_id, action_key, tool, fingerprint,
    call_id, instructed_by, at, digest, previous_digest, key_id, signature, body
) ON preflight.record TO preflight_app, preflight_operator;
GRANT INSERT (name, seq, source, tenant) ON preflight.slot TO preflight_app, preflight_operator;
GRANT INSERT (question_id, tenant, conversation, call_id, expires_at, body)
    ON preflight.question TO preflight_app, preflight_operator;
GRANT INSERT (question_id, body) ON preflight.answer TO preflight_app, preflight_operator;
GRANT INSERT (question_id, fold, tenant, conversation, call_id, decision_id)
    ON preflight.attachment TO preflight_app, preflight_operator;
GRANT INSERT (question_id, body) ON preflight.no_answer TO preflight_app, preflight_operator;
GRANT INSERT (tenant, conversation, user_id, name, server, tool, confirmed_by, at)
    ON preflight.meaning TO preflight_app, preflight_operator;
GRANT INSERT, UPDATE ON preflight.deferral TO preflight_app, preflight_operator;
GRANT INSERT (deferral_id, body) ON preflight.deferral_note TO preflight_app, preflight_operator;
GRANT INSERT ON preflight.occurrence TO preflight_app, preflight_operator;
GRANT EXECUTE ON FUNCTION preflight.flush, preflight.store TO preflight_app, preflight_operator;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['record', 'slot', 'question', 'answer', 'meaning', 'buried', 'tombstone',
                               'deferral', 'deferral_note', 'occurrence', 'attachment', 'no_answer'] LOOP
        IF NOT EXISTS (
            SELECT 1 FROM pg_policies WHERE schemaname = 'preflight' AND tablename = name AND policyname = 'every_tenant'
        ) THEN
            EXECUTE format('CREATE POLICY every_tenant ON preflight.%I TO preflight_operator USING (true)', name);
        END IF;
    END LOOP;
END
$$;

-- What wakes workers (`preflight worker --engine procrastinate`), where it was set up: only workers use it.
DO $$
BEGIN
    IF to_regnamespace('preflight_wake') IS NOT NULL THEN
        GRANT USAGE ON SCHEMA preflight_wake TO preflight_operator;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA preflight_wake TO preflight_operator;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA preflight_wake TO preflight_operator;
        REVOKE INSERT, UPDATE, DELETE ON preflight_wake.made FROM preflight_operator;
    END IF;
END
$$;
