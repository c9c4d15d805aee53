// node-postgres: parameters, named statements, errors, a pool, notifications. From the node_modules in NODE_PG.
import { createRequire } from 'node:module'

const pg = createRequire(process.env.NODE_PG + '/')('pg')
const say = (...values) => console.log(JSON.stringify(values))
const client = new pg.Client({ connectionString: process.env.LB_URI })
await client.connect()
await client.query('DROP TABLE IF EXISTS n; CREATE TABLE n (id int, what jsonb)')
for (let i = 0; i < 3; i++) await client.query({ name: 'put', text: 'INSERT INTO n VALUES ($1, $2)', values: [i, { i }] })
say((await client.query('SELECT * FROM n ORDER BY id')).rows)
say((await client.query({ text: 'SELECT id, what FROM n WHERE id = $1', values: [1], rowMode: 'array' })).rows)
try {
  await client.query('SELECT 1 / $1::int', [0])
} catch (error) {
  say(error.code)
}
const told = new Promise((resolve) => client.on('notification', (n) => resolve([n.channel, n.payload])))
await client.query('LISTEN road')
await client.query("NOTIFY road, 'open'")
say(await told)
const pool = new pg.Pool({ connectionString: process.env.LB_URI, max: 5 })
const answers = await Promise.all([...Array(20).keys()].map((i) => pool.query('SELECT $1::int * 2 AS x', [i])))
say(answers.map((a) => a.rows[0].x))
say((await client.query("SELECT length(repeat('x', 1000000)) AS n, $1::text AS t", ['y'.repeat(200000)])).rows[0].t.length)
await pool.end()
await client.end()
