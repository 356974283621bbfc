-- What the data plane keeps. Rows are appended; of fact_details and documents the latest seq wins,
-- 0 being the one that was stored with its fact.
CREATE TABLE fact_details (
    fact_id UUID NOT NULL,
    namespace VARCHAR NOT NULL,
    seq BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    sensitivity TINYINT NOT NULL,
    content_at BIGINT NOT NULL,
    expires_at BIGINT,
    is_active BOOLEAN NOT NULL,
    is_cold BOOLEAN NOT NULL,
    agent_name VARCHAR NOT NULL,
    session VARCHAR NOT NULL,
    record VARCHAR NOT NULL
);

CREATE TABLE source_refs (fact_id UUID NOT NULL, namespace VARCHAR NOT NULL, ref VARCHAR NOT NULL);

CREATE TABLE documents (seq BIGINT NOT NULL, kind VARCHAR NOT NULL, key VARCHAR NOT NULL, text VARCHAR);

CREATE TABLE changes (
    seq BIGINT NOT NULL,
    namespace VARCHAR NOT NULL,
    fact_id UUID NOT NULL,
    change VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    happened_at BIGINT NOT NULL
);

CREATE TABLE events (seq BIGINT NOT NULL, happened_at BIGINT NOT NULL, tenant VARCHAR NOT NULL, text VARCHAR NOT NULL);
