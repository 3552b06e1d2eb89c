// Create, read, list, replace and delete through the generated and the generic API.
import * as k8s from '@kubernetes/client-node';
import { config, core, failure, namespace, print, service } from './common.mjs';

async function services() {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const made = await core.createNamespacedService({ namespace, body: service('web') });
  print('created', [made.metadata.name, made.metadata.namespace, made.spec.type,
    made.spec.ports[0].protocol, made.metadata.creationTimestamp instanceof Date]);

  const read = await core.readNamespacedService({ name: 'web', namespace });
  print('read', read.metadata.uid === made.metadata.uid);

  // Replacing what was read sends times with milliseconds.
  read.metadata.labels = { tier: 'front' };
  const replaced = await core.replaceNamespacedService({ name: 'web', namespace, body: read });
  print('replaced', [replaced.metadata.labels, replaced.metadata.uid === made.metadata.uid,
    replaced.metadata.creationTimestamp.getTime() === made.metadata.creationTimestamp.getTime(),
    Number(replaced.metadata.resourceVersion) > Number(made.metadata.resourceVersion)]);
  const same = await core.replaceNamespacedService({ name: 'web', namespace, body: replaced });
  print('replaced with the same',
    same.metadata.resourceVersion === replaced.metadata.resourceVersion);

  print('conflict', await failure(
    () => core.replaceNamespacedService({ name: 'web', namespace, body: { ...made } })));
  print('exists', await failure(
    () => core.createNamespacedService({ namespace, body: service('web') })));
  print('invalid', await failure(
    () => core.createNamespacedService({ namespace, body: service('Not_A_Name') })));
  print('no such namespace', await failure(
    () => core.createNamespacedService({ namespace: 'nowhere', body: service('web') })));

  await core.createNamespacedService({ namespace, body: service('dry'), dryRun: 'All' });
  print('after a dry run', (await failure(
    () => core.readNamespacedService({ name: 'dry', namespace }))).code);

  const deleted = await core.deleteNamespacedService({ name: 'web', namespace });
  print('deleted', deleted.metadata.name);
  print('gone', await failure(() => core.readNamespacedService({ name: 'web', namespace })));
}

async function lists() {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const body = service(name, { odd: String('ace'.includes(name)) });
    await core.createNamespacedService({ namespace, body });
  }
  const pages = [];
  let token;
  do {
    const page = await core.listNamespacedService({ namespace, limit: 2, _continue: token });
    pages.push(page.items.map((item) => item.metadata.name));
    token = page.metadata._continue;
  } while (token);
  print('pages', pages);
  const odd = await core.listNamespacedService({ namespace, labelSelector: 'odd=true' });
  print('by label', odd.items.map((item) => item.metadata.name));
  const one = await core.listServiceForAllNamespaces({ fieldSelector: 'metadata.name=d' });
  print('by field', one.items.map((item) => `${item.metadata.namespace}/${item.metadata.name}`));
  await core.deleteCollectionNamespacedService({ namespace, labelSelector: 'odd=true' });
  const rest = await core.listNamespacedService({ namespace });
  print('after deletecollection', rest.items.map((item) => item.metadata.name));
}

async function otherKinds() {
  const events = config.makeApiClient(k8s.EventsV1Api);
  const now = new k8s.V1MicroTime(1700000000123);
  await events.createNamespacedEvent({ namespace, body: {
    metadata: { name: 'started' }, type: 'Normal', eventTime: now, action: 'Start',
    reason: 'Started', reportingController: 'example.com/test', reportingInstance: 'one', note: 'up',
    regarding: { kind: 'Service', name: 'web', namespace, apiVersion: 'v1' } } });
  const seen = await core.readNamespacedEvent({ name: 'started', namespace });
  print('event in both groups', [seen.message, seen.involvedObject.name, seen.eventTime]);

  const leases = config.makeApiClient(k8s.CoordinationV1Api);
  const lease = await leases.createNamespacedLease({ namespace, body: {
    metadata: { name: 'leader' },
    spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: now } } });
  lease.spec.holderIdentity = 'two';
  const taken = await leases.replaceNamespacedLease({ name: 'leader', namespace, body: lease });
  print('lease', [taken.spec.holderIdentity, taken.spec.renewTime]);

  const version = await config.makeApiClient(k8s.VersionApi).getCode();
  print('version', version.major);
}

// Finds the paths by discovery.
async function anyKind() {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const spec = { apiVersion: 'v1', kind: 'Service', ...service('generic') };
  spec.metadata.namespace = namespace;
  const made = await objects.create(spec);
  made.metadata.annotations = { note: 'x' };
  const replaced = await objects.replace(made);
  const list = await objects.list('coordination.k8s.io/v1', 'Lease', namespace);
  await objects.delete(replaced);
  print('any kind', [replaced.metadata.annotations, list.items.map((item) => item.metadata.name),
    (await failure(() => objects.read(spec))).code]);
}

await services();
await lists();
await otherKinds();
await anyKind();
