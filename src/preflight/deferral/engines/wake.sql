-- What wakes the workers: one job for each row that is soon due, beside the tables of the job engine. Run in the
-- schema `preflight_wake` after the engine's own script. All of it follows from `preflight.deferral` and can be
-- made again: nothing here says that a run may start.

-- By which script this was made.
CREATE TABLE made (
    ours   INTEGER NOT NULL,
    engine TEXT NOT NULL
);

-- Jobs are made only for what is due so soon: the engine goes through all its jobs each time it fetches one.
CREATE FUNCTION horizon() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM statement_timestamp() + INTERVAL '10 minutes') * 1000000)::BIGINT
$$;

-- Schedule a wake-up at an instant, in microseconds since the epoch; false where it is there already.
CREATE FUNCTION wake_up(id TEXT, at BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql
SET search_path = preflight_wake, pg_temp AS $$
BEGIN
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        'preflight', 'preflight.wake', 0, NULL, id || '@' || at, jsonb_build_object('deferral_id', id),
        TIMESTAMPTZ 'epoch' + at * INTERVAL '1 microsecond'
    )]::procrastinate_job_to_defer_v1[]);
    RETURN TRUE;
EXCEPTION
    WHEN unique_violation THEN RETURN FALSE;
END
$$;

-- Schedule the next wake-up of a row that still waits after a look: when its lease ends or it is due. A second from
-- now at the soonest, for a worker's clock may be behind the server's.
CREATE FUNCTION again(id TEXT) RETURNS VOID LANGUAGE sql
SET search_path = preflight_wake, pg_temp AS $$
    SELECT wake_up(deferral_id, greatest(due, lease, (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT + 1000000))
    FROM preflight.deferral
    WHERE deferral_id = id AND state = 'waiting' AND due <= horizon() AND lease <= horizon()
$$;

-- Schedule what is missing, at most so many; return how many were. One session at a time does it. Jobs come and go
-- faster than statistics: what is planned while there are none must do for thousands, hence no nested loop.
CREATE FUNCTION catch_up(most INTEGER) RETURNS BIGINT LANGUAGE plpgsql
SET search_path = preflight_wake, pg_temp SET enable_nestloop = off AS $$
DECLARE
    made_now BIGINT;
BEGIN
    IF NOT pg_try_advisory_xact_lock(8097402) THEN
        RETURN 0;
    END IF;
    SELECT count(*) FILTER (WHERE wake_up(missing.deferral_id, missing.at)) INTO made_now FROM (
        SELECT d.deferral_id, greatest(d.due, d.lease) AS at FROM preflight.deferral d
        WHERE d.state = 'waiting' AND d.due <= horizon() AND d.lease <= horizon() AND NOT EXISTS (
            SELECT 1 FROM procrastinate_jobs job
            WHERE job.status = 'todo' AND job.queueing_lock = d.deferral_id || '@' || greatest(d.due, d.lease)
        )
        ORDER BY d.due LIMIT most
    ) missing;
    RETURN made_now;
END
$$;

-- The two below run with the rights of their owner, in the transaction of whoever defers, moves or answers. A
-- wake-up that cannot be scheduled, or not soon, must not keep them from it: the workers' scan finds the row.

CREATE FUNCTION row_waits() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
SET search_path = preflight_wake, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    IF greatest(NEW.due, NEW.lease) <= horizon() THEN
        PERFORM wake_up(NEW.deferral_id, greatest(NEW.due, NEW.lease));
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN OTHERS THEN
        RAISE WARNING 'no wake-up for deferred run %: %', NEW.deferral_id, SQLERRM;
        RETURN NULL;
END
$$;

CREATE FUNCTION question_answered() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
SET search_path = preflight_wake, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    PERFORM wake_up(deferral_id, (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT)
    FROM preflight.deferral WHERE state = 'held' AND question_id = NEW.question_id;
    RETURN NULL;
EXCEPTION
    WHEN OTHERS THEN
        RAISE WARNING 'no wake-up after the answer to %: %', NEW.question_id, SQLERRM;
        RETURN NULL;
END
$$;

CREATE TRIGGER wake_up AFTER INSERT OR UPDATE OF state, due ON preflight.deferral
    FOR EACH ROW WHEN (NEW.state = 'waiting') EXECUTE FUNCTION row_waits();
CREATE TRIGGER wake_up AFTER INSERT ON preflight.answer
    FOR EACH ROW EXECUTE FUNCTION question_answered();
