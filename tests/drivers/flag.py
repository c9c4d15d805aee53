#!/usr/bin/python3
"""A lock that is a row, through psycopg2. Option form=look: whoever has seen that it is free takes it; form=take: one statement
does both; form=wait: SELECT ... FOR UPDATE in a transaction, and an UPDATE; form=text: likewise, with the COMMIT in the UPDATE's text;
form=beside: like take, while another connection of the process is in a transaction."""
import json
import sys

import psycopg2

HELLO = {
    "hello": 1,
    "strategy": "flag-psycopg2",
    "shape": "lock",
    "claims": ["exclusive", "owner-release"],
    "engines": ["postgres"],
    "options": {"form": "take"},
}


class Worker:
    def open(self, request):
        self.form = request["options"]["form"]
        self.name = request["worker"]
        self.connection = psycopg2.connect(request["uri"])
        self.connection.autocommit = self.form not in ("wait", "text")
        self.other = psycopg2.connect(request["uri"]) if self.form == "beside" else None
        self.cursor = self.connection.cursor()
        return {"ok": True, "session": self.connection.get_backend_pid()}

    def setup(self, request):
        self.cursor.execute("CREATE TABLE flag (name text PRIMARY KEY, owner text)")
        for name in request["resources"]:
            self.cursor.execute("INSERT INTO flag VALUES (%s)", (name,))
        self.connection.commit()
        return {"ok": True}

    def teardown(self, request):
        return {"ok": True}

    def acquire(self, request):
        name = request["resource"]
        if self.other:
            self.other.cursor().execute("SELECT 1")
        if self.form in ("take", "beside"):
            self.cursor.execute("UPDATE flag SET owner = %s WHERE name = %s AND owner IS NULL", (self.name, name))
            return {"ok": True} if self.cursor.rowcount == 1 else {"busy": True}
        lock = " FOR UPDATE" if self.form in ("wait", "text") else ""
        self.cursor.execute("SELECT owner FROM flag WHERE name = %s" + lock, (name,))
        is_free = self.cursor.fetchone()[0] is None
        if is_free:
            end = "; COMMIT" if self.form == "text" else ""
            self.cursor.execute("UPDATE flag SET owner = %s WHERE name = %s" + end, (self.name, name))
        self.connection.commit()
        return {"ok": True} if is_free else {"busy": True}

    def release(self, request):
        if self.other:
            self.other.cursor().execute("SELECT 1")
        self.cursor.execute("UPDATE flag SET owner = NULL WHERE name = %s AND owner = %s", (request["resource"], self.name))
        done = self.cursor.rowcount == 1
        self.connection.commit()
        return {"ok": True} if done else {"refused": True}


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
