-- Rows are appended, never updated. Every later state of a fact is a row of fact_changes;
-- seq rises with each commit that changes or counts anything.
CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL);

CREATE TABLE namespaces (namespace VARCHAR NOT NULL);

CREATE TABLE facts (
    fact_id UUID PRIMARY KEY,
    namespace VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    terms VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    superseded_by VARCHAR NOT NULL,
    confidence VARCHAR NOT NULL,
    pinned_at BIGINT,
    alias VARCHAR,
    alias_source VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    client VARCHAR NOT NULL,
    session VARCHAR NOT NULL,
    access_count BIGINT NOT NULL,
    accessed_at BIGINT NOT NULL,
    weight DOUBLE NOT NULL
);

CREATE TABLE fact_changes (
    fact_id UUID NOT NULL,
    namespace VARCHAR NOT NULL,
    seq BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    text VARCHAR NOT NULL,
    terms VARCHAR NOT NULL,
    superseded_by VARCHAR NOT NULL,
    confidence VARCHAR NOT NULL,
    pinned_at BIGINT,
    pruned_at BIGINT,
    alias VARCHAR
);

CREATE TABLE fact_vitals (
    fact_id UUID NOT NULL,
    namespace VARCHAR NOT NULL,
    seq BIGINT NOT NULL,
    access_count BIGINT NOT NULL,
    accessed_at BIGINT NOT NULL,
    weight DOUBLE NOT NULL
);

CREATE TABLE models (model_id INTEGER NOT NULL, model_key VARCHAR NOT NULL);

CREATE TABLE vectors (
    fact_id UUID NOT NULL,
    namespace VARCHAR NOT NULL,
    model_id INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    vector BLOB NOT NULL
);

CREATE TABLE nodes (namespace VARCHAR NOT NULL, node_id VARCHAR NOT NULL, label VARCHAR NOT NULL, type VARCHAR NOT NULL);

CREATE TABLE edges (
    namespace VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    relation VARCHAR NOT NULL,
    weight DOUBLE NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE checkpoints (
    checkpoint_id UUID NOT NULL,
    namespace VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    record VARCHAR NOT NULL
);

CREATE TABLE audit (
    happened_at BIGINT NOT NULL,
    namespace VARCHAR NOT NULL,
    action VARCHAR NOT NULL,
    old_text VARCHAR NOT NULL,
    new_text VARCHAR NOT NULL,
    source VARCHAR NOT NULL
);

CREATE TABLE receipts (
    call_key VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    recorded_at BIGINT NOT NULL
);

CREATE TABLE journal (number BIGINT NOT NULL);

CREATE TABLE counters (name VARCHAR NOT NULL, amount BIGINT NOT NULL);
