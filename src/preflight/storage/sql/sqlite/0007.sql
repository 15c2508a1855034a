-- Which instruction a start is of, or a decision to start later (R-79), so that one is found to do again what another
-- did. On these only.

ALTER TABLE record ADD COLUMN instructed_by TEXT;

CREATE INDEX record_instructed ON record (tenant, instructed_by) WHERE instructed_by IS NOT NULL;
