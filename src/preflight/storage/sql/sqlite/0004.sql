-- Deferred runs: the row of each that waits, the notes of its changes, and the starts of occurrences.

-- The one table whose rows change: it only says when a worker looks, and what users moved or cancelled. What
-- was meant stands in the `deferred` record, what was done to the row in its notes.
CREATE TABLE deferral (
    deferral_id  TEXT PRIMARY KEY,
    decision_id  TEXT NOT NULL,           -- the `deferred` record
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call_id      TEXT,
    state        TEXT NOT NULL,
    due          INTEGER NOT NULL,        -- microseconds since the epoch, UTC
    lease        INTEGER NOT NULL DEFAULT 0,  -- until when a worker has it
    occurrence   TEXT,
    event        TEXT,
    question_id  TEXT,
    version      INTEGER NOT NULL,
    body         BLOB NOT NULL
) STRICT;

CREATE INDEX deferral_due ON deferral (due) WHERE state = 'waiting';
CREATE INDEX deferral_decision ON deferral (decision_id);
CREATE INDEX deferral_call ON deferral (tenant, conversation, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX deferral_event ON deferral (event) WHERE state = 'waiting' AND event IS NOT NULL;
CREATE INDEX deferral_question ON deferral (question_id) WHERE state = 'held' AND question_id IS NOT NULL;

CREATE TABLE deferral_note (
    seq         INTEGER PRIMARY KEY,
    deferral_id TEXT NOT NULL,
    body        BLOB NOT NULL
) STRICT;

CREATE INDEX deferral_note_of ON deferral_note (deferral_id);

-- The one start of each occurrence (R-83): the authority, whatever races.
CREATE TABLE occurrence (
    decision_id TEXT NOT NULL,
    occurrence  TEXT NOT NULL,
    started_id  TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    PRIMARY KEY (decision_id, occurrence)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER deferral_note_no_update BEFORE UPDATE ON deferral_note
BEGIN SELECT RAISE(ABORT, 'notes are append-only'); END;
CREATE TRIGGER deferral_note_no_delete BEFORE DELETE ON deferral_note
BEGIN SELECT RAISE(ABORT, 'notes are append-only'); END;
CREATE TRIGGER deferral_note_no_replace BEFORE INSERT ON deferral_note
WHEN EXISTS (SELECT 1 FROM deferral_note WHERE seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER occurrence_no_update BEFORE UPDATE ON occurrence
BEGIN SELECT RAISE(ABORT, 'starts are append-only'); END;
CREATE TRIGGER occurrence_no_delete BEFORE DELETE ON occurrence
BEGIN SELECT RAISE(ABORT, 'starts are append-only'); END;
CREATE TRIGGER occurrence_no_replace BEFORE INSERT ON occurrence
WHEN EXISTS (SELECT 1 FROM occurrence WHERE decision_id = NEW.decision_id AND occurrence = NEW.occurrence)
BEGIN SELECT RAISE(IGNORE); END;
