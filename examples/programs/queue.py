#!/usr/bin/python3
"""A queue in a table of SQLite, as a program for lockbench: what a library's adapter looks like.

A consumer completes all items of its claim in one request, and with one statement.

  lockbench verify -s examples/programs/queue.py -d sqlite:
  lockbench compare -s examples/programs/queue.py -d sqlite: -S drain --batch 1,10,100
"""
import json
import sqlite3
import sys

HELLO = {
    "hello": 1,
    "strategy": "queue-py",
    "shape": "queue",
    "claims": ["no-duplicate", "no-loss", "owner-release"],
    "engines": ["sqlite"],
    "operations": ["put", "claim", "complete", "error", "free", "recover"],
    "batches": ["complete"],
}
NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


class Worker:
    def open(self, request):
        self.me = request["worker"]
        self.db = sqlite3.connect(request["target"]["path"], timeout=10, isolation_level=None)
        return {"ok": True}

    def setup(self, request):
        self.db.execute(
            "CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT NOT NULL DEFAULT 'ready',"
            " owner TEXT, since INTEGER, payload TEXT)"
        )
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    close = teardown

    def put(self, request):
        self.db.execute(
            "INSERT INTO job (id, payload) VALUES (?, ?)", (request["item"], request["payload"])
        )
        return {"ok": True}

    def claim(self, request):
        rows = self.db.execute(
            f"UPDATE job SET state = 'taken', owner = ?, since = {NOW} WHERE id IN"
            " (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT ?) RETURNING id",
            (self.me, request["n"]),
        ).fetchall()
        return {"ok": True, "items": [{"item": row[0]} for row in rows]} if rows else {"empty": True}

    def end(self, request, state):
        """All items of a claim, as "batches" says of complete; of error and free the one item."""
        ids = [one["item"] for one in request.get("items", [request])]
        rows = self.db.execute(
            "UPDATE job SET state = ?, owner = NULL WHERE id IN (SELECT value FROM json_each(?))"
            " AND owner = ? AND state = 'taken' RETURNING id",
            (state, json.dumps(ids), self.me),
        ).fetchall()
        return {"ok": True, "items": [row[0] for row in rows]} if rows else {"refused": True}

    def complete(self, request):
        return self.end(request, "done")

    def error(self, request):
        return self.end(request, "failed")

    def free(self, request):
        return self.end(request, "ready")

    def recover(self, request):
        self.db.execute(
            "UPDATE job SET state = 'ready', owner = NULL"
            f" WHERE state = 'taken' AND since < {NOW} - ?",
            (request["older_than_ms"],),
        )
        return {"ok": True}


def say(line):
    print(json.dumps(line), flush=True)


say(HELLO)
worker = Worker()
for text in sys.stdin:
    request = json.loads(text)
    try:
        answer = getattr(worker, request["do"])(request)
    except sqlite3.OperationalError as error:
        answer = {"error": str(error)}
    say({"id": request["id"], **answer})
