#!/usr/bin/python3
"""psycopg2: types, transactions, errors, COPY, large results by a cursor of the server, notifications, cancel."""
import io
import threading

import psycopg2
import psycopg2.extras

connection = psycopg2.connect("")
cursor = connection.cursor()
cursor.execute("DROP TABLE IF EXISTS y; CREATE TABLE y (id int, at timestamptz, what jsonb, raw bytea)")
for i in range(3):
    cursor.execute("INSERT INTO y VALUES (%s, %s, %s, %s)", (i, "2020-01-01", psycopg2.extras.Json({"a": i}), b"\x00\xff"))
connection.commit()
cursor.execute("SELECT id, extract(epoch FROM at), what, raw FROM y ORDER BY id")
print([(a, float(b), c, bytes(d)) for a, b, c, d in cursor.fetchall()])
try:
    cursor.execute("SELECT 1/0")
except psycopg2.Error as error:
    print(error.pgcode, error)
connection.rollback()
cursor.copy_expert("COPY y (id) FROM STDIN", io.StringIO("".join(f"{i}\n" for i in range(20000))))
text = io.StringIO()
cursor.copy_expert("COPY (SELECT id FROM y ORDER BY id LIMIT 3) TO STDOUT", text)
print(text.getvalue())
with connection.cursor("named") as named:
    named.itersize = 500
    named.execute("SELECT id FROM y ORDER BY id")
    print(sum(row[0] for row in named))
connection.commit()
connection.autocommit = True
cursor.execute("LISTEN c")
cursor.execute("NOTIFY c, 'hello'")
connection.poll()
print([(n.channel, n.payload) for n in connection.notifies])
watcher = psycopg2.connect("")
watcher.autocommit = True


def cancel():
    with watcher.cursor() as ask:
        while True:
            ask.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'", (connection.get_backend_pid(),))
            if ask.fetchone():
                break
    connection.cancel()


thread = threading.Thread(target=cancel)
thread.start()
try:
    cursor.execute("SELECT pg_sleep(600)")
except psycopg2.Error as error:
    print(error.pgcode)
thread.join()
cursor.execute("SELECT 'still here'")
print(cursor.fetchone(), connection.get_transaction_status())
