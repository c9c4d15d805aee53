#!/usr/bin/python3
"""asyncpg: everything in binary, prepared statements by name, executemany as a pipeline, cursors, COPY, notifications,
a statement that is given up, which it carries out by a CancelRequest."""
import asyncio
import datetime
import io
import os

import asyncpg


async def main():
    pg = await asyncpg.connect(os.environ["LB_URI"])
    await pg.execute("DROP TABLE IF EXISTS a; CREATE TABLE a (id int, at date, f float8, names text[])")
    await pg.executemany("INSERT INTO a VALUES ($1, $2, $3, $4)",
                         [(i, datetime.date(2020, 1, 1), i / 2, ["x", "y'z"]) for i in range(500)])
    print(await pg.fetchrow("SELECT count(*), max(f), min(at) FROM a"))
    print([tuple(row) for row in await pg.fetch("SELECT * FROM a WHERE id < $1 ORDER BY id", 2)])
    statement = await pg.prepare("SELECT id FROM a WHERE id = $1")
    print([await statement.fetchval(i) for i in (1, 2, 499, 500)])
    try:
        await pg.fetch("SELECT 1 / $1::int", 0)
    except asyncpg.PostgresError as error:
        print(error.sqlstate)
    async with pg.transaction():
        print(len([row async for row in pg.cursor("SELECT id FROM a", prefetch=50)]))
    print(await pg.copy_to_table("a", source=io.BytesIO(b"1000\t2020-01-02\t1\t{}\n" * 5000)))
    out = io.BytesIO()
    print(await pg.copy_from_query("SELECT id FROM a ORDER BY id LIMIT 3", output=out), out.getvalue())
    told = asyncio.get_running_loop().create_future()
    await pg.add_listener("door", lambda c, pid, channel, payload: told.set_result((channel, payload)))
    await pg.execute("NOTIFY door, 'open'")
    print(await told)
    watcher = await asyncpg.connect(os.environ["LB_URI"])
    sleeper = asyncio.ensure_future(pg.fetch("SELECT pg_sleep(600)"))
    while not await watcher.fetch("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", pg.get_server_pid()):
        await asyncio.sleep(0)
    sleeper.cancel()
    try:
        await sleeper
    except asyncio.CancelledError:
        print("cancelled")
    await watcher.close()
    print(await pg.fetchval("SELECT 'still here'"), pg.is_in_transaction())
    await pg.close()

asyncio.run(main())
