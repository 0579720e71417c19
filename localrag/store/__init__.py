"""The SQLite file: tables, full-text rows, vectors, ledger, traces. Never embeds or analyses.

Every function takes an `apsw.Connection` first. Reading functions may run on any thread's own
connection; writing functions run inside `Database.atomic`.
"""
