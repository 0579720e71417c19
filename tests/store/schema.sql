CREATE TABLE settings(
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sources(
    path TEXT PRIMARY KEY,
    added_at TEXT NOT NULL
, include TEXT NOT NULL DEFAULT '[]', exclude TEXT NOT NULL DEFAULT '[]', max_bytes INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE documents(
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    content_hash TEXT NOT NULL,          -- SHA-256 of the source's bytes
    size INTEGER NOT NULL,               -- bytes
    modified_at INTEGER,                 -- nanoseconds since 1970, of the file
    indexed_at TEXT NOT NULL,            -- UTC, ISO 8601
    language TEXT,
    metadata TEXT NOT NULL DEFAULT '{}', -- JSON
    labels TEXT NOT NULL DEFAULT '[]'    -- JSON: access labels
, origin TEXT NOT NULL DEFAULT 'file', read_at INTEGER, assigned TEXT NOT NULL DEFAULT '{}', glossary_version INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE sections(
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES sections(id) ON DELETE CASCADE,
    level INTEGER NOT NULL,              -- 0 is the document itself
    heading TEXT NOT NULL,
    first_chunk INTEGER NOT NULL,        -- ordinals, both inclusive
    last_chunk INTEGER NOT NULL
) STRICT;

CREATE INDEX sections_document ON sections(document_id);

CREATE INDEX sections_parent ON sections(parent_id);

CREATE TABLE chunks(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    section_id INTEGER NOT NULL REFERENCES sections(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    preamble TEXT NOT NULL,              -- header rows repeated in front of a cut table
    context TEXT NOT NULL,               -- title > heading > heading
    headings TEXT NOT NULL,              -- JSON list
    start INTEGER NOT NULL,              -- characters of the document's text
    "end" INTEGER NOT NULL,
    page INTEGER,
    lines TEXT NOT NULL,                 -- JSON: [[character, line of the source file], ...]
    tokens INTEGER NOT NULL,
    content_hash TEXT NOT NULL,          -- SHA-256 of context, preamble and text: what is embedded
    previous_id INTEGER,
    next_id INTEGER,
    UNIQUE(document_id, ordinal)
) STRICT;

CREATE INDEX chunks_section ON chunks(section_id);

CREATE INDEX chunks_content_hash ON chunks(content_hash);

CREATE TABLE skipped(
    uri TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    seen_at TEXT NOT NULL
, attempt TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;

CREATE TABLE queries(
    id INTEGER PRIMARY KEY,
    query TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE query_stages(
    query_id INTEGER NOT NULL REFERENCES queries(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    milliseconds REAL NOT NULL,
    note TEXT NOT NULL,
    survivors TEXT NOT NULL,             -- JSON: [[chunk id, score], ...], best first
    PRIMARY KEY(query_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_properties(
    path TEXT PRIMARY KEY,
    metadata TEXT NOT NULL DEFAULT '{}', -- JSON: --meta
    labels TEXT NOT NULL DEFAULT '[]',   -- JSON: --label
    patterns TEXT NOT NULL DEFAULT '[]'  -- JSON: --path-pattern
) STRICT, WITHOUT ROWID;

CREATE TABLE chunk_copies(
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE,
    copy_group INTEGER,                  -- same text, or the same but for harmless words
    version_group INTEGER NOT NULL       -- the same but for a figure or a name, too
) STRICT;

CREATE INDEX chunk_copies_group ON chunk_copies(copy_group);

CREATE INDEX chunk_copies_version ON chunk_copies(version_group);

CREATE TABLE chunk_keys(
    key INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY(key, chunk_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX chunk_keys_chunk ON chunk_keys(chunk_id);

CREATE TABLE glossary(
    document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    short_key TEXT NOT NULL,             -- without case, words separated by blanks
    long_key TEXT NOT NULL,              -- the same, words as their stems
    short TEXT NOT NULL,                 -- as written
    long TEXT NOT NULL,
    PRIMARY KEY(document_id, short_key, long_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX glossary_short ON glossary(short_key, long_key, short, long);

CREATE INDEX glossary_long ON glossary(long_key, short_key, short, long);

CREATE TABLE glossary_edits(
    short_key TEXT NOT NULL,
    long_key TEXT NOT NULL,              -- '' for every long form of the short one
    short TEXT NOT NULL,
    long TEXT NOT NULL,
    active INTEGER NOT NULL,             -- 1 added, 0 switched off
    PRIMARY KEY(short_key, long_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX glossary_edits_long ON glossary_edits(long_key, short_key);

CREATE INDEX documents_glossary_version ON documents(glossary_version);

CREATE VIRTUAL TABLE chunk_words USING fts5(
    body, context, content='', contentless_delete=1, tokenize='ascii'
);

CREATE VIRTUAL TABLE chunk_vectors USING vec0(chunk_id INTEGER PRIMARY KEY, embedding float[384] distance_metric=cosine);
