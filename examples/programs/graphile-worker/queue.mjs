#!/usr/bin/env node
// graphile-worker: runOnce with a task that lockbench ends; its own statements get, complete and fail the jobs.
//
//   examples/programs/graphile-worker/install
//   lockbench verify -s examples/programs/graphile-worker/queue.mjs -d postgresql://...
//
// runOnce takes the next job as soon as a task has ended; a job that it took before lockbench asked waits for the
// next claim. A job of a worker that died stays locked for four hours.
//
// Called as keyed.mjs, an item's key is the name of its queue, of which the library runs one job at a time, and its
// unique key is its job_key, in mode unsafe_dedupe: a job that exists, also one that runs, is kept, and the new one is not
// added. --opt queue=no and --opt job_key=no leave them out.
import { createInterface } from 'node:readline'
import { EventEmitter } from 'node:events'
import { Logger, makeWorkerUtils, runOnce } from 'graphile-worker'
import pg from 'pg'

const taken = [] // jobs whose task waits, first come first
const ends = new Map() // by lockbench's number: how the task ends
const events = new EventEmitter()
const logger = new Logger(() => () => {})
const isKeyed = process.argv[1].endsWith('/keyed.mjs')
let pool, utils, running, wakeClaim, maxAttempts, opts

function work(payload, { job }) {
  return new Promise((resolve, reject) => {
    ends.set(payload.item, { id: job.id, resolve, reject })
    taken.push(payload.item)
    wakeClaim?.()
  })
}

// Ends the task, and waits until the library has written what became of the job.
async function end(item, how) {
  const { id, resolve, reject } = ends.get(item)
  ends.delete(item)
  const written = new Promise((done, failed) => {
    const over = ({ job, error }) => {
      if (job.id !== id) return
      events.off('job:complete', over).off('job:failed', lost)
      done(error)
    }
    const lost = () => {}
    running.catch(failed)
    events.on('job:complete', over)
  })
  how === 'ok' ? resolve() : reject(new Error('failed'))
  await written
  return {}
}

const operations = {
  async open({ target, options }) {
    maxAttempts = Number(options.attempts)
    opts = options
    pool = new pg.Pool({
      host: target.host || target.socket,
      port: target.port,
      user: target.user,
      password: target.password,
      database: target.database,
      max: 2,
    })
    pool.on('error', () => {})
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
    return { session: rows[0].pid }
  },
  async setup() {
    utils = await makeWorkerUtils({ pgPool: pool, logger })
    await utils.migrate()
    return {}
  },
  async teardown() {
    return {}
  },
  async put({ item, payload, key, unique_key }) {
    utils ??= await makeWorkerUtils({ pgPool: pool, logger })
    const spec = { maxAttempts }
    if (key !== undefined && opts.queue === 'yes') spec.queueName = key
    if (unique_key !== undefined && opts.job_key === 'yes') Object.assign(spec, { jobKey: unique_key, jobKeyMode: 'unsafe_dedupe' })
    const job = await utils.addJob('work', { item, payload }, spec)
    return job.payload.item === item ? {} : { refused: true }
  },
  async claim() {
    if (taken.length === 0) {
      const woken = new Promise((resolve) => (wakeClaim = resolve))
      running ??= runOnce({ pgPool: pool, taskList: { work }, events, logger, noHandleSignals: true }).finally(() => {
        running = undefined
      })
      await Promise.race([woken, running])
      wakeClaim = undefined
    }
    const item = taken.shift()
    return item === undefined ? { empty: true } : { items: [{ item }] }
  },
  complete: ({ item }) => end(item, 'ok'),
  retry: ({ item }) => end(item, 'failed').catch(() => ({})), // it is tried again later, while attempts are left
}

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
const keyed = { attributes: ['key', 'unique_key'], key_limit: 1, unique: 'until-done' }
say({
  hello: 1,
  strategy: isKeyed ? 'graphile-worker-keyed' : 'graphile-worker',
  version: '0.16.6',
  shape: 'queue',
  claims: ['no-duplicate', 'no-loss', 'owner-release', 'attempts', ...(isKeyed ? ['key-limit', 'unique'] : [])],
  engines: ['postgres'],
  options: { attempts: '1000', ...(isKeyed && { queue: 'yes', job_key: 'yes' }) },
  ...(isKeyed && keyed),
  attempts: 'attempts',
  operations: ['put', 'claim', 'complete', 'retry'],
})
for await (const text of createInterface({ input: process.stdin })) {
  const request = JSON.parse(text)
  if (request.do === 'close') process.exit(0)
  try {
    const answer = await operations[request.do](request)
    say({ id: request.id, ...(answer.empty || answer.refused ? {} : { ok: true }), ...answer })
  } catch (error) {
    say({ id: request.id, error: error.message, unknown: true })
  }
}
