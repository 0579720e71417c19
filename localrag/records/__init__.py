"""The plain values that travel between the lanes.

A file becomes a `Document` of `Block` spans, a document becomes `Section` and `Chunk` values, a
query becomes a `SearchState` that the stages widen and narrow, and what comes out is a `Hit` or an
`Answer`. Offsets are characters (code points) of `Document.text`, half open, from 0.
"""

from localrag.records.chunks import Chunk, ChunkSize, Section, StoredChunk, passage_text
from localrag.records.documents import PAGE_BREAK, Block, BlockKind, Document, Metadata
from localrag.records.reports import (
    Moved,
    Progress,
    ProgressCallback,
    ReembedReport,
    Skipped,
    SyncReport,
)
from localrag.records.results import Answer, Citation, Hit, Place, SearchResult, cite
from localrag.records.search import Allowed, Copies, Filter, Passage, RankedList, SearchState, Stage
from localrag.records.status import Properties, Source, Status
from localrag.records.trace import FAILED, Candidate, StageRecord, Trace

__all__ = [
    "FAILED",
    "PAGE_BREAK",
    "Allowed",
    "Answer",
    "Block",
    "BlockKind",
    "Candidate",
    "Chunk",
    "ChunkSize",
    "Citation",
    "Copies",
    "Document",
    "Filter",
    "Hit",
    "Metadata",
    "Moved",
    "Passage",
    "Place",
    "Progress",
    "ProgressCallback",
    "Properties",
    "RankedList",
    "ReembedReport",
    "SearchResult",
    "SearchState",
    "Section",
    "Skipped",
    "Source",
    "Stage",
    "StageRecord",
    "Status",
    "StoredChunk",
    "SyncReport",
    "Trace",
    "cite",
    "passage_text",
]
