#!/usr/bin/env node
// pg-boss as most programs use it: work(), whose handler is called with each job. The program pushes.
//
//   examples/programs/pg-boss/install
//   lockbench verify -s examples/programs/pg-boss/work.mjs -d postgresql://...
//
// work() asks for a job twice a second, and completes it, or fails it, once its handler has ended. The statements go
// through a database object of ours, which pg-boss allows, so that it is seen when that is written.
import { createInterface } from 'node:readline'
import PgBoss from 'pg-boss'
import pg from 'pg'

const QUEUE = 'work'
let boss, pool, expireInSeconds, inHand

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')

function handle([job]) {
  if (inHand) throw new Error('busy') // one that outlived its expiry is still at work: the job is tried again
  return new Promise((resolve, reject) => {
    inHand = { id: job.id, resolve, reject }
    say({ event: 'claimed', item: job.data.item })
  })
}

// Sees what is written of the job in hand: what became of it; or, before its end, that it has expired.
async function executeSql(text, values) {
  const job = inHand && JSON.stringify(values ?? []).includes(inHand.id) ? inHand : undefined
  if (job && !job.written) job.isLost = true
  try {
    const result = await pool.query(text, values)
    job?.written?.resolve(Number(result.rows[0]?.count ?? result.rowCount))
    return result
  } catch (error) {
    job?.written?.reject(error)
    throw error
  }
}

async function end(how) {
  const job = inHand
  const changed = job.isLost ? 0 : new Promise((resolve, reject) => (job.written = { resolve, reject }))
  how === 'ok' ? job.resolve() : job.reject(new Error('failed'))
  const isDone = (await changed) > 0
  inHand = undefined
  return isDone ? {} : { refused: true }
}

const operations = {
  async open({ target, options }) {
    pool = new pg.Pool({
      host: target.host || target.socket,
      port: target.port,
      user: target.user,
      password: target.password,
      database: target.database,
      max: 1,
    })
    pool.on('error', () => {})
    boss = new PgBoss({ db: { executeSql }, supervise: false, schedule: false })
    boss.on('error', () => {})
    expireInSeconds = options.ttl_ms / 1000
    return {}
  },
  async setup() {
    await boss.start()
    await boss.createQueue(QUEUE, { name: QUEUE, retryLimit: 1000, expireInSeconds })
    return {}
  },
  async teardown() {
    return {}
  },
  async put({ item, payload }) {
    await boss.send(QUEUE, { item, payload }, { expireInSeconds, retryLimit: 1000 })
    return {}
  },
  async work() {
    await boss.work(QUEUE, { batchSize: 1, pollingIntervalSeconds: 0.5 }, handle)
    return {}
  },
  complete: () => end('ok'),
  error: () => end('failed'),
}

say({
  hello: 1,
  strategy: 'pg-boss-work',
  version: '10.1.5',
  shape: 'queue',
  mode: 'push',
  lease_unit_ms: 1000,
  claims: ['no-duplicate', 'no-loss', 'owner-release'],
  engines: ['postgres'],
  operations: ['put', 'claim', 'complete'],
})
let isStarted = false
for await (const text of createInterface({ input: process.stdin })) {
  const request = JSON.parse(text)
  if (request.do === 'close') process.exit(0)
  try {
    if (!isStarted && request.do !== 'open' && request.do !== 'setup') await boss.start()
    isStarted ||= request.do !== 'open'
    const answer = await operations[request.do](request)
    say({ id: request.id, ...(answer.refused ? {} : { ok: true }), ...answer })
  } catch (error) {
    say({ id: request.id, error: error.message, unknown: true })
  }
}
