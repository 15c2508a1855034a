-- Retention: a record may leave the log, and what stands of it in `buried` keeps its place, its chain and its
-- leaf in the tree. The signed tombstone says so; without it the audit reports the removal. Only the owner of
-- the schema may do it: the application's roles may delete nothing.

CREATE TABLE preflight.tombstone (
    seq  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body BYTEA NOT NULL                   -- a signed envelope that lists what was removed
);

CREATE TABLE preflight.buried (
    seq             BIGINT PRIMARY KEY,
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
    signature       BYTEA,
    body            BYTEA NOT NULL DEFAULT ''
);

CREATE INDEX buried_question ON preflight.buried (question_id) WHERE question_id IS NOT NULL;

-- What is buried is exactly what stands in the log, and never the newest record under its key: the next one
-- chains to that, and the last place of the log is not given twice.
CREATE FUNCTION preflight.bury() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8097398);
    IF NOT EXISTS (
        SELECT 1 FROM preflight.record r
        WHERE r.seq = NEW.seq AND r.digest = NEW.digest AND r.previous_digest IS NOT DISTINCT FROM NEW.previous_digest
          AND r.record_id = NEW.record_id AND r.decision_id = NEW.decision_id AND r.state = NEW.state
          AND r.tenant = NEW.tenant AND r.conversation = NEW.conversation AND r.action_key = NEW.action_key
    ) OR NOT EXISTS (
        SELECT 1 FROM preflight.record r
        WHERE r.action_key = NEW.action_key AND r.tenant = NEW.tenant AND r.conversation = NEW.conversation
          AND r.seq > NEW.seq
    ) THEN
        RAISE EXCEPTION 'only a record that others follow under its key is buried' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER bury BEFORE INSERT ON preflight.buried FOR EACH ROW EXECUTE FUNCTION preflight.bury();
ALTER TABLE preflight.buried ENABLE ALWAYS TRIGGER bury;

CREATE FUNCTION preflight.refuse_unburied() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF TG_TABLE_NAME IN ('record', 'slot') THEN
            IF EXISTS (SELECT 1 FROM preflight.buried b WHERE b.seq = OLD.seq) THEN
                RETURN OLD;
            END IF;
        ELSIF EXISTS (SELECT 1 FROM preflight.buried b WHERE b.question_id = OLD.question_id) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '% rows are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['record', 'slot', 'question', 'answer'] LOOP
        EXECUTE format('DROP TRIGGER no_change ON preflight.%I', name);
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.%I '
                       'FOR EACH ROW EXECUTE FUNCTION preflight.refuse_unburied()', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_change', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['buried', 'tombstone'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON preflight.%I '
                       'FOR EACH ROW EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON preflight.%I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION preflight.refuse_change()', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_change', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ALWAYS TRIGGER no_truncate', name);
        EXECUTE format('ALTER TABLE preflight.%I ENABLE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- A tombstone lists records of every tenant: only the owner and the operator read it.
CREATE POLICY own_tenant ON preflight.buried USING (tenant = current_setting('preflight.tenant', true));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA preflight FROM PUBLIC;
