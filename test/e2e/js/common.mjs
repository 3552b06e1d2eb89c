// Helpers of the scripts. Each prints lines of JSON, [step, result], for js_client_test.py to
// check.
import * as k8s from '@kubernetes/client-node';

export const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
export const namespace = process.argv[3];
export const core = config.makeApiClient(k8s.CoreV1Api);

export function print(step, result) {
  console.log(JSON.stringify([step, result ?? null]));
}

// Returns the answer to a call that must fail. The body is the text of a Status.
export async function failure(call) {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof k8s.ApiException)) throw error;
    const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    return { code: error.code, kind: status.kind, reason: status.reason, message: status.message };
  }
  throw new Error('should have failed');
}

// Returns a Service as this client's users write it: without kind and apiVersion.
export function service(name, labels = {}) {
  return {
    metadata: { name, labels },
    spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}
