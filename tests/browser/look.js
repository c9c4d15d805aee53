// Looks at a page as people do: `node look.js CHROMIUM PROFILE PAGE VIEW[,VIEW...] [AXE.js]`.
//
// Speaks the DevTools protocol to a headless Chromium over a pipe. In each of several views (a phone, a
// tablet, a desktop, dark, paper, forced colours) it asks axe-core what is not accessible, and measures
// which texts lie on each other, which are cut off, and whether the page is wider than its window. Then
// it goes through the page with the Tab key alone. Prints one JSON document. Waits for events, never for
// a time; ten minutes without any answer end it with status 1.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');
const [chromium, profile, page, wanted, axe] = process.argv.slice(2);

const browser = spawn(chromium, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars',
  '--remote-debugging-pipe', '--user-data-dir=' + profile], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const toBrowser = browser.stdio[3], fromBrowser = browser.stdio[4];

let last = 0, rest = '', watch = null, events = [];
const waiting = new Map();
function alive() {
  clearTimeout(watch);
  watch = setTimeout(() => { console.error('no answer from the browser'); browser.kill('SIGKILL'); process.exit(1); }, 600000);
}
fromBrowser.on('data', (data) => {
  alive();
  const parts = (rest + data).split('\0');
  rest = parts.pop();
  for (const part of parts) {
    const message = JSON.parse(part);
    if (message.id && waiting.has(message.id)) {
      const { resolve, reject } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message)); else resolve(message.result);
    } else if (message.method) {
      events = events.filter((e) => e.name !== message.method || (e.resolve(message.params), false));
    }
  }
});
let session;
function send(method, params) {
  return new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    toBrowser.write(JSON.stringify({ id: last, method, params: params || {}, sessionId: session }) + '\0');
  });
}
const event = (name) => new Promise((resolve) => events.push({ name, resolve }));
async function evaluate(expression) {
  const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception ? exceptionDetails.exception.description : exceptionDetails.text);
  return result.value;
}

// Runs in the page. Texts are boxes of their lines: of HTML the leaves' text nodes, of SVG each <text>.
function measure() {
  const boxes = [], seen = (node) => { const s = getComputedStyle(node); return s.visibility !== 'hidden' && s.display !== 'none'; };
  const walker = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
  const groupOf = (node) => node.closest('svg');
  for (let node; (node = walker.nextNode());) {
    const parent = node.parentElement;
    if (!node.data.trim() || !seen(parent) || parent.closest('title, script, style, option, details:not([open]) > :not(summary), .picker')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects())
      if (r.width > 1 && r.height > 1) boxes.push({ text: node.data.trim().slice(0, 60), parent, svg: groupOf(parent), x: r.left + scrollX, y: r.top + scrollY, w: r.width, h: r.height });
  }
  const overlaps = [], outside = [];
  const sorted = boxes.slice().sort((a, b) => a.y - b.y);
  sorted.forEach((a, i) => {
    for (let k = i + 1; k < sorted.length && sorted[k].y < a.y + a.h; k++) {
      const b = sorted[k], w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x), h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
      const scrolled = a.parent.closest('.wide') && a.parent.closest('.wide') === b.parent.closest('.wide') && matchMedia('(max-width: 40rem)').matches; // its first column stays
      if (w > 2 && h > 3 && a.parent !== b.parent && !scrolled) overlaps.push(a.text + ' | ' + b.text);
    }
  });
  const width = document.documentElement.clientWidth;
  boxes.forEach((b) => { if (!b.parent.closest('.wide, .command, code') && (b.x < -1 || b.x + b.w > width + 1)) outside.push(b.text); });
  const named = [...document.querySelectorAll('table')].filter((t) => !t.caption && !t.getAttribute('aria-label')).length;
  return { texts: boxes.length, overlaps, outside, unnamed_tables: named, mains: document.querySelectorAll('main').length,
           scroll: document.documentElement.scrollWidth - width };
}

const views = [
  { name: 'phone', width: 360 }, { name: 'tablet', width: 768 }, { name: 'desktop', width: 1280 },
  { name: 'dark', width: 1280, features: [{ name: 'prefers-color-scheme', value: 'dark' }] },
  { name: 'forced colours', width: 1280, features: [{ name: 'forced-colors', value: 'active' }] },
  { name: 'print', width: 720, media: 'print' },
];

async function look(view) {
  await send('Emulation.setDeviceMetricsOverride', { width: view.width, height: 900, deviceScaleFactor: 1, mobile: false });
  await send('Emulation.setEmulatedMedia', { media: view.media || '', features: view.features || [] });
  const loaded = event('Page.loadEventFired');
  await send('Page.navigate', { url: 'file://' + page });
  await loaded;
  if (await evaluate('document.documentElement.getAttribute("data-drawn")') !== 'yes') throw new Error('the page is not drawn');
  const measured = await evaluate('(' + measure + ')()');
  let found = null;
  if (axe && !view.plain) {
    await evaluate(fs.readFileSync(axe, 'utf8') + '; 1');
    found = await evaluate(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) =>
      ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 160)) })))`);
  }
  return Object.assign({ name: view.name, axe: found }, measured);
}

// Tab from the top to the end: what gets the focus, whether it shows, and whether all that can be pressed is reached.
async function keyboard() {
  await send('Emulation.setEmulatedMedia', { media: '', features: [] });
  const count = await evaluate(`document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]').length`);
  await evaluate('document.activeElement.blur(); window.scrollTo(0, 0); window.reached = new Set(); window.unseen = []; 1');
  for (let i = 0; i < count + 5; i++) {
    for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 });
    await evaluate(`{ const e = document.activeElement; if (e && e !== document.body) { window.reached.add(e);
      const s = getComputedStyle(e); if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) === 0) window.unseen.push(e.outerHTML.slice(0, 120)); } 1 }`);
  }
  const state = await evaluate(`({ reached: window.reached.size, unseen: window.unseen,
    missed: [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
      .filter((e) => !window.reached.has(e) && e.getClientRects().length && !e.closest('details:not([open]) > :not(summary)')).map((e) => e.outerHTML.slice(0, 120)) })`);
  // A violation is opened with Enter, without a mouse.
  const opened = await evaluate(`{ const b = document.querySelector('#verdicts button[aria-expanded]'); if (b) b.focus(); !!b }`);
  if (opened) for (const type of ['rawKeyDown', 'char', 'keyUp'])
    await send('Input.dispatchKeyEvent', { type, key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: type === 'char' ? '\r' : undefined });
  state.opened = opened ? await evaluate(`document.querySelectorAll('tr.witness').length`) : null;
  return state;
}

async function main() {
  alive();
  const { targetInfos } = await send('Target.getTargets');
  const { sessionId } = await send('Target.attachToTarget', { targetId: targetInfos.find((t) => t.type === 'page').targetId, flatten: true });
  session = sessionId;
  await send('Page.enable');
  await send('Page.setBypassCSP', { enabled: true }); // axe-core is brought by us, not by the page
  const result = { views: [] };
  for (const view of views.filter((v) => wanted.split(',').includes(v.name))) result.views.push(await look(view));
  await look({ name: 'keys', width: 1280, plain: true });
  result.keyboard = await keyboard();
  const paper = await send('Page.printToPDF', { preferCSSPageSize: true, printBackground: true });
  result.pages = (Buffer.from(paper.data, 'base64').toString('latin1').match(/\/Type\s*\/Page\b/g) || []).length;
  console.log(JSON.stringify(result));
  session = undefined;
  clearTimeout(watch);
  browser.kill('SIGKILL');
}
browser.on('exit', () => process.exit(process.exitCode || 0));
main().catch((error) => { console.error(error.message); process.exitCode = 1; browser.kill('SIGKILL'); });
