// Every kind of patch that the client supports, conflicts of managers, and deletion with
// dependents.
import { setTimeout as sleep } from 'node:timers/promises';
import * as k8s from '@kubernetes/client-node';
import { config, core, failure, namespace, print, service } from './common.mjs';

const { PatchStrategy } = k8s;
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const as = (type) => k8s.setHeaderOptions('Content-Type', type);
const patch = (name, body, type, more = {}) =>
  core.patchNamespacedService({ name, namespace, body, ...more }, type && as(type));
const portsOf = (object) => object.spec.ports.map((port) => `${port.name}:${port.port}`);
const managersOf = (object) =>
  object.metadata.managedFields.map((entry) => `${entry.operation} ${entry.manager}`).sort();

async function kinds() {
  await core.createNamespacedService({ namespace, body: service('web', { a: '1' }) });
  // Without a content type this client sends a JSON patch.
  const json = await patch('web', [{ op: 'test', path: '/metadata/labels/a', value: '1' },
    { op: 'add', path: '/metadata/labels/b', value: '2' },
    { op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/c' }]);
  print('json patch', json.metadata.labels);
  print('a test that fails', await failure(
    () => patch('web', [{ op: 'test', path: '/metadata/labels/b', value: '3' }])));

  const tls = [{ name: 'tls', port: 443 }];
  const strategic = await patch('web', { spec: { ports: tls } }, PatchStrategy.StrategicMergePatch);
  print('strategic', portsOf(strategic).sort());
  const ordered = await patch('web', { spec: { ports: [{ $patch: 'delete', port: 443 },
    { name: 'dns', port: 53 }], '$setElementOrder/ports': [{ port: 53 }, { port: 80 }] } },
  PatchStrategy.StrategicMergePatch);
  print('directives', portsOf(ordered));
  const merged = await patch('web', { metadata: { labels: { c: null } }, spec: { ports: tls } },
    PatchStrategy.MergePatch);
  print('merge', [merged.metadata.labels, portsOf(merged)]);
  const same = await patch('web', { spec: { ports: tls } }, PatchStrategy.StrategicMergePatch);
  print('no change', same.metadata.resourceVersion === merged.metadata.resourceVersion);

  const { resourceVersion } = json.metadata;
  print('stale', await failure(() => patch('web', { metadata: { resourceVersion } },
    PatchStrategy.MergePatch)));
  print('missing', await failure(() => patch('none', {}, PatchStrategy.MergePatch)));
  print('invalid', (await failure(() => patch('web', { spec: { type: 'Wrong' } },
    PatchStrategy.MergePatch))).code);
  print('no patch', (await failure(() => patch('web', {}))).code);
  print('unknown type', (await failure(() => patch('web', {}, 'application/json'))).code);
  const dry = await patch('web', { metadata: { labels: { dry: 'yes' } } },
    PatchStrategy.MergePatch, { dryRun: 'All' });
  const kept = await core.readNamespacedService({ name: 'web', namespace });
  print('dry run', [dry.metadata.labels, kept.metadata.labels]);
}

async function status() {
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Up', message: '',
    lastTransitionTime: '2023-11-14T22:13:20Z' }];
  const patched = await core.patchNamespacedServiceStatus({ name: 'web', namespace,
    body: { status: { conditions }, spec: { type: 'NodePort' } } },
  as(PatchStrategy.StrategicMergePatch));
  const { lastTransitionTime } = patched.status.conditions[0];
  print('status', [patched.spec.type, patched.status.conditions[0].type,
    lastTransitionTime.toISOString()]);
  const read = await core.readNamespacedServiceStatus({ name: 'web', namespace });
  print('status kept', read.status.conditions.length);
}

// Returns the object that a manager applies, as the generic API takes it.
const wanted = (name, type) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace },
  spec: { type, ports: [{ name: 'http', port: 80 }] } });
const apply = (manager, object, force) => objects.patch(object, undefined, undefined, manager,
  force, PatchStrategy.ServerSideApply);

async function applied() {
  const made = await apply('one', wanted('applied', 'ClusterIP'));
  print('created by apply', [made.spec.type, managersOf(made)]);
  const again = await apply('one', wanted('applied', 'ClusterIP'));
  print('applied again', again.metadata.resourceVersion === made.metadata.resourceVersion);
  const shared = await apply('two', wanted('applied', 'ClusterIP'));
  print('shared', managersOf(shared));
  print('conflict', await failure(() => apply('two', wanted('applied', 'NodePort'))));
  const forced = await apply('two', wanted('applied', 'NodePort'), true);
  print('forced', [forced.spec.type, managersOf(forced)]);
  // The manager that lost gets a conflict when it applies again.
  print('conflict back', (await failure(() => apply('one', wanted('applied', 'ClusterIP')))).code);
  print('no manager', (await failure(() => apply(undefined, wanted('applied', 'NodePort')))).code);

  const labels = { team: 'blue' };
  const generic = await objects.patch({ ...wanted('applied'), metadata: { name: 'applied',
    namespace, labels }, spec: undefined });
  print('generic strategic', [generic.metadata.labels, generic.spec.type]);
  const typed = await patch('applied', { ...wanted('applied', 'NodePort'), metadata: {
    name: 'applied', labels: { team: 'red' } } }, PatchStrategy.ServerSideApply,
  { fieldManager: 'three', force: true });
  print('typed apply', [typed.metadata.labels, managersOf(typed)]);
}

async function gone(name) {
  for (;;) {
    const { items } = await core.listNamespacedService({ namespace });
    const found = items.find((item) => item.metadata.name === name);
    if (!found) return true;
    await sleep(20);
  }
}

// Deletes an owner and its dependents with each propagation policy.
async function dependents() {
  for (const propagationPolicy of ['Background', 'Foreground', 'Orphan']) {
    const name = propagationPolicy.toLowerCase();
    const owner = await core.createNamespacedService({ namespace, body: service(name) });
    const child = service(`${name}-child`);
    child.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name,
      uid: owner.metadata.uid, blockOwnerDeletion: true }];
    await core.createNamespacedService({ namespace, body: child });
    await core.deleteNamespacedService({ name, namespace, propagationPolicy });
    await gone(name);
    if (propagationPolicy === 'Orphan') {
      const left = await core.readNamespacedService({ name: child.metadata.name, namespace });
      print('orphaned', left.metadata.ownerReferences ?? []);
    } else {
      print(`deleted ${name}`, await gone(child.metadata.name));
    }
  }
  print('bad policy', (await failure(() => core.deleteNamespacedService(
    { name: 'web', namespace, propagationPolicy: 'Sideways' }))).code);
}

await core.createNamespace({ body: { metadata: { name: namespace } } });
await kinds();
await status();
await applied();
await dependents();
