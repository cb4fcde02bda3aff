"""The tables, as numbered migrations: each is run once, in order, and never edited after a release."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE changes (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            status TEXT NOT NULL CHECK (status IN ('reserved', 'pending', 'applied', 'discarded', 'undone')),
            title TEXT NOT NULL DEFAULT '',
            created TEXT NOT NULL,
            updated TEXT NOT NULL,
            workspace TEXT NOT NULL DEFAULT '',
            session TEXT NOT NULL DEFAULT '',
            model TEXT NOT NULL DEFAULT '',
            stamp TEXT NOT NULL DEFAULT '',
            reason TEXT NOT NULL DEFAULT '',
            notes TEXT NOT NULL DEFAULT '[]'
        ) STRICT""",
        """CREATE TABLE change_files (
            change TEXT NOT NULL REFERENCES changes (id),
            position INTEGER NOT NULL,
            path TEXT NOT NULL,
            action TEXT NOT NULL,
            old_path TEXT,
            base BLOB,
            result BLOB,
            base_mode INTEGER,
            result_mode INTEGER,
            edits TEXT NOT NULL DEFAULT '[]',
            PRIMARY KEY (change, position)
        ) STRICT""",
        """CREATE TABLE change_instructions (
            change TEXT NOT NULL REFERENCES changes (id),
            position INTEGER NOT NULL,
            file TEXT NOT NULL,
            path TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            PRIMARY KEY (change, position)
        ) STRICT""",
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL DEFAULT '',
            created TEXT NOT NULL,
            updated TEXT NOT NULL,
            model TEXT NOT NULL DEFAULT '',
            focus TEXT NOT NULL DEFAULT '.',
            state TEXT NOT NULL DEFAULT '{}'
        ) STRICT""",
        """CREATE TABLE messages (
            session TEXT NOT NULL REFERENCES sessions (id),
            position INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (session, position)
        ) STRICT""",
        """CREATE TABLE audit (
            number INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            change TEXT NOT NULL,
            stamp TEXT NOT NULL,
            detail TEXT NOT NULL,
            previous TEXT NOT NULL,
            digest TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE prompts (
            number INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            text TEXT NOT NULL
        ) STRICT""",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
        "CREATE TABLE copies (url TEXT PRIMARY KEY, data BLOB NOT NULL, at REAL NOT NULL) STRICT",
        "CREATE TABLE drafts (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
        """CREATE TABLE trust (
            path TEXT PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            at TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE trusted_texts (
            kind TEXT NOT NULL,
            path TEXT NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (kind, path)
        ) STRICT""",
    ),
    (
        """CREATE TABLE change_remains (
            change TEXT NOT NULL,
            position INTEGER NOT NULL,
            base_sha256 TEXT,
            result_sha256 TEXT,
            added INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            PRIMARY KEY (change, position),
            FOREIGN KEY (change, position) REFERENCES change_files (change, position)
        ) STRICT""",
    ),
    (
        # A compacted conversation begins at a later message; those before it are kept.
        "ALTER TABLE sessions ADD COLUMN begins INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
    ),
    (
        # What a person makes of a pending change while reading it, and the version that they looked at last when
        # another one has taken its place.
        """CREATE TABLE readings (
            change TEXT PRIMARY KEY REFERENCES changes (id),
            stamp TEXT NOT NULL,
            body TEXT NOT NULL
        ) STRICT""",
        """CREATE TABLE read_files (
            change TEXT NOT NULL REFERENCES changes (id),
            position INTEGER NOT NULL,
            path TEXT NOT NULL,
            action TEXT NOT NULL,
            old_path TEXT,
            base BLOB,
            result BLOB,
            base_mode INTEGER,
            result_mode INTEGER,
            PRIMARY KEY (change, position)
        ) STRICT""",
    ),
    (
        # What a list shows of the files of a finished change, so that it need not read their bytes.
        """CREATE TABLE change_sums (
            change TEXT NOT NULL,
            position INTEGER NOT NULL,
            base_sha256 TEXT,
            result_sha256 TEXT,
            added INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            PRIMARY KEY (change, position),
            FOREIGN KEY (change, position) REFERENCES change_files (change, position)
        ) STRICT""",
    ),
)
