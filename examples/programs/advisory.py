#!/usr/bin/python3
"""PostgreSQL's advisory locks through psycopg2, as a program for lockbench.

  lockbench verify -s examples/programs/advisory.py -d postgresql://...

Needs python3-psycopg2. A session that ends gives its locks back.
"""
import json
import sys

import psycopg2

HELLO = {
    "hello": 1,
    "strategy": "advisory-psycopg2",
    "version": psycopg2.__version__,
    "shape": "lock",
    "claims": ["exclusive", "owner-release"],
    "engines": ["postgres"],
}


class Worker:
    def open(self, request):
        self.connection = psycopg2.connect(request["uri"])
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        return {"ok": True, "session": self.connection.get_backend_pid()}

    def ask(self, sql, *values):
        self.cursor.execute(sql, values)
        return self.cursor.fetchone()[0]

    def setup(self, request):
        return {"ok": True}

    teardown = close = setup

    def acquire(self, request):
        key = int(request["resource"][1:])
        return {"ok": True} if self.ask("SELECT pg_try_advisory_lock(%s)", key) else {"busy": True}

    def release(self, request):
        key = int(request["resource"][1:])
        return {"ok": True} if self.ask("SELECT pg_advisory_unlock(%s)", key) else {"refused": True}


def say(line):
    print(json.dumps(line), flush=True)


say(HELLO)
worker = Worker()
for text in sys.stdin:
    request = json.loads(text)
    try:
        answer = getattr(worker, request["do"])(request)
    except psycopg2.OperationalError as error:
        answer = {"error": str(error).strip(), "unknown": True}
    say({"id": request["id"], **answer})
