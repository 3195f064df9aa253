-- The ledger's tables. Times are milliseconds since 1970 by this database's clock, 0 where something has not happened;
-- texts are '' rather than NULL. Columns that say what a thing *is* hold JSON, as written by the program; columns that
-- anything is decided by stand beside it.
--
-- There are no foreign keys: rows of a run are only ever written in a transaction that has found the run.

-- +goose Up
CREATE TABLE conversations (
    key TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,               -- of the newest message
    own BOOLEAN NOT NULL                -- the thread began with a message to the bot
);

-- A message is received and accepted in one transaction, so that no row is merely received.
CREATE TABLE inbox (
    platform     TEXT NOT NULL,
    team         TEXT NOT NULL,
    channel      TEXT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq          BIGINT NOT NULL,      -- its place in the conversation
    kind         TEXT NOT NULL CHECK (kind IN ('start', 'steer', 'stop', 'refuse', 'ignore')),
    state        TEXT NOT NULL CHECK (state IN ('accepted', 'consumed', 'answered', 'cancelled', 'superseded', 'withdrawn', 'ignored')),
    run          TEXT NOT NULL,         -- that it was accepted for
    missed       TEXT NOT NULL DEFAULT '', -- the run that ended before it could hear it
    step         BIGINT NOT NULL DEFAULT 0, -- that heard it
    who          TEXT NOT NULL,         -- JSON: a person
    body         TEXT NOT NULL,         -- JSON: the message
    receipt      TEXT NOT NULL,         -- JSON: what was decided
    received     BIGINT NOT NULL,
    PRIMARY KEY (platform, team, channel, message)
);
CREATE UNIQUE INDEX inbox_order ON inbox (conversation, seq);
CREATE INDEX inbox_run ON inbox (run) WHERE run <> '';

CREATE TABLE runs (
    n             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which they were asked
    id            TEXT NOT NULL UNIQUE,
    conversation  TEXT NOT NULL,
    question      TEXT NOT NULL,        -- JSON: the message
    budget        TEXT NOT NULL,
    parent        TEXT NOT NULL,
    status        TEXT NOT NULL,
    verdict       TEXT NOT NULL DEFAULT '',
    fence         BIGINT NOT NULL DEFAULT 0, -- raised at each claim
    worker        TEXT NOT NULL DEFAULT '',
    lease         BIGINT NOT NULL DEFAULT 0, -- until when the worker holds it
    due           BIGINT NOT NULL,     -- since when it waits
    attempts      BIGINT NOT NULL DEFAULT 0,
    started       BIGINT NOT NULL,
    claimed       BIGINT NOT NULL DEFAULT 0,
    ended         BIGINT NOT NULL DEFAULT 0,
    delivered     BOOLEAN NOT NULL DEFAULT FALSE,
    stopped_by    TEXT NOT NULL DEFAULT '', -- JSON: a person
    calls         BIGINT NOT NULL DEFAULT 0, -- how many it has asked for
    model_calls   BIGINT NOT NULL DEFAULT 0,
    tool_calls    BIGINT NOT NULL DEFAULT 0,
    input_tokens  BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cost_usd      DOUBLE PRECISION NOT NULL DEFAULT 0,
    wall_ms       BIGINT NOT NULL DEFAULT 0,
    record        TEXT NOT NULL DEFAULT '' -- JSON: the record without evidence and steering
);
CREATE INDEX runs_conversation ON runs (conversation, n);
-- [S3] The database itself allows one run under way in a conversation.
CREATE UNIQUE INDEX runs_under_way ON runs (conversation) WHERE status IN ('waiting', 'running');

CREATE TABLE steps (
    run   TEXT NOT NULL,
    n     BIGINT NOT NULL,
    reply TEXT NOT NULL,                -- JSON: what the model said, without its calls
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, n)
);

CREATE TABLE calls (
    run    TEXT NOT NULL,
    n      BIGINT NOT NULL,            -- its place in the run
    step   BIGINT NOT NULL,
    call   TEXT NOT NULL,               -- JSON: what was asked for
    done   BOOLEAN NOT NULL DEFAULT FALSE,
    failed BOOLEAN NOT NULL DEFAULT FALSE,
    result TEXT NOT NULL DEFAULT '',    -- JSON: what the model reads of it
    PRIMARY KEY (run, n)
);

CREATE TABLE evidence (
    run  TEXT NOT NULL,
    n    BIGINT NOT NULL,              -- of the call that left it behind
    item TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (run, n)
);

CREATE TABLE outbox (
    n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    run     TEXT NOT NULL,
    final   BOOLEAN NOT NULL,
    post    TEXT NOT NULL,              -- JSON
    state   TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'undeliverable')),
    error   TEXT NOT NULL DEFAULT '',
    handed  BIGINT NOT NULL DEFAULT 0, -- when it was last handed on
    created BIGINT NOT NULL
);
CREATE INDEX outbox_waiting ON outbox (n) WHERE state = 'waiting';

CREATE TABLE deliveries (
    post     TEXT NOT NULL,
    part     BIGINT NOT NULL,
    platform TEXT NOT NULL,             -- the platform's id of the part
    at       BIGINT NOT NULL,
    PRIMARY KEY (post, part)
);

-- Statements of one transaction are sent together, before the answer to the first is known. This is how a statement
-- that must meet a row, but met none, stops those that follow it.
-- +goose StatementBegin
CREATE FUNCTION plumb_must(met BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF met = 0 THEN
        RAISE EXCEPTION 'a condition of the ledger does not hold' USING ERRCODE = 'PLUMB';
    END IF;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION plumb_must;
DROP TABLE deliveries;
DROP TABLE outbox;
DROP TABLE evidence;
DROP TABLE calls;
DROP TABLE steps;
DROP TABLE runs;
DROP TABLE inbox;
DROP TABLE conversations;
