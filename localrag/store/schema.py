"""The tables of a knowledge base, apart from how they are opened.

``chunks.id`` is the row id of `chunk_words` and of `chunk_vectors` too: one number names a chunk
everywhere.
"""

from __future__ import annotations

__all__ = [
    "APPLICATION_ID",
    "BODY_FIRST",
    "GLOSSARY",
    "PROPERTIES_AND_COPIES",
    "REEMBEDDED",
    "SYNC_BOOKKEEPING",
    "TABLES",
    "vectors_table",
]

APPLICATION_ID = 0x6C72_6167  # "lrag": `file` and other tools can tell what the file is

TABLES = """
CREATE TABLE settings(
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the user asked to index: a sync removes only documents that lie below one of these.
CREATE TABLE sources(
    path TEXT PRIMARY KEY,
    added_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
) STRICT;

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

-- Analysed text, tokens separated by blanks. Any SQLite shell can query it: no custom tokenizer.
CREATE VIRTUAL TABLE chunk_words USING fts5(
    context, body, content='', contentless_delete=1, tokenize='ascii'
);

CREATE TABLE skipped(
    uri TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
"""

SYNC_BOOKKEEPING = """
-- How a source was indexed: a later sync repeats it. Patterns are JSON lists.
ALTER TABLE sources ADD COLUMN include TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sources ADD COLUMN exclude TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sources ADD COLUMN max_bytes INTEGER; -- NULL: the setting max_file_bytes

-- 'file', or 'memory' for a document that a program added: no sync of folders removes it.
ALTER TABLE documents ADD COLUMN origin TEXT NOT NULL DEFAULT 'file';
-- Nanoseconds since 1970, when its bytes were read: a file changed just before may change again
-- without a new date.
ALTER TABLE documents ADD COLUMN read_at INTEGER;

-- What must differ before a file is tried again that cost a reader its life; '' where any run may.
ALTER TABLE skipped ADD COLUMN attempt TEXT NOT NULL DEFAULT '';
"""


PROPERTIES_AND_COPIES = """
-- What the user said of everything below a source; a later run of the indexer applies it again.
CREATE TABLE source_properties(
    path TEXT PRIMARY KEY,
    metadata TEXT NOT NULL DEFAULT '{}', -- JSON: --meta
    labels TEXT NOT NULL DEFAULT '[]',   -- JSON: --label
    patterns TEXT NOT NULL DEFAULT '[]'  -- JSON: --path-pattern
) STRICT, WITHOUT ROWID;

-- JSON: from the source's metadata and path patterns; wins over what the file says of itself.
ALTER TABLE documents ADD COLUMN assigned TEXT NOT NULL DEFAULT '{}';

-- Chunks that say the same as another: one slot of a search is enough for a whole group.
CREATE TABLE chunk_copies(
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE,
    copy_group INTEGER,                  -- same text, or the same but for harmless words
    version_group INTEGER NOT NULL       -- the same but for a figure or a name, too
) STRICT;
CREATE INDEX chunk_copies_group ON chunk_copies(copy_group);
CREATE INDEX chunk_copies_version ON chunk_copies(version_group);
INSERT INTO chunk_copies(chunk_id, copy_group, version_group)
SELECT id, first, first FROM (
    SELECT id, min(id) OVER same AS first, count(*) OVER same AS members
    FROM chunks WINDOW same AS (PARTITION BY content_hash)
) WHERE members > 1;

-- Keys under which a chunk that is almost the same is found: a hash of the text, MinHash bands.
CREATE TABLE chunk_keys(
    key INTEGER NOT NULL,
    chunk_id INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY(key, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_keys_chunk ON chunk_keys(chunk_id);
"""


GLOSSARY = """
-- Abbreviations that documents explain, with what they stand for; keys as in text/phrases.py.
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

-- What the user added to the glossary or switched off: no run of the indexer touches it.
CREATE TABLE glossary_edits(
    short_key TEXT NOT NULL,
    long_key TEXT NOT NULL,              -- '' for every long form of the short one
    short TEXT NOT NULL,
    long TEXT NOT NULL,
    active INTEGER NOT NULL,             -- 1 added, 0 switched off
    PRIMARY KEY(short_key, long_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX glossary_edits_long ON glossary_edits(long_key, short_key);

-- Version of the search for abbreviations that the document was looked through with; 0 for none.
ALTER TABLE documents ADD COLUMN glossary_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_glossary_version ON documents(glossary_version);
"""


BODY_FIRST = """
-- In a file that has no chunks yet: FTS5 writes two bytes more for each word that is not in the
-- first column. What an older file holds stays as it is, and finds the same.
DROP TABLE chunk_words;
CREATE VIRTUAL TABLE chunk_words USING fts5(
    body, context, content='', contentless_delete=1, tokenize='ascii'
);
"""


REEMBEDDED = """
CREATE TABLE IF NOT EXISTS reembedded(
    content_hash TEXT PRIMARY KEY,       -- as in chunks
    embedding BLOB NOT NULL              -- as in chunk_vectors
) STRICT
"""
"""Made by `localrag reembed` and dropped when it is done: no version of the format needs it.

Rows are too large for WITHOUT ROWID to pay.
"""


def vectors_table(dimensions: int, column: str) -> str:
    """Return the SQL that creates the table of vectors; `column` is vec0's name of their type."""
    return (
        "CREATE VIRTUAL TABLE IF NOT EXISTS chunk_vectors USING vec0("
        f"chunk_id INTEGER PRIMARY KEY, embedding {column}[{dimensions:d}] distance_metric=cosine)"
    )
