// A watch that ends by itself, then an informer that reconnects on a command from standard input.
import { createInterface } from 'node:readline';
import * as k8s from '@kubernetes/client-node';
import { config, core, namespace, print, service } from './common.mjs';

const path = `/api/v1/namespaces/${namespace}/services`;

async function watch() {
  const list = await core.listNamespacedService({ namespace });
  const seen = [];
  let finish;
  const done = new Promise((resolve) => { finish = resolve; });
  const query = { resourceVersion: list.metadata.resourceVersion, timeoutSeconds: 2 };
  await new k8s.Watch(config).watch(path, query,
    (type, object) => seen.push(`${type} ${object.kind} ${object.metadata.name}`), finish);
  const made = await core.createNamespacedService({ namespace, body: service('seen') });
  made.metadata.labels = { changed: 'yes' };
  await core.replaceNamespacedService({ name: 'seen', namespace, body: made });
  await core.deleteNamespacedService({ name: 'seen', namespace });
  print('watch ended', await done);
  print('watched', seen);
}

async function informer() {
  const informer = k8s.makeInformer(config, path, () => core.listNamespacedService({ namespace }));
  for (const verb of ['add', 'update', 'delete']) {
    informer.on(verb, (object) => print(verb, object.metadata.name));
  }
  // The caller makes its changes while the informer is disconnected, and then sends "start".
  informer.on('error', (error) => print('disconnected', error.code ?? error.message));
  for await (const line of createInterface(process.stdin)) {
    if (line === 'start') await informer.start();
    const names = informer.list().map((object) => object.metadata.name).sort();
    if (line === 'list') print('cache', names);
    if (line === 'stop') break;
  }
  await informer.stop();
}

await watch();
await informer();
process.exit(0);
