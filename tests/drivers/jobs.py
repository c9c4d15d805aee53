#!/usr/bin/python3
"""A queue through psycopg2 whose claims are leases. Option lies=yes: whoever loses his connection while he completes an item
connects again and says that it is done, without a look."""
import json
import sys

import psycopg2

HELLO = {
    "hello": 1,
    "strategy": "queue-psycopg2",
    "shape": "queue",
    "lease": True,
    "claims": ["no-duplicate", "no-loss", "owner-release"],
    "engines": ["postgres"],
    "options": {"lies": "no"},
}
CLAIM = """UPDATE job SET until = clock_timestamp() + %s * interval '1 ms', fence = fence + 1 WHERE id = (
    SELECT id FROM job WHERE until IS NULL OR until < clock_timestamp() ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, fence"""


class Worker:
    def open(self, request):
        self.uri = request["uri"]
        self.lies = request["options"]["lies"] == "yes"
        self.ttl_ms = request["options"]["ttl_ms"]
        return self.connect()

    def connect(self):
        self.connection = psycopg2.connect(self.uri)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        return {"ok": True, "session": self.connection.get_backend_pid()}

    def setup(self, request):
        self.cursor.execute("CREATE TABLE job (id bigint PRIMARY KEY, until timestamptz, fence bigint NOT NULL DEFAULT 0)")
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def put(self, request):
        self.cursor.execute("INSERT INTO job VALUES (%s)", (request["item"],))
        return {"ok": True}

    def claim(self, request):
        self.cursor.execute(CLAIM, (self.ttl_ms,))
        row = self.cursor.fetchone()
        return {"ok": True, "items": [{"item": row[0], "token": row[1]}]} if row else {"empty": True}

    def complete(self, request):
        try:
            self.cursor.execute("DELETE FROM job WHERE id = %s AND fence = %s", (request["item"], request["token"]))
        except psycopg2.OperationalError:
            if not self.lies:
                raise
            self.connect()
            return {"ok": True}
        return {"ok": True} if self.cursor.rowcount == 1 else {"refused": True}


def say(line):
    print(json.dumps(line), flush=True)


say(HELLO)
worker = Worker()
for text in sys.stdin:
    request = json.loads(text)
    if request["do"] == "close":
        break
    try:
        answer = getattr(worker, request["do"])(request)
    except psycopg2.OperationalError as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
