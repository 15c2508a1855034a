-- The chain of each key and the starts of each tool.

-- The newest record under a key: what the next one chains to (R-72).
CREATE INDEX record_chain ON record (tenant, conversation, action_key);
-- Starts that count against a limit over time (R-66).
CREATE INDEX record_tool ON record (tenant, tool, at, user_id) WHERE stage = 1;

-- A record is let in only if it names the digest of the one before it under its key. Records that were
-- stored before this migration name none; the first one after it chains to the last of them.
CREATE TRIGGER record_chained BEFORE INSERT ON record
WHEN NEW.previous_digest IS NOT (
    SELECT digest FROM record
    WHERE tenant = NEW.tenant AND conversation = NEW.conversation AND action_key = NEW.action_key
    ORDER BY seq DESC LIMIT 1
)
BEGIN SELECT RAISE(IGNORE); END;
