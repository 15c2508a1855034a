-- Which instruction a start is of (R-79), so that one is found to do again what another did. On starts only.

ALTER TABLE record ADD COLUMN instructed_by TEXT;

CREATE INDEX record_instructed ON record (tenant, instructed_by) WHERE instructed_by IS NOT NULL;
