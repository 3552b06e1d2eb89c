// A controller that copies the label `want` of a Service to the annotation `have`. It records the
// events that it receives and what it writes, and continues when the server restarts. Commands on
// standard input ask for its cache ("state") and its records ("report"), or stop it ("stop").
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as k8s from '@kubernetes/client-node';
import { config, core, namespace, print } from './common.mjs';

const WORKERS = 4;
const RETRY_MS = 50;
const path = `/api/v1/namespaces/${namespace}/services`;

const account = { events: [], lists: [], writes: [], reconciles: 0, retries: 0, disconnects: 0 };

// Counts below the informer, which hides repeated events.
class CountedWatch extends k8s.Watch {
  watch(where, query, callback, done) {
    return super.watch(where, query, (type, object, whole) => {
      const { uid, resourceVersion } = object.metadata ?? {};
      account.events.push([type, uid ?? `code ${object.code}`, Number(resourceVersion ?? 0)]);
      callback(type, object, whole);
    }, done);
  }
}

async function list() {
  const listed = await core.listNamespacedService({ namespace });
  account.lists.push({
    after: account.events.length,
    version: Number(listed.metadata.resourceVersion),
    items: listed.items.map(({ metadata }) => [metadata.uid, Number(metadata.resourceVersion)]),
  });
  return listed;
}

const informer = new k8s.ListWatch(path, new CountedWatch(config), list, false);

// Names to process. Each name is processed by one worker at a time, and again if it is added
// meanwhile.
const waiting = new Set();
const busy = new Set();
let sleepers = [];

function wake() {
  const woken = sleepers;
  sleepers = [];
  for (const resolve of woken) resolve();
}

function enqueue(name) {
  waiting.add(name);
  wake();
}

async function next() {
  for (;;) {
    for (const name of waiting) {
      if (busy.has(name)) continue;
      waiting.delete(name);
      busy.add(name);
      return name;
    }
    await new Promise((resolve) => { sleepers.push(resolve); });
  }
}

const wantOf = (service) => service.metadata.labels?.want;
const haveOf = (service) => service.metadata.annotations?.have;

// All ways to write it, one after the other.
const patches = [
  [k8s.PatchStrategy.MergePatch, (have) => ({ metadata: { annotations: { have } } })],
  [k8s.PatchStrategy.StrategicMergePatch, (have) => ({ metadata: { annotations: { have } } })],
  [k8s.PatchStrategy.ServerSideApply, (have, { metadata: { name, uid } }) => ({
    apiVersion: 'v1', kind: 'Service', metadata: { name, uid, annotations: { have } } })],
];

async function reconcile(name) {
  const service = informer.get(name, namespace);
  if (!service || wantOf(service) === haveOf(service)) return;
  const [type, body] = patches[account.reconciles % patches.length];
  account.reconciles += 1;
  const force = type === k8s.PatchStrategy.ServerSideApply ? true : undefined;
  const { metadata } = await core.patchNamespacedService(
    { name, namespace, body: body(wantOf(service), service), fieldManager: 'controller', force },
    k8s.setHeaderOptions('Content-Type', type));
  account.writes.push([metadata.uid, Number(metadata.resourceVersion)]);
}

async function work() {
  for (;;) {
    const name = await next();
    try {
      await reconcile(name);
    } catch (error) {
      // The Service was deleted or created again: the watch says so, or has said so.
      if (error.code !== 404 && error.code !== 409) {
        account.retries += 1;
        sleep(RETRY_MS).then(() => enqueue(name));
      }
    }
    busy.delete(name);
    wake();
  }
}

informer.on('change', (service) => enqueue(service.metadata.name));
informer.on('error', async () => {
  account.disconnects += 1;
  await sleep(RETRY_MS);
  await informer.start();
});
await informer.start();
for (let worker = 0; worker < WORKERS; worker += 1) work();
print('started');
for await (const line of createInterface(process.stdin)) {
  if (line === 'report') print('report', account);
  if (line === 'state') {
    const cache = informer.list().map(({ metadata }) => [metadata.name, metadata.uid,
      Number(metadata.resourceVersion)]);
    print('state', { cache, idle: waiting.size + busy.size === 0 });
  }
  if (line === 'stop') break;
}
process.exit(0);
